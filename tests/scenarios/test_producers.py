"""The scenarios of producers and of leader epochs."""

from pathlib import Path

import pytest

from ottla.core.partition.leader_epochs import EpochEntry, LeaderEpochs
from tests.scenarios.producer_log import ProducerLog
from tests.scenarios.runner import run

HERE = Path(__file__).parent


class ProducerStory:
    """Plays commands on a log of producers; what is unimportant is left out."""

    def __init__(self) -> None:
        self.log = ProducerLog()

    def __call__(self, verb: str, numbers: dict[str, int]) -> list[str]:
        if verb == "log":
            self.log = ProducerLog(**numbers)
            return []
        if verb == "known":
            return self.log.state()[1:-1]
        if verb == "stable":
            return [self.log.state()[0], self.log.state()[-1]]
        said: str = getattr(self.log, verb)(**numbers)
        return [said]


class EpochStory:
    """Plays commands on the epochs of a log."""

    def __init__(self) -> None:
        self.epochs = LeaderEpochs()

    def __call__(self, verb: str, numbers: dict[str, int]) -> list[str]:
        said = getattr(self.epochs, verb)(**numbers)
        match verb:
            case "assign" | "truncate_end" | "truncate_start":
                return ["changed"] if said else []
            case "end_offset_for":
                return ["epoch {} ends at {}".format(*said)]
            case "epoch_at":
                return [f"epoch {said}"]
            case "previous" | "next":
                return [shown(said)] if said else []
        return [*map(shown, said or [])]


def shown(entry: EpochEntry) -> str:
    return f"{entry.epoch} from {entry.start_offset}"


@pytest.mark.parametrize("path", sorted(HERE.glob("producers/*.txt")), ids=lambda path: path.stem)
def test_producers(path: Path) -> None:
    run(path, ProducerStory())


@pytest.mark.parametrize(
    "path", sorted(HERE.glob("leader_epochs/*.txt")), ids=lambda path: path.stem
)
def test_leader_epochs(path: Path) -> None:
    run(path, EpochStory())


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("# A story.\n\nclient producer=7\n----\n", "# A story.\n\nclient producer=7\n----\nok\n"),
        ("log\n----\nok\n", "log\n----\n(nothing)\n"),
    ],
)
def test_a_scenario_is_rewritten(
    text: str, written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "story.txt"
    path.write_text(text)
    monkeypatch.delenv("REWRITE", raising=False)
    with pytest.raises(AssertionError, match="says otherwise"):
        run(path, ProducerStory())
    monkeypatch.setenv("REWRITE", "1")
    run(path, ProducerStory())
    assert path.read_text() == written


def test_a_block_without_its_bar_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "story.txt"
    path.write_text("client producer=7\nok\n")
    with pytest.raises(AssertionError, match="no bar"):
        run(path, ProducerStory())
