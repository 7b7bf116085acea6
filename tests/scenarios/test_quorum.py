"""The scenarios of the metadata quorum, a file for each state."""

from pathlib import Path

import pytest

from tests.scenarios.quorum_story import QuorumStory
from tests.scenarios.runner import run

HERE = Path(__file__).parent


@pytest.mark.parametrize("path", sorted(HERE.glob("quorum/*.txt")), ids=lambda path: path.stem)
def test_quorum(path: Path) -> None:
    run(path, QuorumStory())
