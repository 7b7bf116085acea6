"""What the command says, word by word, of a log directory with every kind of file."""

from pathlib import Path

import pytest

from tests.unit.cli.log_directory import kill, write_directory
from tests.unit.cli.session import play

FOLDER = Path(__file__).parent / "sessions"


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.txt")))
def test_a_session_goes_as_written(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_directory(tmp_path / "kafka")
    kill(write_directory(tmp_path / "killed"))
    monkeypatch.chdir(tmp_path)
    play(FOLDER / f"{name}.txt", capsys)
