"""A real MQTT broker for tests, where mosquitto is installed."""

import shutil
import socket
import subprocess
import time
from contextlib import contextmanager

import pytest


def free_port() -> int:
    """A port of this machine that nobody listens to; skipped where there is no client for MQTT."""
    pytest.importorskip("aiomqtt", reason="aiomqtt is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def mosquitto(port):
    """A broker of our own at this port, which keeps nothing when it ends."""
    program = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")
    if program is None:
        pytest.skip("mosquitto is not installed")
    process = subprocess.Popen(
        [program, "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    try:
        yield
    finally:
        process.terminate()
        process.wait()
