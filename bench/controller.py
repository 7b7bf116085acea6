"""What the controller's state costs: deciding, replaying, copying, writing, fencing a broker.

Run as `python -m bench.controller`; milliseconds of processor time, once each, with 10,000
partitions of three replicas in about a thousand topics.
"""

import random
import time
from collections.abc import Callable
from typing import Final

from ottla.api.create_topics import CreateTopicsRequest
from ottla.api.metadata_records import RegisterBrokerRecord
from ottla.config.known import KNOWN
from ottla.core.controller.brokers import fence
from ottla.core.controller.elections import places_with
from ottla.core.controller.state import State
from ottla.core.controller.topic_creation import decide_creation
from ottla.core.metadata.image import Image, snapshot
from ottla.core.metadata.snapshots import bootstrap_records
from ottla.wire.fields import Uuid

STATIC: Final = {
    "process.roles": "controller",
    "node.id": "0",
    "controller.listener.names": "C",
}


def timed(name: str, run: Callable[[], object]) -> None:
    """Run something once and print what it took."""
    start = time.process_time()
    run()
    print(f"{(time.process_time() - start) * 1000:8.1f} ms  {name}")


def topics(count: int, partitions: int, prefix: str) -> CreateTopicsRequest:
    """A request for some topics that are alike."""
    made = CreateTopicsRequest
    return made(
        topics=[
            made.Topic(
                name=f"{prefix}{number}",
                num_partitions=partitions,
                replication_factor=3,
                assignments=[],
                configs=[],
            )
            for number in range(count)
        ]
    )


def main() -> None:
    """Measure, in the order in which the state grows."""
    image, chance = Image(), random.Random(1)
    for record in bootstrap_records():
        image.replay(record)
    for broker in range(3):
        image.replay(
            RegisterBrokerRecord(
                broker_id=broker,
                incarnation_id=Uuid(bytes(16)),
                broker_epoch=broker,
                end_points=[],
                features=[],
                rack=None,
                fenced=False,
                log_dirs=[Uuid(bytes([broker + 9]) * 16)],
            )
        )
    state = State(image, KNOWN, STATIC)

    def create(request: CreateTopicsRequest) -> None:
        for record in decide_creation(state, request, chance).records:
            image.replay(record)

    timed("create 1 topic of 1,000 partitions", lambda: create(topics(1, 1000, "a")))
    timed("create 1,000 topics of 1 partition", lambda: create(topics(1000, 1, "b")))
    for number in range(8):
        create(topics(1, 1000, f"c{number}-"))
    timed("copy", image.copy)
    timed("write a snapshot's records", lambda: snapshot(image))
    timed("find the partitions of a broker", lambda: places_with(state, 1))
    timed("fence a broker that is in sync for all", lambda: fence(state, 1))


if __name__ == "__main__":
    main()
