"""Set and unset configs of a resource, one by one, and say what was before."""

from collections.abc import Mapping, Sequence
from typing import Final

from ottla.api.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ottla.cli.client.arguments import ClusterArguments, cluster_of
from ottla.cli.client.cluster import Cluster
from ottla.cli.client.connection import check
from ottla.cli.config.resources import Resource, kind_of, parse_resource
from ottla.cli.config.show import configs_of, source_of
from ottla.cli.log.values import Object, escaped, json_line
from ottla.cli.terminal import Terminal

_SET: Final = 0
_UNSET: Final = 1
_Config = IncrementalAlterConfigsRequest.Resource.Config


class ChangeConfigArguments(ClusterArguments):
    """What was typed."""

    resource: str
    dry_run: bool


def change(
    given: ChangeConfigArguments, changes: Mapping[str, str | None], terminal: Terminal
) -> None:
    """Set each name to its value, or with None let it have its default again."""
    resource = parse_resource(given.resource)
    with cluster_of(given) as cluster:
        # Names that do not exist are for the cluster to refuse, so what was is asked for first.
        before = {row.name: row for row in configs_of(cluster, resource, list(changes))}
        asked = IncrementalAlterConfigsRequest.Resource(
            resource_type=resource.type,
            resource_name=resource.name,
            configs=[
                _Config(name=name, config_operation=_UNSET if value is None else _SET, value=value)
                for name, value in changes.items()
            ],
        )
        request = IncrementalAlterConfigsRequest(resources=[asked], validate_only=given.dry_run)
        answer = resource.connection(cluster).ask(request, IncrementalAlterConfigsResponse)
        found = answer.responses[0]
        check(found.error_code, str(resource), found.error_message)
        if not given.dry_run:
            cluster.settle(lambda: _is_seen(cluster, resource, changes))
    _say(
        terminal,
        given,
        str(resource),
        [
            (
                name,
                before[name].value if name in before else None,
                source_of(before[name]) if name in before else "default",
                value,
            )
            for name, value in changes.items()
        ],
    )


def _is_seen(cluster: Cluster, resource: Resource, changes: Mapping[str, str | None]) -> bool:
    rows = {row.name: row for row in configs_of(cluster, resource, list(changes))}
    return all(
        name not in rows
        or rows[name].is_sensitive
        or (value is None and source_of(rows[name]) != kind_of(resource))
        or rows[name].value == value
        for name, value in changes.items()
    )


def _say(
    terminal: Terminal,
    given: ChangeConfigArguments,
    resource: str,
    rows: Sequence[tuple[str, str | None, str, str | None]],
) -> None:
    for name, old, source, new in rows:
        if given.json:
            row: Object = {"resource": resource, "name": name, "old_value": old}
            terminal.say(json_line(row | {"new_value": new, "is_dry_run": given.dry_run}))
            continue
        said_old = "none" if old is None else escaped(old)
        said_new = "its default" if new is None else escaped(new)
        would = "would become" if given.dry_run else "is now"
        terminal.say(f"{resource} {name} {would} {said_new} (was {said_old}, from {source})")
