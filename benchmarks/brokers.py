"""A real MQTT broker in a process of its own: mosquitto where it is installed, else amqtt."""

import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MOSQUITTO = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")
_AMQTT = """
import asyncio, sys
from amqtt.broker import Broker

async def main(port):
    plugins = {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}}
    listeners = {"default": {"type": "tcp", "bind": f"127.0.0.1:{port}"}}
    await Broker({"listeners": listeners, "plugins": plugins}).start()
    await asyncio.Event().wait()

asyncio.run(main(sys.argv[1]))
"""


def free_port() -> int:
    """A port of this machine that nobody listens to."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def broker_at(port: int) -> Iterator[None]:
    """A broker of our own at this port, which keeps nothing when it ends."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "mosquitto.conf"
        settings.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\n")
        amqtt = [sys.executable, "-c", _AMQTT, str(port)]
        words = amqtt if MOSQUITTO is None else [MOSQUITTO, "-c", str(settings)]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            _wait_for(port)
            yield
        finally:
            process.terminate()
            process.wait()


def _wait_for(port: int) -> None:
    for _ in range(400):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("The broker did not start within 20 s.")
