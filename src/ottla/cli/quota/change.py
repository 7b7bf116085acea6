"""Set and unset quotas of one entity."""

from collections.abc import Mapping

from ottla.api.alter_client_quotas import AlterClientQuotasRequest, AlterClientQuotasResponse
from ottla.cli.client.arguments import cluster_of
from ottla.cli.client.connection import check
from ottla.cli.log.values import escaped, json_line
from ottla.cli.quota.entities import EntityArguments, required_entity, shown_entity, shown_value
from ottla.cli.quota.show import quotas_of
from ottla.cli.terminal import Terminal

_Entry = AlterClientQuotasRequest.Entry


class ChangeQuotaArguments(EntityArguments):
    """What was typed."""

    dry_run: bool


def change(
    given: ChangeQuotaArguments, changes: Mapping[str, float | None], terminal: Terminal
) -> None:
    """Set each quota to its value, or with None let there be none."""
    parts = required_entity(given)
    entry = _Entry(
        entity=[_Entry.Entity(entity_type=kind, entity_name=name) for kind, name in parts],
        ops=[
            _Entry.Operation(key=key, value=value or 0.0, remove=value is None)
            for key, value in changes.items()
        ],
    )
    request = AlterClientQuotasRequest(entries=[entry], validate_only=given.dry_run)
    with cluster_of(given) as cluster:
        answer = cluster.controller().ask(request, AlterClientQuotasResponse)
        found = answer.entries[0]
        check(found.error_code, shown_entity(parts), found.error_message)

        def is_seen() -> bool:
            held = {key: value for _, key, value in quotas_of(cluster, parts, is_whole=True)}
            return all(held.get(key) == value for key, value in changes.items())

        if not given.dry_run:
            cluster.settle(is_seen)
    whom = shown_entity(parts)
    for key, value in changes.items():
        if given.json:
            row = {"entity": whom, "quota": key, "value": value, "is_dry_run": given.dry_run}
            terminal.say(json_line(row))
        else:
            would = "would become" if given.dry_run else "is now"
            shown = "none" if value is None else shown_value(value)
            terminal.say(f"{escaped(whom)} {key} {would} {shown}")
