"""The socket on which the console listens."""

import asyncio
import socket

from dowsax.console.listener import listen


async def is_sent_at_once(listener):
    """Whether the system holds nothing back on a connection to this socket, as asyncio serves it."""
    found = asyncio.get_running_loop().create_future()

    async def served(reader, writer):
        made = writer.get_extra_info("socket")
        found.set_result(made.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    async with await asyncio.start_server(served, sock=listener):
        _, writer = await asyncio.open_connection(*listener.getsockname())
        try:
            return await found
        finally:
            writer.close()


def test_the_parts_of_an_answer_do_not_wait_for_each_other():
    """By default the body would come 40 ms after the head."""
    with listen("127.0.0.1", 0) as listener:
        assert asyncio.run(is_sent_at_once(listener))
