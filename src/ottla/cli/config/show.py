"""`ottla config show`: what is configured, and where each value comes from."""

import argparse
from typing import Final

from ottla.api.describe_configs import DescribeConfigsRequest, DescribeConfigsResponse
from ottla.cli import EXIT_FINE
from ottla.cli.client.arguments import ClusterArguments, cluster_of, declare_cluster
from ottla.cli.client.cluster import Cluster
from ottla.cli.client.connection import check
from ottla.cli.columns import say_columns
from ottla.cli.config.resources import FORMS, Resource, parse_resource
from ottla.cli.log.values import Object, escaped, json_line
from ottla.cli.terminal import Terminal

_Config = DescribeConfigsResponse.Resource.Config
SOURCES: Final = {
    0: "unknown",
    1: "topic",
    2: "broker",
    3: "all brokers",
    4: "file",
    5: "default",
    6: "logger",
    7: "client metrics",
    8: "group",
}
_BY_DEFAULT: Final = 5


class ShowArguments(ClusterArguments):
    """What was typed."""

    resource: str
    names: list[str]
    all: bool


class Show:
    """The verb."""

    operands = "RESOURCE [NAME...]"
    description = (
        "Print what is configured on a resource, and where each value comes from: by itself only\n"
        "what somebody has set, with --all the defaults too. Secrets are never shown."
    )
    examples = (
        "  ottla config show topic/orders\n"
        "  ottla config show broker/1 --all\n"
        "  ottla config show topic/orders retention.ms --json"
    )

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("resource", metavar="RESOURCE", help=FORMS)
        parser.add_argument("names", nargs="*", metavar="NAME", help="only these, set or not")
        parser.add_argument("--all", action="store_true", help="what nobody has set too")
        declare_cluster(parser)

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        given = ShowArguments(**vars(arguments))
        resource = parse_resource(given.resource)
        with cluster_of(given) as cluster:
            found = configs_of(cluster, resource, given.names or None)
        is_wanted = given.all or bool(given.names)
        rows = [row for row in found if is_wanted or source_of(row) != SOURCES[_BY_DEFAULT]]
        if given.json:
            for row in rows:
                terminal.say(json_line({"resource": str(resource)} | config_object(row)))
        elif rows:
            say_columns(terminal, ("name", "value", "from"), map(_line, rows))
        else:
            terminal.note(f"nothing is set on {resource}; --all shows the defaults")
        return EXIT_FINE


def configs_of(cluster: Cluster, resource: Resource, names: list[str] | None) -> list[_Config]:
    """The configs of a resource, by name."""
    asked = DescribeConfigsRequest.Resource(
        resource_type=resource.type, resource_name=resource.name, configuration_keys=names
    )
    request = DescribeConfigsRequest(resources=[asked])
    answer = resource.connection(cluster).ask(request, DescribeConfigsResponse)
    found = answer.results[0]
    check(found.error_code, str(resource), found.error_message)
    return sorted(found.configs, key=lambda row: row.name)


def source_of(row: _Config) -> str:
    """Where a value comes from; the oldest brokers say only whether it is the default."""
    if row.config_source < 0:
        return SOURCES[_BY_DEFAULT] if row.is_default else "unknown"
    return SOURCES.get(row.config_source, "unknown")


def config_object(row: _Config) -> Object:
    """A config for programs."""
    return {
        "name": row.name,
        "value": row.value,
        "source": source_of(row).replace(" ", "_"),
        "is_sensitive": row.is_sensitive,
        "is_read_only": row.read_only,
    }


def _line(row: _Config) -> tuple[str, str, str]:
    if row.is_sensitive:
        value = "(secret)"
    else:
        value = "(none)" if row.value is None else escaped(row.value)
    return row.name, value, source_of(row)


def command() -> Show:
    """What the table of verbs asks for."""
    return Show()
