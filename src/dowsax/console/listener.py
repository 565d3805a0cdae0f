"""The socket on which the console listens, or what is wrong with its address or its port."""

import errno
import socket


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address of this machine, or at the one that a name leads to.

    A ValueError in one line says whether the address or the port is wrong, and what to give instead.
    """
    family, address = _address(host, port)
    listener = None
    try:
        # By its name: only then does asyncio send the parts of an answer at once, and not 40 ms later.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        # Clients that come before the application is ready wait.
        listener.listen()
    except OSError as error:
        if listener is not None:
            listener.close()
        raise ValueError(_fault(host, port, family, error)) from None
    return listener


def _address(host: str, port: int) -> tuple[socket.AddressFamily, tuple]:
    """The family and the address of a host; of a name that leads to several, one of IPv4 if there is any."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError):
        raise ValueError(
            f"{host!r} leads to no address: give one of this machine as --host, such as 127.0.0.1, and the "
            "port as --port."
        ) from None
    family, _, _, _, address = min(found, key=lambda item: item[0] != socket.AF_INET)
    return family, address


def _fault(host: str, port: int, family: socket.AddressFamily, error: OSError) -> str:
    version = "IPv6" if family == socket.AF_INET6 else "IPv4"
    words = {
        errno.EADDRNOTAVAIL: f"{host} is not an address of this machine: give one of its own as --host, "
        "127.0.0.1 for this machine alone, or 0.0.0.0 for all of its addresses.",
        errno.EADDRINUSE: f"Port {port} is in use on {host}: give another --port, or 0 for any that is free.",
        errno.EACCES: f"Port {port} on {host} is not allowed for this user: give a --port from 1024 on.",
        errno.EAFNOSUPPORT: f"{host} cannot be used: this machine has no {version}; give another --host.",
    }
    other = f"Cannot listen on {host}, port {port} ({error.strerror}): try another --port."
    return words.get(error.errno or 0, other)
