"""Batches, records and damage of a log as objects for JSON, and as lines for people."""

from dataclasses import dataclass
from typing import Final

from ottla.cli.log.batches import Batch, Damage
from ottla.cli.log.choices import Form
from ottla.cli.log.decoding import Decoded
from ottla.cli.log.values import Object, as_line, as_object, cut, escaped, json_line
from ottla.cli.quantities import shown_count
from ottla.cli.times import shown_time
from ottla.records.batch import (
    APPEND_TIME_BIT,
    CODEC_BITS,
    CONTROL_BIT,
    DELETE_HORIZON_BIT,
    SEQUENCE_MAX,
    TRANSACTIONAL_BIT,
)
from ottla.records.compression import Codec
from ottla.records.reader import Record

CELL_CHARACTERS_MAX: Final = 200
"""How much of a key or value is shown on a terminal, unless all of it is asked for."""


@dataclass(frozen=True, slots=True)
class Forms:
    """How keys and values are shown, and how much of them."""

    key: Form = Form.AUTO
    value: Form = Form.AUTO
    characters_max: int | None = None


def codec_name(batch: Batch) -> str:
    """The codec of a batch, or its number if there is none."""
    bits = CODEC_BITS if batch.row.magic == 2 else 0b11
    number = batch.row.attributes & bits
    return Codec(number).name.lower() if number in tuple(Codec) else f"codec {number}"


def timestamp_type(batch: Batch) -> str | None:
    """Whose clock the times are of; magic 0 has none."""
    if batch.row.magic == 0:
        return None
    return "append" if batch.row.attributes & APPEND_TIME_BIT else "create"


def last_sequence(batch: Batch) -> int:
    """The last record's sequence; -1 is none."""
    row = batch.row
    if row.base_sequence < 0:
        return -1
    return (row.base_sequence + row.last_offset - row.base_offset) & SEQUENCE_MAX


def batch_object(batch: Batch) -> Object:
    """A batch by its header."""
    row = batch.row
    flags = row.attributes if row.magic == 2 else 0
    return {
        "type": "batch",
        "position": batch.position,
        "size_bytes": row.size_bytes,
        "magic": row.magic,
        "base_offset": row.base_offset,
        "last_offset": row.last_offset,
        "records_count": None if row.magic < 2 else row.records_count,
        "codec": codec_name(batch),
        "timestamp_type": timestamp_type(batch),
        "base_timestamp": row.base_timestamp,
        "max_timestamp": row.max_timestamp,
        "leader_epoch": row.partition_leader_epoch,
        "producer_id": row.producer_id,
        "producer_epoch": row.producer_epoch,
        "base_sequence": row.base_sequence,
        "last_sequence": last_sequence(batch),
        "is_transactional": flags & TRANSACTIONAL_BIT != 0,
        "is_control": flags & CONTROL_BIT != 0,
        "delete_horizon_ms": row.base_timestamp if flags & DELETE_HORIZON_BIT else None,
        "crc": f"{row.crc:08x}",
        "faults": list(batch.faults),
    }


def batch_line(batch: Batch) -> str:
    """A batch on one line; what is usual is left unsaid."""
    row = batch.row
    offsets = f"{row.base_offset}"
    if row.last_offset != row.base_offset:
        offsets += f"..{row.last_offset}"
    words = [f"offset {offsets}"]
    if row.magic == 2:
        words.append(shown_count(row.records_count, "record"))
    else:
        words.append(f"magic {row.magic}")
    words.append(f"{shown_time(row.max_timestamp)}{_append_mark(batch)}")
    words.append(f"{row.size_bytes} B at {batch.position}")
    words += _marks(batch)
    return "  ".join(words)


def _append_mark(batch: Batch) -> str:
    return " (append)" if timestamp_type(batch) == "append" else ""


def _marks(batch: Batch) -> list[str]:
    """What not every batch has."""
    row = batch.row
    marks: list[str] = []
    if codec_name(batch) != "none":
        marks.append(codec_name(batch))
    if row.partition_leader_epoch >= 0:
        marks.append(f"epoch {row.partition_leader_epoch}")
    if row.producer_id >= 0:
        marks.append(f"producer {row.producer_id}/{row.producer_epoch}")
    if row.base_sequence >= 0:
        marks.append(f"sequence {row.base_sequence}..{last_sequence(batch)}")
    if row.magic == 2:
        flags = row.attributes
        marks += ["transactional"] if flags & TRANSACTIONAL_BIT else []
        marks += ["control"] if flags & CONTROL_BIT else []
        if flags & DELETE_HORIZON_BIT:
            marks.append(f"delete horizon {shown_time(row.base_timestamp)}")
    return marks


def damage_object(damage: Damage) -> Object:
    """Bytes that are no batch."""
    return {
        "type": "zeros" if damage.is_zeros else "damage",
        "position": damage.position,
        "size_bytes": damage.size_bytes,
        "reason": damage.reason,
    }


def record_object(batch: Batch, record: Record, decoded: Decoded | None, forms: Forms) -> Object:
    """A record, with what its batch says of it."""
    row = batch.row
    key, value = as_object(record.key, forms.key), as_object(record.value, forms.value)
    sequence = last_sequence(batch)
    if sequence >= 0:
        sequence = (row.base_sequence + record.offset - row.base_offset) & SEQUENCE_MAX
    found: Object = {
        "type": "record",
        "position": batch.position,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "timestamp_type": timestamp_type(batch),
        "key": key.value,
        "key_form": key.form,
        "value": value.value,
        "value_form": value.form,
        "headers": [_header(name, held) for name, held in record.headers],
        "leader_epoch": row.partition_leader_epoch,
        "producer_id": row.producer_id,
        "producer_epoch": row.producer_epoch,
        "sequence": sequence,
        "is_transactional": row.magic == 2 and row.attributes & TRANSACTIONAL_BIT != 0,
        "is_control": row.magic == 2 and row.attributes & CONTROL_BIT != 0,
    }
    if decoded is not None:
        found["decoded"] = decoded
    return found


def _header(name: str, held: bytes | bytearray | memoryview | None) -> Object:
    shown = as_object(held, Form.AUTO)
    return {"name": name, "value": shown.value, "form": shown.form}


def record_line(record: Record, decoded: Decoded | None, forms: Forms) -> str:
    """A record on one line: offset, time, key, value, headers; or what it says, if decoded."""
    front = f"{record.offset}  {shown_time(record.timestamp)}  "
    if decoded is not None:
        return front + cut(decoded_line(decoded), forms.characters_max)
    key = cut(as_line(record.key, forms.key), forms.characters_max)
    value = cut(as_line(record.value, forms.value), forms.characters_max)
    headers = "  ".join(
        f"{escaped(name)}={cut(as_line(held, Form.AUTO), forms.characters_max)}"
        for name, held in record.headers
    )
    return f"{front}{key}  {value}" + (f"  [{headers}]" if headers else "")


def decoded_line(decoded: Decoded) -> str:
    """What a record says: its type, what it is about, and the facts; null deletes them."""
    words = [str(decoded["type"])]
    if decoded.get("version"):
        words[0] += f" v{decoded['version']}"
    words += [json_line(decoded[part]) for part in ("key", "data") if part in decoded]
    return escaped(" ".join(words))
