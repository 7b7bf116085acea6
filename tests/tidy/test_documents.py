"""Documents say what is true: their links, the map, the changelog, the pages that are generated."""

import re
from pathlib import Path
from typing import Final

import pytest

from docs.reference.generate import FOLDER, pages
from tests.tidy.sources import PACKAGE, ROOT, every_file, shown

LINK: Final = re.compile(r"(?<!!)\[[^\]\n]*\]\((?P<target>[^)\s]+)\)")
FENCED: Final = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
NAMED_TEST: Final = re.compile(r"`(?P<file>[\w/]+\.py)::(?P<name>test_\w+)`")
MAP_ROW: Final = re.compile(r"^\| `(?P<name>[\w/]+)` \|", re.MULTILINE)
RELEASE: Final = re.compile(r"## (Unreleased|\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\))")
KINDS_OF_CHANGE: Final = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
DECISION_PARTS: Final = ("## Context", "## Decision", "## What we gave up")


def documents() -> list[Path]:
    """Every page written in Markdown."""
    return [path for path in every_file() if path.suffix == ".md"]


def anchors(text: str) -> set[str]:
    """The places in a page that a link may point to."""
    titles = re.findall(r"^#+ (.+)$", FENCED.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles}


def broken_links(page: Path) -> list[str]:
    """The links of a page, within the project, that lead nowhere."""
    broken: list[str] = []
    for found in LINK.finditer(FENCED.sub("", page.read_text())):
        target = found["target"]
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        goal = page.parent / name if name else page
        if not goal.exists() or (anchor and anchor not in anchors(goal.read_text())):
            broken.append(target)
    return broken


@pytest.mark.parametrize("page", documents(), ids=shown)
def test_links_lead_somewhere(page: Path) -> None:
    assert not broken_links(page)


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A title\n[a](#a-title) [b](#no) [c](none.md) [d](https://example.org)\n")
    assert broken_links(page) == ["#no", "none.md"]


def missing_tests(text: str) -> list[str]:
    """The tests that a page names and that are not there."""
    return [
        found[0]
        for found in NAMED_TEST.finditer(text)
        if not (path := ROOT / "tests" / found["file"]).exists()
        or f"def {found['name']}(" not in path.read_text()
    ]


def test_the_tests_that_pages_name_are_there() -> None:
    wrong = [
        f"{shown(page)}: {name}" for page in documents() for name in missing_tests(page.read_text())
    ]
    assert not wrong, "\n".join(wrong)


def test_a_missing_test_is_found() -> None:
    here = "`tidy/test_documents.py::test_a_missing_test_is_found`"
    page = f"`unit/test_errors.py::test_none` and {here}"
    assert missing_tests(page) == ["`unit/test_errors.py::test_none`"]


def test_the_map_names_every_part_and_no_other() -> None:
    rows = set(MAP_ROW.findall((ROOT / "ARCHITECTURE.md").read_text()))
    folders = {
        path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("__init__.py")
    } - {"."}
    modules = {path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("__")}
    assert rows == folders | modules


def test_the_changelog_has_its_form() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text().splitlines()
    releases = [line for line in lines if line.startswith("## ")]
    kinds = {line.removeprefix("### ") for line in lines if line.startswith("### ")}
    assert lines[0] == "# Changelog"
    assert releases[0] == "## Unreleased"
    assert all(map(RELEASE.fullmatch, releases))
    assert kinds <= KINDS_OF_CHANGE


def test_decisions_are_numbered_and_whole() -> None:
    found = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    numbers = [int(path.name[:4]) for path in found]
    # Some may be missing: a number is taken when work begins, and not all work ends in a decision.
    assert numbers == sorted(set(numbers))
    for path in found:
        text = path.read_text()
        assert all(part in text for part in DECISION_PARTS), shown(path)
        assert len(text.splitlines()) <= 60, f"{shown(path)} is more than a page"


def test_the_examples_of_the_readme_run() -> None:
    examples = re.findall(
        r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL
    )
    assert examples
    for example in examples:
        exec(compile(example, "README.md", "exec"), {"__name__": "readme"})


@pytest.mark.parametrize(("name", "text"), pages().items())
def test_generated_pages_are_fresh(name: str, text: str) -> None:
    message = "type: .venv/bin/python -m docs.reference.generate"
    assert (FOLDER / name).read_text() == text, message


def test_every_reference_page_is_generated() -> None:
    assert {path.name for path in FOLDER.glob("*.md")} == set(pages())
