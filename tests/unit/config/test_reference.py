"""Documents from the rows: complete, and readable by the parser that they are for."""

from ottla.config import log
from ottla.config.kinds import INT, LIST, PASSWORD
from ottla.config.option import CLUSTER_WIDE, Option, Scope
from ottla.config.properties import load
from ottla.config.reference import markdown, sample
from ottla.config.settings import Settings
from ottla.config.table import Table

HOURS = Option("a.hours", INT, default=2, at_least=1, doc="By hour.")
TABLE = Table(
    [
        Option("a.ms", INT, synonyms=(HOURS,), topic="ms", change=CLUSTER_WIDE, doc="In ms."),
        HOURS,
        Option("b", LIST, default=[], one_of=("x|y",), doc="Some."),
        Option("c", INT, doc="Needed."),
        Option("d", PASSWORD, default=None, doc="Secret.", deprecated="use e."),
        Option("e", INT, default=1, internal=True, doc="Inside."),
    ]
)


def test_table_has_a_line_for_each_option() -> None:
    assert markdown(TABLE).splitlines()[2:] == [
        (
            "| `a.hours` | int | 2 | a whole number of 32 bits of at least 1 | hours "
            "| read-only | By hour. |"
        ),
        "| `a.ms` | int | as `a.hours` | a whole number of 32 bits | ms | cluster-wide | In ms. |",
        (
            "| `b` | list | empty | values with commas between them, each of x\\|y "
            "|  | read-only | Some. |"
        ),
        "| `c` | int | must be set | a whole number of 32 bits |  | read-only | Needed. |",
        "| `d` | password | null | a secret |  | read-only | Secret. Deprecated: use e. |",
    ]
    assert [line.split("|")[1].strip() for line in markdown(TABLE, Scope.TOPIC).splitlines()] == [
        "name",
        "---",
        "`ms`",
    ]


def test_sample_is_all_comments() -> None:
    assert load(sample(TABLE).encode("latin-1")) == {}
    assert sample(TABLE).split("\n\n") == [
        "# In ms.\n# Without it: a.hours.\n#a.ms=",
        "# By hour.\n#a.hours=2",
        "# Some.\n#b=",
        "# Needed.\n# It must be set, to a whole number of 32 bits.\n#c=\n",
    ]


def test_sample_without_its_signs_says_the_defaults() -> None:
    lines = sample(Table.of(log)).splitlines()
    live = [line[1:] for line in lines if line.startswith("#") and not line.startswith("# ")]
    table = Table.of(log)
    given = {name: text for name, text in load("\n".join(live).encode("latin-1")).items() if text}
    settings = Settings.of_broker(table, given)
    assert len(live) == sum(
        not row.internal and not row.deprecated for row in table.at(Scope.BROKER).values()
    )
    assert settings.unknown == ()
    for row in table.at(Scope.BROKER).values():
        assert settings[row] == Settings(table)[row]
