"""A real broker inside a test: `with Broker() as broker:`, faults on demand, a clock to turn.

Nothing is loaded before `Broker` is asked for, so that the pytest plugin costs suites nothing that
do not use it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ottla.testing.broker import Broker, BrokerFailed
    from ottla.testing.faults import Fired

__all__ = ["Broker", "BrokerFailed", "Fired"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "Fired":
        from ottla.testing import faults  # noqa: PLC0415  Loaded when it is asked for.

        return faults.Fired
    from ottla.testing import broker  # noqa: PLC0415  Loaded when it is asked for.

    return getattr(broker, name)
