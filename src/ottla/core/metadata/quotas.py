"""The quotas of clients, by whom they are for."""

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from ottla.api.metadata_records import ClientQuotaRecord

Entity: TypeAlias = tuple[tuple[str, str | None], ...]
"""Whom a quota is for: names by type (user, client-id, ip), sorted; None is the default's name."""


def entity_of(pairs: Iterator[tuple[str, str | None]]) -> Entity:
    """An entity of the pairs of a record or a request; of two for one type the last counts."""
    return tuple(sorted(dict(pairs).items(), key=lambda pair: pair[0]))


class Quotas:
    """What is set, by entity and key; an entity without any is not there."""

    __slots__ = ("before", "by_entity")

    def __init__(self) -> None:
        self.by_entity: Final[dict[Entity, dict[str, float]]] = {}
        self.before: dict[Entity, Mapping[str, float]] = {}

    def copy(self) -> "Quotas":
        """The same, to be changed by itself."""
        made = Quotas()
        made.by_entity.update((key, values.copy()) for key, values in self.by_entity.items())
        return made

    def replay(self, record: ClientQuotaRecord) -> None:
        """Set a quota, or remove it."""
        entity = entity_of((one.entity_type, one.entity_name) for one in record.entity)
        present = self.by_entity.get(entity, {})
        self.before.setdefault(entity, present.copy())
        if not record.remove:
            present[record.key] = record.value
            self.by_entity[entity] = present
        elif present.pop(record.key, None) is not None and not present:
            del self.by_entity[entity]

    def records(self) -> Iterator[ClientQuotaRecord]:
        """What a snapshot says of them."""
        told = ClientQuotaRecord
        for entity in sorted(self.by_entity, key=lambda one: [(k, v or "") for k, v in one]):
            for key, value in sorted(self.by_entity[entity].items()):
                whose = [told.Entity(entity_type=kind, entity_name=name) for kind, name in entity]
                yield told(entity=whose, key=key, value=value, remove=False)
