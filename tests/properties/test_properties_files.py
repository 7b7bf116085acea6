"""Files of any content: what is written is read again, and nothing but a typed error comes out."""

from hypothesis import given
from hypothesis import strategies as st

from ottla.config.faults import MalformedProperties
from ottla.config.properties import dump, entries, load

TEXT = st.text(max_size=30)
AWKWARD = st.text(st.sampled_from(" \t\f\r\n\\=:#!uaé✓😀\x00\x7f0"), max_size=12)
FILE = st.lists(
    st.sampled_from(
        ["\\", "\n", "\r\n", "\r", " ", "=", ":", "#", "!", "a", "\\u0041", "\\u", "\t"]
    )
)


@given(st.dictionaries(TEXT | AWKWARD, TEXT | AWKWARD), TEXT | AWKWARD)
def test_what_is_written_is_read_again(values: dict[str, str], comment: str) -> None:
    written = dump(values, comment)
    assert load(written) == values
    assert list(load(written)) == list(values)


@given(st.binary() | FILE.map(lambda pieces: "".join(pieces).encode()))
def test_any_file_is_read_or_refused(data: bytes) -> None:
    lines = len(data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"))
    places, whole = lines_named(data)
    assert all(1 <= place <= lines for place in places)
    assert whole or b"\\u" in data
    assert not whole or load(dump(load(data))) == load(data)


def lines_named(data: bytes) -> tuple[list[int], bool]:
    """The lines of all entries, or of the one thing that is wrong; and whether nothing is."""
    try:
        return [entry.line for entry in entries(data.decode("latin-1"))], True
    except MalformedProperties as fault:
        return [fault.line], False
