"""The messages and internal records that Ottla declares, and Kafka's names of them."""

import importlib
import pkgutil
from functools import cache
from itertools import chain
from typing import Final

import ottla.api
import ottla.wire
from ottla.wire.fields import Message

OTHER_NAMES: Final = {
    "ControlRecordTypeSchema": "ControlRecordType",
    "DefaultPrincipalData": "DefaultPrincipal",
    # The name in 3.9, when there was one kind of resource.
    "ListClientMetricsResourcesRequest": "ListConfigResourcesRequest",
    "ListClientMetricsResourcesResponse": "ListConfigResourcesResponse",
}
"""Kafka's names of schemas that have another name here."""


def of_schema(name: str) -> type[Message] | None:
    """What we declare for one of Kafka's schemas, if we do."""
    return declared().get(OTHER_NAMES.get(name, name))


@cache
def declared() -> dict[str, type[Message]]:
    """Every class that stands alone, from the packages that declare any."""
    found: dict[str, type[Message]] = {}
    packages = ottla.api, ottla.wire
    modules = [pkgutil.iter_modules(one.__path__, f"{one.__name__}.") for one in packages]
    for module in chain.from_iterable(modules):
        for value in vars(importlib.import_module(module.name)).values():
            if _is_declared_in(value, module.name):
                assert value.__name__ not in found, f"{value.__name__} is declared twice"
                found[value.__name__] = value
    return found


def _is_declared_in(value: object, module: str) -> bool:
    return (
        isinstance(value, type)
        and issubclass(value, Message)
        and value is not Message
        and value.__module__ == module
    )
