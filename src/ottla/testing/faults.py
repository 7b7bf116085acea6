"""Faults that a test scripts: which requests are met, how often, and what becomes of them.

A broker that has none does not know of them: handlers are wrapped only for APIs that a rule names,
and only while there is one. A rule counts the requests that it matches, so the same requests meet
the same faults. Of several rules that a request matches, the first that is due is applied.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Self, TypeAlias

from ottla.api.apis import APIS
from ottla.broker.connections import Request
from ottla.broker.dispatch import Handle, Route
from ottla.broker.node import Node
from ottla.errors import ErrorCode
from ottla.testing import outcomes
from ottla.testing.targets import Target, targets_of
from ottla.wire.fields import Message

Outcome: TypeAlias = Callable[[outcomes.Met], Message | None]

_NAMES: Final = {api.name for api in APIS.values()}


class Fired(NamedTuple):
    """One request that met a fault."""

    api: str
    version: int
    client_id: str | None
    targets: tuple[Target, ...]
    """Those partitions that the rule is about; empty if it is about the whole request."""
    outcome: str

    def __str__(self) -> str:
        about = " ".join(map(str, self.targets))
        return " ".join(filter(None, [f"{self.api} v{self.version}", about, self.outcome]))


class Rule:
    """What happens to some requests; it does so as soon as its outcome is said."""

    def __init__(self, api: str, target: Target, changed: Callable[[], None]) -> None:
        """Made by `Faults.on`."""
        self.api = api
        self._target = target
        self._changed = changed
        self._first = 1
        self._count: int | None = None
        self._seen = 0
        self.outcome: Outcome | None = None
        self.says = ""

    def error(self, name: str) -> Self:
        """Answer with an error, by its name in Kafka's protocol, and do nothing else."""
        if name not in ErrorCode.__members__ or name == ErrorCode.NONE.name:
            raise ValueError(f"{name!r} is no error of Kafka's protocol")
        return self._set(outcomes.Error(ErrorCode[name]), name)

    def delay(self, *, ms: int) -> Self:
        """Begin with it only later, by the broker's clock; the connection's others wait as well."""
        if ms < 0:
            raise ValueError("a delay is not negative")
        return self._set(outcomes.Delay(ms), f"delayed by {ms} ms")

    def drop(self) -> Self:
        """Lose the request: nothing is done, and there is no answer."""
        return self._set(outcomes.drop, "dropped")

    def drop_answer(self) -> Self:
        """Do what is asked, and lose the answer."""
        return self._set(outcomes.drop_answer, "answer dropped")

    def close(self) -> Self:
        """Close the connection instead of doing anything."""
        return self._set(outcomes.close, "closed")

    def nth(self, number: int) -> Self:
        """Leave those before the n-th alone, counted from 1; unless `times` says more, only it."""
        if number < 1:
            raise ValueError("the first is number 1")
        self._first = number
        if self._count is None:
            self._count = 1
        return self

    def times(self, count: int) -> Self:
        """Happen so often, and no more."""
        if count < 1:
            raise ValueError("a fault happens once or more")
        self._count = count
        return self

    def meets(self, targets: Sequence[Target]) -> bool:
        """Count a request that it matches; is it one that something happens to?"""
        if self._target.topic is not None and not self.about(targets):
            return False
        self._seen += 1
        nth = self._seen - self._first
        return nth >= 0 and (self._count is None or nth < self._count)

    def about(self, targets: Sequence[Target]) -> tuple[Target, ...]:
        """Those of a request's partitions that it names; none if it names none itself."""
        if self._target.topic is None:
            return ()
        return tuple(one for one in targets if one.is_within(self._target))

    def _set(self, outcome: Outcome, says: str) -> Self:
        self.outcome, self.says = outcome, says
        self._changed()
        return self


class Faults:
    """The rules of a broker, and what they did."""

    def __init__(self, install: Callable[[Callable[[Route], Handle] | None], None]) -> None:
        """`install` has a broker wrap its handlers."""
        self._install = install
        self._rules: list[Rule] = []
        self.fired: list[Fired] = []
        """Every request that met a fault, in their order."""

    def on(self, api: str, *, topic: str | None = None, partition: int | None = None) -> Rule:
        """Begin a rule: for requests of an API, and among these for those that name a topic."""
        if api not in _NAMES:
            raise ValueError(f"{api!r} is no API of Kafka's protocol")
        if partition is not None and topic is None:
            raise ValueError("a partition is one of a topic")
        rule = Rule(api, Target(topic, partition), lambda: self._add(rule))
        return rule

    def clear(self) -> None:
        """Let nothing happen any more; what has happened stays listed."""
        if self._rules:
            self._rules.clear()
            self._install(None)

    def forget(self) -> None:
        """Be as at first; the broker itself is about to end."""
        self._rules.clear()
        self.fired = []

    def report(self) -> str:
        """What has happened, a line each."""
        return "\n".join(map(str, self.fired))

    def _add(self, rule: Rule) -> None:
        if rule not in self._rules:
            self._rules.append(rule)
            self._install(self._wrap)

    def _wrap(self, route: Route) -> Handle:
        """The handler of a route, or one that looks first whether it meets a fault."""
        name = APIS[route.key].name
        rules = [rule for rule in self._rules if rule.api == name]
        inner = route.handle
        if not rules:
            return inner

        def handle(node: Node, message: Message, request: Request) -> Message | None:
            targets = targets_of(node, message)
            due = [rule for rule in rules if rule.meets(targets)]
            if not due:
                return inner(node, message, request)
            return self._apply(due[0], targets, outcomes.Met(node, message, request, inner, ()))

        return handle

    def _apply(self, rule: Rule, targets: Sequence[Target], met: outcomes.Met) -> Message | None:
        about = rule.about(targets)
        request = met.request
        name = APIS[request.route.key].name
        self.fired.append(Fired(name, request.version, request.client_id, about, rule.says))
        assert rule.outcome is not None, "a rule is added once it has one"
        return rule.outcome(met._replace(targets=about))
