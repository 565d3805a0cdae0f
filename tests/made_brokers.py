"""A real MQTT broker for tests, and a mark for those that need one which keeps readings."""

import pytest

from benchmarks.brokers import MOSQUITTO, broker_at, free_port

__all__ = ["broker_at", "free_port", "keeps_readings"]
keeps_readings = pytest.mark.skipif(
    MOSQUITTO is None, reason="mosquitto is not installed, and amqtt does not keep readings as MQTT says"
)
