"""Small files of a log directory that are broken, each in one way, and what is said of them."""

from typing import Final

from ottla.kernels.faults import Malformed
from tests.unit.storage.kinds import KINDS

ID: Final = b"AQIDBAUGBwgJCgsMDQ4PEA"
VOTE: Final = b'"leaderId":1,"leaderEpoch":5,"votedId":2'
EMPTY: Final = KINDS["producers"].format([])
SNAPSHOT: Final = KINDS["producers"].format(KINDS["producers"].samples["producers"][:1])

BROKEN: Final = [
    ("offsets", b""),
    ("offsets", b"0\n"),
    ("offsets", b"1\n0\n"),
    ("offsets", b"x\n0\n"),
    ("offsets", b"0\n2\norders 0 15\n"),
    ("offsets", b"0\n0\norders 0 15\n"),
    ("offsets", b"0\n2147483648\n"),
    ("offsets", b"0\n2147483647\n"),
    ("offsets", b"0\n-1\n"),
    ("offsets", b"0\n1\norders 0\n"),
    ("offsets", b"0\n1\norders 0 15 16\n"),
    ("offsets", b"0\n1\norders 0 9223372036854775808\n"),
    ("offsets", b"0\n1\norders 2147483648 15\n"),
    ("offsets", b"0\n1\norders 0 1_5\n"),
    ("offsets", b"0\n1\norders 0 0x15\n"),
    ("offsets", b"0\n1\n\n"),
    ("offsets", b"0\n1\norders 0 15\n\n"),
    ("offsets", b"0\n1\norders\xff 0 15\n"),
    ("offsets", b"\0" * 16),
    ("epochs", b"0\n1\n0\n"),
    ("epochs", b"0\n1\n2147483648 0\n"),
    ("epochs", b"0\n1\n0 0\n1 5\n"),
    ("meta", b""),
    ("meta", b"version=2\n"),
    ("meta", b"version=x\n"),
    ("meta", b"version=1\nnode.id=1\n"),
    ("meta", b"version=1\ncluster.id=c\n"),
    ("meta", b"version=1\ncluster.id=c\nnode.id=x\n"),
    ("meta", b"version=1\ncluster.id=c\nnode.id=1\ndirectory.id=x\n"),
    ("meta", b"version=1\ncluster.id=\\u12\nnode.id=1\n"),
    ("meta", b"\0" * 16),
    ("partition", b""),
    ("partition", b"version: 0\n"),
    ("partition", b"version: -1\ntopic_id: " + ID),
    ("partition", b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA"),
    ("partition", b"version: 0\ntopic_id: AQIDBAUGBwgJCgsMDQ4P"),
    ("partition", b"version:0\ntopic_id: " + ID),
    ("partition", b"\0" * 16),
    ("clean", b""),
    ("clean", b'{"version":0}'),
    ("clean", b'{"version":0,"brokerEpoch":9223372036854775808}'),
    ("clean", b'{"version":0,"brokerEpoch":4'),
    ("quorum", b""),
    ("quorum", b"\n"),
    ("quorum", b"[]"),
    ("quorum", b'{"leaderId":1,"leaderEpoch":5,"votedId":-1}'),
    ("quorum", b'{"data_version":2}'),
    ("quorum", b'{"leaderEpoch":5,"votedId":-1,"data_version":1}'),
    ("quorum", b'{"leaderId":1.0,"leaderEpoch":5,"votedId":-1,"data_version":1}'),
    ("quorum", b'{"leaderId":true,"leaderEpoch":5,"votedId":-1,"data_version":1}'),
    ("quorum", b'{"leaderId":1,"leaderEpoch":2147483648,"votedId":-1,"data_version":1}'),
    ("quorum", b'{"leaderId":NaN,"data_version":1}'),
    ("quorum", b'{"leaderId":1,"leaderEpoch":5,"votedId":2,"data_version":1}'),
    ("quorum", b'{"leaderId":1,"leaderEpoch":5,"votedId":2,"data_version":0}'),
    ("quorum", b'{"clusterId":5,%b,"appliedOffset":0,"currentVoters":[],"data_version":0}' % VOTE),
    ("quorum", b'{"clusterId":"",%b,"appliedOffset":0,"currentVoters":{},"data_version":0}' % VOTE),
    (
        "quorum",
        b'{"clusterId":"",%b,"appliedOffset":0,"currentVoters":[1],"data_version":0}' % VOTE,
    ),
    ("quorum", b'{%b,"votedDirectoryId":"%b","currentVoters":[1],"data_version":1}' % (VOTE, ID)),
    # These are read.
    ("quorum", b'{%b,"votedDirectoryId":"%b","currentVoters":[],"data_version":1}' % (VOTE, ID)),
    ("quorum", b'{%b,"votedDirectoryId":"%b","data_version":1,"votedId":3} x' % (VOTE, ID)),
    ("quorum", b'{"x":[{}],%b,"votedDirectoryId":"%b","data_version":1}\n\0' % (VOTE, ID)),
    ("quorum", b"\0" * 16),
    ("producers", b""),
    ("producers", b"\0"),
    ("producers", b"\0\0" + EMPTY[2:]),
    ("producers", b"\0\2" + EMPTY[2:]),
    ("producers", EMPTY[:5]),
    ("producers", SNAPSHOT[:10]),
    ("producers", SNAPSHOT[:-1]),
    ("producers", SNAPSHOT + b"\0"),
    ("producers", SNAPSHOT[:40] + b"\xff" + SNAPSHOT[41:]),
    # The checksum is right, but no such count may be.
    ("producers", bytes.fromhex("0001 ffffffff ffffffff")),
    ("producers", bytes.fromhex("0001 ad5f36c0 7fffffff")),
    ("producers", b"\0" * 64),
]


def described(kind: str, content: bytes) -> str:
    """What our reader says of a file."""
    try:
        return f"says {KINDS[kind].said(KINDS[kind].parse(content))}"
    except Malformed as fault:
        return f"{type(fault).__name__}: {fault}"
