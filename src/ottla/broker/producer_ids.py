"""Ids for producers that have no transactions: each is given out once."""


class ProducerIds:
    """What is left of the ids that this node may give out."""

    __slots__ = ("_next",)

    def __init__(self, first: int = 0) -> None:
        self._next = first

    def draw(self) -> int:
        """A new id."""
        given = self._next
        self._next += 1
        return given

    def pass_over(self, producer_id: int) -> None:
        """Give out only what is larger than an id that was seen in a log."""
        self._next = max(self._next, producer_id + 1)
