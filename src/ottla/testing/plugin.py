"""The pytest plugin: a broker as a fixture, and the faults that it made in reports of failures.

pytest loads this in every suite of an environment, so it imports nothing of Ottla until a test
asks for a fixture.
"""

from collections.abc import Generator, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ottla.testing.broker import Broker


@pytest.fixture(scope="session")
def ottla_broker_session() -> "Iterator[Broker]":
    """One broker for all tests of a process; what one test leaves in it the next one sees."""
    from ottla.testing.broker import Broker  # noqa: PLC0415  Only those pay that use it.

    with Broker() as broker:
        yield broker


@pytest.fixture
def ottla_broker(ottla_broker_session: "Broker") -> "Iterator[Broker]":
    """A broker that is empty: the one of the session, which forgets everything after each test."""
    from ottla.testing.broker import BrokerFailed  # noqa: PLC0415  It is loaded by now.

    broker = ottla_broker_session
    if not broker.is_running:
        broker.start()
    yield broker
    try:
        broker.reset()
    except BrokerFailed:
        # This test is told so, and the next one gets a new broker.
        with suppress(BrokerFailed):
            broker.stop()
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show with a test that failed which faults were met."""
    report = yield
    if report.failed:
        for text in _reports(item):
            report.sections.append(("faults of the broker", text))
    return report


def _reports(item: pytest.Item) -> list[str]:
    """What the fixtures of a test have to say, if it used one at all."""
    if not isinstance(item, pytest.Function):
        return []
    brokers = [item.funcargs.get(name) for name in ("ottla_broker", "ottla_broker_session")]
    if not any(brokers):
        return []
    from ottla.testing.broker import Broker  # noqa: PLC0415  It is loaded by now.

    used = {id(one): one for one in brokers if isinstance(one, Broker)}
    return [report for one in used.values() if (report := one.faults.report())]
