"""Print how quick each codec is, both ways, against the libraries that it could have been built on.

Run: python bench/compression.py. Candidates that are not installed are left out; to have them all:
pip install lz4 isal zlib-ng backports.zstd.
"""

import json
import random
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from types import ModuleType

from ottla.records.compression import Codec, compress, decompress, decompress_into

Candidate = tuple[str, Callable[[bytes], bytes], Callable[[bytes], object]]


def text(size: int) -> bytes:
    """Records as an application might log them: words and numbers as JSON."""
    chance = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=chance.randint(3, 9))) for _ in range(2000)]
    parts: list[str] = []
    total = 0
    while total < size:
        record = {
            "id": chance.randrange(10**9),
            "user": chance.choice(words),
            "event": chance.choice(words[:20]),
            "message": " ".join(chance.choices(words, k=6)),
        }
        parts.append(json.dumps(record))
        total += len(parts[-1])
    return "".join(parts).encode()[:size]


def best_seconds(call: Callable[[], object], count: int) -> float:
    """The least time of one call, of several rounds."""
    rounds: list[float] = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(count):
            call()
        rounds.append((time.perf_counter() - start) / count)
    return min(rounds)


def module(name: str) -> ModuleType | None:
    """A library, if it is there."""
    with suppress(ImportError):
        return import_module(name)
    return None


def ours(content: bytes) -> list[Candidate]:
    """What Ottla uses, into new bytes and into a buffer that is there."""
    room = bytearray(len(content))
    found: list[Candidate] = []
    for codec in list(Codec)[1:]:

        def write(data: bytes, codec: Codec = codec) -> bytes:
            return compress(codec, data)

        def read(data: bytes, codec: Codec = codec) -> bytes:
            return decompress(codec, data, len(content))

        def read_into(data: bytes, codec: Codec = codec) -> int:
            return decompress_into(codec, data, room)

        found.append((f"ottla {codec.name.lower()}", write, read))
        found.append((f"ottla {codec.name.lower()} into", write, read_into))
    return found


def others(content: bytes) -> list[Candidate]:
    """The libraries on their own, with nothing bounded that they do not bound themselves."""
    found: list[Candidate] = []
    limit = len(content) + 1
    for name in ("isal.isal_zlib", "zlib_ng.zlib_ng"):
        if (library := module(name)) is not None:

            def inflate(data: bytes, library: ModuleType = library) -> object:
                return library.decompressobj(31).decompress(data, limit)

            found.append((name, gzipped, inflate))
    if (lz4 := module("lz4.frame")) is not None:

        def write_lz4(data: bytes) -> bytes:
            return lz4.compress(data, block_linked=False, store_size=False)

        def read_lz4(data: bytes) -> object:
            return lz4.LZ4FrameDecompressor().decompress(data, limit)

        found.append(("lz4.frame", write_lz4, read_lz4))
    cramjam = import_module("cramjam")
    room = bytearray(len(content))
    found.append(
        (
            "cramjam.lz4 frame",
            lambda data: bytes(cramjam.lz4.compress(data, level=0)),
            lambda data: cramjam.lz4.decompress_into(data, room),
        )
    )
    found.append(
        (
            "cramjam.zstd",
            lambda data: bytes(cramjam.zstd.compress(data, 3)),
            lambda data: cramjam.zstd.decompress_into(data, room),
        )
    )
    if (zstd := module("compression.zstd") or module("backports.zstd")) is not None:
        found.append(
            (
                zstd.__name__,
                lambda data: zstd.compress(data, 3),
                lambda data: zstd.ZstdDecompressor().decompress(data, limit),
            )
        )
    return found


def gzipped(data: bytes) -> bytes:
    """The standard library's gzip."""
    stream = zlib.compressobj(6, zlib.DEFLATED, 31)
    return stream.compress(data) + stream.flush()


def main() -> None:
    """Measure all candidates on a small and a large block."""
    print("size     candidate                 ratio  compress  decompress  of compressed  (MB/s)")
    for size, count in ((16 * 1024, 100), (1 << 20, 3)):
        content = text(size)
        for name, write, read in [*ours(content), *others(content)]:
            compressed = write(content)
            written = best_seconds(lambda: write(content), max(1, count // 3))  # noqa: B023  Called at once.
            taken = best_seconds(lambda: read(compressed), count)  # noqa: B023  Called at once.
            print(
                f"{size:<8} {name:25} {size / len(compressed):5.2f} {size / written / 1e6:9.0f}"
                f" {size / taken / 1e6:11.0f} {len(compressed) / taken / 1e6:14.0f}"
            )


if __name__ == "__main__":
    main()
