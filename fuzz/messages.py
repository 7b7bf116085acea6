"""Targets: requests, responses and the messages within records, with the frames around them."""

from collections.abc import Iterator
from random import Random
from typing import Final

from fuzz.target import SLACK_BYTES, Target
from ottla.api.apis import (
    APIS,
    request_class,
    request_header_version,
    response_class,
    response_header_version,
)
from ottla.api.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from ottla.api.control_records import (
    QUORUM_RECORDS,
    ControlType,
    read_control_key,
    read_end_of_transaction,
    read_quorum_record,
    write_control_key,
    write_end_of_transaction,
)
from ottla.api.coordinator_records import read_record, write_record
from ottla.api.framed_records import read_framed, write_framed
from ottla.api.group_records import GROUP_RECORDS
from ottla.api.metadata_records import METADATA_RECORDS
from ottla.api.principal import DefaultPrincipal
from ottla.api.remote_log_records import REMOTE_LOG_RECORDS
from ottla.api.share_records import SHARE_RECORDS
from ottla.api.transaction_records import TRANSACTION_RECORDS
from ottla.api.version_prefixed import read_prefixed, write_prefixed
from ottla.records.control import ControlKey, EndMarker
from ottla.wire.codec import decode, decode_prefix, encode, encode_frame
from ottla.wire.fields import Buffer, Message
from ottla.wire.frame import SIZE_BYTES, frame_end, request_identity
from ottla.wire.header import RequestHeader, ResponseHeader
from tests.unit.api.filler import filled, plain

FRAME_BYTES_MAX: Final = 1 << 20
PAIRS: Final = (GROUP_RECORDS, TRANSACTION_RECORDS, SHARE_RECORDS)
CLASSES: Final = (METADATA_RECORDS, REMOTE_LOG_RECORDS)
PREFIXED: Final = (ConsumerProtocolSubscription, ConsumerProtocolAssignment, DefaultPrincipal)
KEYS: Final = tuple(APIS)
# An object costs about a hundred times the byte that may be all it has on the wire, some more; and
# those who read records leave the decoder its usual slack, which small inputs do not use up.
RECORD_RATIO_MAX: Final = 1000

_Read = tuple[Message, int] | None


def comes_back(read: _Read) -> None:
    """What was decoded can be written in the same version, and is then read as the same bytes."""
    if read is None:
        return
    message, version = read
    written = encode(message, version)
    again = encode(decode(type(message), written, version), version)
    assert again == written, "a decoded message is not read as it is written"


def read_request(data: Buffer) -> _Read:
    """What a connection does with the bytes that it received."""
    end = frame_end(data, 0, len(data), FRAME_BYTES_MAX)
    if end is None or end > len(data):
        return None
    frame = data[SIZE_BYTES:end]
    key, version, _ = request_identity(frame)
    if key not in APIS:
        return None
    header_version = request_header_version(key, version)
    _, start = decode_prefix(RequestHeader, frame, header_version, slack_bytes=SLACK_BYTES)
    cls = request_class(key)
    return decode_prefix(cls, frame, version, start, slack_bytes=SLACK_BYTES)[0], version


def request_seeds() -> Iterator[bytes]:
    random = Random(1)
    for key, api in APIS.items():
        cls = request_class(key)
        for version in cls.versions:
            header = RequestHeader(
                request_api_key=key,
                request_api_version=version,
                correlation_id=random.getrandbits(31),
                client_id=random.choice([None, "", "client"]),
            )
            for message in (filled(cls, version, random), plain(cls, version)):
                parts = encode_frame(header, 2 if version in api.flexible else 1, message, version)
                yield b"".join(parts)


def repair_request(data: bytearray, random: Random) -> bytearray:
    """The right size nearly always, an API that there is mostly."""
    if len(data) < 8 or random.random() < 0.05:
        return data
    data[:4] = (len(data) - 4).to_bytes(4, "big")
    repair_api(data, random, 4)
    return data


def repair_api(data: bytearray, random: Random, at: int) -> None:
    key = int.from_bytes(data[at : at + 2], "big")
    if key not in APIS and random.random() < 0.9:
        key = random.choice(KEYS)
        data[at : at + 2] = key.to_bytes(2, "big")
    if key in APIS and len(data) > at + 3 and random.random() < 0.9:
        versions = APIS[key].versions
        version = int.from_bytes(data[at + 2 : at + 4], "big")
        if version not in versions:
            version = random.randint(versions.first, versions.last)
            data[at + 2 : at + 4] = version.to_bytes(2, "big")


def read_response(data: Buffer) -> _Read:
    """What a client, or another node, does with an answer to what it asked: key and version."""
    key = int.from_bytes(data[:2], "big")
    version = int.from_bytes(data[2:4], "big")
    if key not in APIS or version not in APIS[key].versions:
        return None
    header_version = response_header_version(key, version)
    _, start = decode_prefix(ResponseHeader, data, header_version, 4, slack_bytes=SLACK_BYTES)
    cls = response_class(key)
    return decode_prefix(cls, data, version, start, slack_bytes=SLACK_BYTES)[0], version


def response_seeds() -> Iterator[bytes]:
    random = Random(2)
    for key in APIS:
        cls = response_class(key)
        for version in cls.versions:
            header = encode(ResponseHeader(correlation_id=7), response_header_version(key, version))
            for message in (filled(cls, version, random), plain(cls, version)):
                asked = key.to_bytes(2, "big") + version.to_bytes(2, "big")
                yield asked + header + encode(message, version)


def repair_response(data: bytearray, random: Random) -> bytearray:
    if len(data) >= 4:
        repair_api(data, random, 0)
    return data


def read_coordinator_record(data: Buffer) -> object:
    """One byte says which log and whether there is a value, the next how long the key is."""
    chosen, key_bytes = (data[0], data[1]) if len(data) >= 2 else (0, 0)
    key = None if key_bytes == 255 else data[2 : 2 + key_bytes]
    value = None if chosen >= 128 else data[2 + key_bytes :]
    return read_record(PAIRS[chosen % len(PAIRS)], key, value)


def coordinator_seeds() -> Iterator[bytes]:
    random = Random(3)
    for chosen, pairs in enumerate(PAIRS):
        for key_class, value_class in pairs.values():
            for version in value_class.versions:
                fact = filled(value_class, version, random)
                key, value = write_record(filled(key_class, 0, random), fact, version)
                if len(key) < 255:
                    yield bytes([chosen, len(key)]) + key + (value or b"")
                    yield bytes([chosen + 3 * 60, len(key)]) + key


def read_framed_record(data: Buffer) -> object:
    """One byte says which log."""
    return read_framed(CLASSES[data[0] % 2 if data else 0], data[1:])


def framed_seeds() -> Iterator[bytes]:
    random = Random(4)
    for chosen, classes in enumerate(CLASSES):
        for cls in classes.values():
            for version in cls.versions:
                for _ in range(2):
                    yield bytes([chosen]) + write_framed(filled(cls, version, random), version)


def read_prefixed_message(data: Buffer) -> object:
    """One byte says which message, and whether a newer one is read as the newest known."""
    chosen = data[0] if data else 0
    return read_prefixed(PREFIXED[chosen % 3], data[1:], newer_as_newest=chosen >= 128)


def prefixed_seeds() -> Iterator[bytes]:
    random = Random(5)
    for chosen, cls in enumerate(PREFIXED):
        for version in cls.versions:
            for flags in (0, 3 * 50):
                message = filled(cls, version, random)
                yield bytes([chosen + flags]) + write_prefixed(message, version)


def read_control_record(data: Buffer) -> object:
    """One byte says what of a control record these bytes are, and of which type it is."""
    chosen, content = data[0] if data else 0, data[1:]
    if chosen % 8 == 0:
        return read_control_key(content)
    if chosen % 8 == 1:
        return read_end_of_transaction(content)
    if chosen % 8 == 2:
        return ControlKey.parse(content)
    if chosen % 8 == 3:
        return EndMarker.parse(content)
    return read_quorum_record(tuple(QUORUM_RECORDS)[chosen % 5], content)


def control_seeds() -> Iterator[bytes]:
    random = Random(6)
    for type_ in ControlType:
        yield b"\0" + write_control_key(type_)
        yield b"\2" + write_control_key(type_)
    yield b"\1" + write_end_of_transaction(7)
    yield b"\3" + write_end_of_transaction(7)
    for number, cls in enumerate(QUORUM_RECORDS.values()):
        chosen = next(one for one in range(256) if one % 5 == number and one % 8 > 3)
        for version in cls.versions:
            for _ in range(4):
                record = filled(cls, version, random)
                yield bytes([chosen]) + version.to_bytes(2, "big") + encode(record, version)[2:]


TARGETS: Final = (
    Target("requests", read_request, request_seeds, check=comes_back, repair=repair_request,
           share=30),
    Target("responses", read_response, response_seeds, check=comes_back, repair=repair_response,
           share=25),
    Target("coordinator_records", read_coordinator_record, coordinator_seeds,
           ratio_max=RECORD_RATIO_MAX),
    Target("framed_records", read_framed_record, framed_seeds, ratio_max=RECORD_RATIO_MAX),
    Target("prefixed_messages", read_prefixed_message, prefixed_seeds, ratio_max=RECORD_RATIO_MAX,
           share=5),
    Target("control_records", read_control_record, control_seeds, ratio_max=RECORD_RATIO_MAX,
           share=5),
)  # fmt: skip
