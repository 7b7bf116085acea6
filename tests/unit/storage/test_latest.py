"""The record with the largest time, as Kafka finds it."""

from ottla.storage.time_index import TimestampOffset
from tests.unit.storage.log_directories import formatted
from tests.unit.storage.node_logs import T, append, create, orders, started


def test_it_may_lie_before_the_start_of_the_log() -> None:
    log = create(started(formatted()), orders(0))
    assert log.log.find_latest() is None
    append(log, 3)
    log.log.move_log_start(4)
    assert log.log.find_latest() == TimestampOffset(T + 5, 5)
    log.log.move_log_start(6)
    assert log.log.find_latest() == TimestampOffset(T + 5, 5)
    assert log.log.find_timestamp(T) is None
