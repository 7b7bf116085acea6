"""The nouns and verbs of the command line, and the answers that need none of their code."""

import sys
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar

from ottla import __version__
from ottla.cli import EXIT_FINE, Refused

EXIT_CODES: Final = """exit codes:
  0    done, and nothing bad was found
  1    something bad was found, and said
  2    the command line is wrong, a path cannot be read, or the cluster refuses
  130  stopped by Ctrl-C
  141  nobody reads the output any more"""


class Verb(NamedTuple):
    """What can be done with a noun; `module` has a function `command` that makes its `Command`."""

    name: str
    summary: str
    module: str


class Noun(NamedTuple):
    """What the command line knows to deal with: by verbs, or by itself if it has a module."""

    name: str
    summary: str
    verbs: tuple[Verb, ...] = ()
    module: str = ""


NOUNS: Final = (
    Noun("dev", "start a broker here and now, to develop against", module="ottla.cli.dev"),
    Noun(
        "log",
        "look into the files of logs, of Kafka or Ottla; only recover changes any",
        (
            Verb("dump", "print what files hold, decoded", "ottla.cli.log.dump"),
            Verb("grep", "find records by what is in them", "ottla.cli.log.grep"),
            Verb("verify", "check everything that can be checked", "ottla.cli.log.verify"),
            Verb("recover", "bring logs in order after a crash", "ottla.cli.log.recover"),
        ),
    ),
    Noun(
        "storage",
        "prepare the log directories of a node, and see whose they are",
        (
            Verb("random-uuid", "print an id for a new cluster", "ottla.cli.storage.random_uuid"),
            Verb("format", "make directories a node's log directories", "ottla.cli.storage.format"),
            Verb(
                "info", "print whose directories are, and what is there", "ottla.cli.storage.info"
            ),
        ),
    ),
    Noun(
        "topic",
        "see, make, change and remove the topics of a running cluster",
        (
            Verb("list", "print what topics there are", "ottla.cli.topic.list"),
            Verb("describe", "print all there is to know of some", "ottla.cli.topic.describe"),
            Verb("create", "make topics", "ottla.cli.topic.create"),
            Verb("grow", "give a topic more partitions", "ottla.cli.topic.grow"),
            Verb("trim", "remove the oldest records", "ottla.cli.topic.trim"),
            Verb("delete", "remove topics with all their records", "ottla.cli.topic.delete"),
        ),
    ),
    Noun(
        "record",
        "write and read records of a running cluster",
        (
            Verb("produce", "append records to a topic", "ottla.cli.record.produce"),
            Verb("consume", "print records of a topic", "ottla.cli.record.consume"),
        ),
    ),
    Noun(
        "config",
        "see and change what is configured on topics, brokers and groups",
        (
            Verb("show", "print what is set, and where it comes from", "ottla.cli.config.show"),
            Verb("set", "give configs other values", "ottla.cli.config.set"),
            Verb("unset", "let configs have their defaults again", "ottla.cli.config.unset"),
        ),
    ),
    Noun(
        "quota",
        "see and change how much users and clients may do",
        (
            Verb("show", "print the quotas that are set", "ottla.cli.quota.show"),
            Verb("set", "limit a user, a client or an address", "ottla.cli.quota.set"),
            Verb("unset", "take a limit away", "ottla.cli.quota.unset"),
        ),
    ),
    Noun(
        "cluster",
        "see the nodes of a cluster and what they speak",
        (
            Verb("show", "print brokers, quorum and features", "ottla.cli.cluster.show"),
            Verb("apis", "print which APIs a broker speaks", "ottla.cli.cluster.apis"),
            Verb("directories", "print the log directories", "ottla.cli.cluster.directories"),
        ),
    ),
    Noun("completion", "let a shell complete commands", module="ottla.cli.completion"),
)


_Row = TypeVar("_Row", Noun, Verb)


def run(given: list[str]) -> int:
    """Do what the words of a command line say, and give the exit code."""
    if not given:
        return _say(_state())
    if given[0] in ("-h", "--help", "help"):
        return _say(_usage())
    if given == ["--version"]:
        return _say(f"ottla {__version__}\n")
    noun = _named(NOUNS, given[0], "ottla")
    if noun.module:
        return _run_module(f"ottla {noun.name}", noun.module, given[1:])
    if len(given) == 1 or given[1] in ("-h", "--help"):
        return _say(_usage_of(noun))
    verb = _named(noun.verbs, given[1], f"ottla {noun.name}")
    return _run_module(f"ottla {noun.name} {verb.name}", verb.module, given[2:])


def _run_module(prog: str, module: str, words: list[str]) -> int:
    from ottla.cli.parser import run_verb  # noqa: PLC0415  Help and version answer without it.

    return run_verb(prog, module, words)


def _named(table: Sequence[_Row], name: str, prog: str) -> _Row:
    for row in table:
        if row.name == name:
            return row
    names = ", ".join(row.name for row in table)
    raise Refused(f"{prog} knows no {name!r}, only: {names}; type: {prog} --help")


def _say(text: str) -> int:
    sys.stdout.write(text)
    return EXIT_FINE


def _usage() -> str:
    lines = ["usage: ottla NOUN VERB ...   or: ottla [--help | --version]", ""]
    for noun in NOUNS:
        lines.append(f"  {noun.name:8} {noun.summary}")
        lines += [f"    {f'{noun.name} {verb.name}':19} {verb.summary}" for verb in noun.verbs]
    lines += ["", "Each has its own --help, with examples.", "", EXIT_CODES, ""]
    return "\n".join(lines)


def _usage_of(noun: Noun) -> str:
    lines = [f"usage: ottla {noun.name} VERB ...", "", f"{noun.name}: {noun.summary}", ""]
    lines += [f"  {verb.name:8} {verb.summary}" for verb in noun.verbs]
    return "\n".join([*lines, "", f"Type: ottla {noun.name} VERB --help", ""])


def _state() -> str:
    """What this installation is, and what to type."""
    import warnings  # noqa: PLC0415  Only this answer needs it.

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from ottla import kernels  # noqa: PLC0415  Loaded after its warning is silenced.
    words = "compiled" if kernels.compiled else "not compiled (slow)"
    return (
        f"ottla {__version__}, kernels {words}, Python {sys.version.split()[0]}\n"
        "`ottla dev` starts a broker here and now; `ottla --help` lists what else there is.\n"
    )
