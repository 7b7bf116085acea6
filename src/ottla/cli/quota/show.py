"""`ottla quota show`: which quotas are set."""

import argparse
from typing import Final

from ottla.api.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from ottla.cli import EXIT_FINE
from ottla.cli.client.arguments import cluster_of, declare_cluster
from ottla.cli.client.cluster import Cluster
from ottla.cli.client.connection import check
from ottla.cli.columns import say_columns
from ottla.cli.log.values import escaped, json_line
from ottla.cli.quota.entities import (
    EntityArguments,
    declare_entity,
    entity_of,
    shown_entity,
    shown_value,
)
from ottla.cli.terminal import Terminal

_EXACT: Final = 0
_DEFAULT: Final = 1


class Show:
    """The verb."""

    operands = ""
    description = "Print the quotas that are set, of all or of those that are named."
    examples = "  ottla quota show\n  ottla quota show --user alice"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        declare_entity(parser)
        declare_cluster(parser)

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        given = EntityArguments(**vars(arguments))
        with cluster_of(given) as cluster:
            rows = quotas_of(cluster, entity_of(given))
        if given.json:
            for whom, key, limit in rows:
                terminal.say(json_line({"entity": whom, "quota": key, "value": limit}))
        elif rows:
            lines = ((escaped(whom), key, shown_value(limit)) for whom, key, limit in rows)
            say_columns(terminal, ("for", "quota", "value"), lines)
        else:
            terminal.note("no quotas are set")
        return EXIT_FINE


def quotas_of(
    cluster: Cluster, parts: list[tuple[str, str | None]], *, is_whole: bool = False
) -> list[tuple[str, str, float]]:
    """The quotas of entities that have some parts, and with `is_whole` no others."""
    component = DescribeClientQuotasRequest.Component
    components = [
        component(entity_type=kind, match_type=_DEFAULT if name is None else _EXACT, match=name)
        for kind, name in parts
    ]
    request = DescribeClientQuotasRequest(components=components, strict=is_whole)
    answer = cluster.ask(request, DescribeClientQuotasResponse)
    check(answer.error_code, "quotas", answer.error_message)
    rows: list[tuple[str, str, float]] = []
    for entry in answer.entries or []:
        whom = shown_entity([(part.entity_type, part.entity_name) for part in entry.entity])
        rows += [(whom, value.key, value.value) for value in entry.values]
    return sorted(rows)


def command() -> Show:
    """What the table of verbs asks for."""
    return Show()
