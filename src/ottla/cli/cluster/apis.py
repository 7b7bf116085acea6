"""`ottla cluster apis`: which APIs a broker speaks, in which versions."""

import argparse

from ottla.api.apis import APIS
from ottla.cli import EXIT_FINE
from ottla.cli.client.arguments import ClusterArguments, cluster_of, declare_cluster
from ottla.cli.columns import say_columns
from ottla.cli.log.values import json_line
from ottla.cli.terminal import Terminal


class Apis:
    """The verb."""

    operands = ""
    description = "Print which APIs a broker speaks, and in which versions we would use them."
    examples = "  ottla cluster apis -b broker-3:9092"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        declare_cluster(parser)

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        given = ClusterArguments(**vars(arguments))
        with cluster_of(given) as cluster:
            versions = sorted(cluster.anyone().versions.items())
        rows: list[tuple[object, ...]] = []
        for key, spoken in versions:
            api = APIS.get(key)
            both = None if api is None else api.versions & spoken
            name = "unknown" if api is None else api.name
            rows.append((key, name, spoken, "none" if both is None else both))
        if given.json:
            for row in rows:
                names = ("key", "name", "versions", "shared")
                values = (row[0], *map(str, row[1:]))
                terminal.say(json_line(dict(zip(names, values, strict=True))))
        else:
            say_columns(terminal, ("key", "api", "versions", "shared"), rows)
        return EXIT_FINE


def command() -> Apis:
    """What the table of verbs asks for."""
    return Apis()
