"""What is set for topics, brokers, groups and other resources."""

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Final, NamedTuple

from ottla.api.metadata_records import ConfigRecord


class ResourceType(IntEnum):
    """What settings can be for, by its number on the wire."""

    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class Resource(NamedTuple):
    """What some settings are for; the broker without a name is all of them."""

    type: int
    name: str


WHOLE_CLUSTER: Final = Resource(ResourceType.BROKER, "")


class Configs:
    """The texts that are set, by resource and name; a resource without any is not there."""

    __slots__ = ("before", "by_resource")

    def __init__(self) -> None:
        self.by_resource: Final[dict[Resource, dict[str, str]]] = {}
        self.before: dict[Resource, Mapping[str, str]] = {}

    def of(self, resource_type: int, name: str) -> Mapping[str, str]:
        """What is set for a resource."""
        return self.by_resource.get(Resource(resource_type, name), {})

    def copy(self) -> "Configs":
        """The same, to be changed by itself."""
        made = Configs()
        made.by_resource.update((key, texts.copy()) for key, texts in self.by_resource.items())
        return made

    def replay(self, record: ConfigRecord) -> None:
        """Set a text, or remove it."""
        resource = Resource(record.resource_type, record.resource_name)
        present = self.by_resource.get(resource, {})
        self.before.setdefault(resource, present.copy())
        if record.value is not None:
            present[record.name] = record.value
            self.by_resource[resource] = present
        elif present.pop(record.name, None) is not None and not present:
            del self.by_resource[resource]

    def forget_topic(self, name: str) -> None:
        """A topic is gone, and what was set for it with it."""
        resource = Resource(ResourceType.TOPIC, name)
        present = self.by_resource.pop(resource, None)
        if present is not None:
            self.before.setdefault(resource, present)

    def records(self) -> Iterator[ConfigRecord]:
        """What a snapshot says of them."""
        for (kind, name), texts in sorted(self.by_resource.items()):
            for key, text in sorted(texts.items()):
                yield ConfigRecord(resource_type=kind, resource_name=name, name=key, value=text)
