"""Every kind of notice that a node has becomes a sentence."""

import ast
import io

from ottla.broker.effects import Notice
from ottla.runtime.notices import SENTENCES, NoticeLog
from tests.tidy.sources import parsed, part, python_files


def names() -> set[str]:
    """The kinds of notices that the source makes."""
    calls = [
        node
        for path in python_files("src")
        if part(path) in {"broker", "runtime"}
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "Notice"
    ]
    return {ast.literal_eval(call.args[0]) for call in calls}


def test_each_kind_has_its_sentence() -> None:
    assert names() == set(SENTENCES)


def test_a_notice_is_one_line_if_it_is_grave_enough() -> None:
    stream = io.StringIO()
    log = NoticeLog("WARN", stream)
    log(Notice("quorum", "__cluster_metadata-0", "it leads"))
    log(Notice("log-not-made", "orders-0", "the disk is full"))
    (line,) = stream.getvalue().splitlines()
    assert line.endswith("Z ERROR orders-0 has no log: the disk is full")
