"""What a node wants people to know, as lines of a log.

Each kind of notice has one row: how grave it is, and the sentence that it becomes.
"""

import sys
import time
from typing import Final, NamedTuple, TextIO

from ottla.broker.effects import Notice


class Sentence(NamedTuple):
    """How a kind of notice is told; `subject` and `detail` are the notice's own."""

    level: str
    text: str


SENTENCES: Final = {
    "connection-closed": Sentence("WARN", "connection {subject} is closed: {detail}"),
    "connection-lost": Sentence("DEBUG", "connection {subject} is over: {detail}"),
    "job-failed": Sentence("ERROR", "{subject} failed: {detail}"),
    "log-set-aside": Sentence("ERROR", "{subject} is not served: {detail}"),
    "log-cut": Sentence("WARN", "{subject}: {detail} at the end were no batches and are cut off"),
    "log-not-made": Sentence("ERROR", "{subject} has no log: {detail}"),
    "log-not-deleted": Sentence("ERROR", "the log of {subject} is not deleted: {detail}"),
    "settings-refused": Sentence("ERROR", "the settings of {subject} are not used: {detail}"),
    "metadata-log-failed": Sentence("ERROR", "{subject} is not written any more: {detail}"),
    "quorum": Sentence("INFO", "{subject}: {detail}"),
    "controller-held-up": Sentence("WARN", "the controller tries again later: {detail}"),
    "registration-delayed": Sentence("WARN", "the broker registers again later: {detail}"),
    "heartbeat-refused": Sentence("WARN", "a heartbeat of broker epoch {subject} failed: {detail}"),
    "shutdown-uncontrolled": Sentence(
        "WARN",
        "broker epoch {subject} ends without the controller, which has not let it go in time",
    ),
}
_LEVELS: Final = ("DEBUG", "INFO", "WARN", "ERROR")


class NoticeLog:
    """Writes notices of a level and above to a stream."""

    def __init__(self, level: str = "WARN", stream: TextIO | None = None) -> None:
        self._shown = _LEVELS[_LEVELS.index(level) :]
        self._stream = sys.stderr if stream is None else stream

    def __call__(self, notice: Notice) -> None:
        """Write a notice, if it is to be shown."""
        sentence = SENTENCES[notice.name]
        if sentence.level in self._shown:
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            text = sentence.text.format(subject=notice.subject, detail=notice.detail)
            self._stream.write(f"{now} {sentence.level} {text}\n")
            self._stream.flush()
