"""What no file of the project says: where it was made, from where, and by what way of working."""

import re
from typing import Final

import pytest

from tests.tidy.sources import shown, texts

FOLDERS: Final = "home|root|work|Users"
# What is looked for is put together here, or this file would be the first to say it.
HOSTS: Final = "|".join(
    "\\.".join(labels)
    for labels in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("crates", "io"),
        ("registry", "npmjs"),
        ("repo1", "maven"),
        ("repo", "maven"),
        ("proxy", "golang"),
        ("deb", "debian"),
        ("archive", "ubuntu"),
    )
)
WAYS: Final = "|".join(
    (
        "assist" + "ants?",
        "sub-?" + "agents?",
        "chat" + "bots?",
        "language " + "models?",
        "issue " + "#?[0-9]+",
        "this " + "session",
    )
)
UNWANTED: Final = {
    "an absolute path": re.compile(rf"(?<![.\w~*}}\-])/({FOLDERS})/"),
    "a registry's host": re.compile(rf"\b({HOSTS})\b"),
    "a way of working": re.compile(rf"\b({WAYS})\b", re.IGNORECASE),
}


def unwanted(text: str) -> list[str]:
    """What a text should not say, with the lines that say it."""
    return [
        f"{number}: {what}: {line.strip():.100}"
        for number, line in enumerate(text.splitlines(), 1)
        for what, pattern in UNWANTED.items()
        if pattern.search(line)
    ]


def test_files_say_nothing_of_their_making() -> None:
    wrong = [f"{shown(path)}:{found}" for path, text in texts() for found in unwanted(text)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "text",
    [
        "see /" + "home/someone/x",
        'open("/' + 'root/.cache")',
        "https://pypi" + ".org/simple",
        "as issue " + "#12 asks",
        "an Assist" + "ant wrote",
    ],
)
def test_what_is_unwanted_is_found(text: str) -> None:
    assert unwanted(text)


@pytest.mark.parametrize(
    "text", ["target/work/files", "~/home/", "session.timeout.ms", "an issue of a lease"]
)
def test_what_is_harmless_is_left_alone(text: str) -> None:
    assert not unwanted(text)
