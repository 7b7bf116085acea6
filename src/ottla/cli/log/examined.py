"""What `ottla log recover` found of a partition, and what it did to it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ottla.cli.log.overlay_disk import Change
from ottla.cli.log.recovery_targets import Target
from ottla.kernels.faults import Malformed
from ottla.storage.recovery import Corrupt, Findings


@dataclass(slots=True)
class Examined:
    """What was found of a partition, and what would change."""

    target: Target
    checked_bytes: int = 0
    bounds: tuple[int, int] | None = None
    findings: Findings = field(default_factory=Findings)
    changes: list[Change] = field(default_factory=list[Change])
    corrupt: Corrupt | None = None
    fault: Malformed | OSError | None = None
    recovery_point: int = 0

    @property
    def is_to_be_done(self) -> bool:
        """Is there something to do, and can it be done without cutting what is corrupt?"""
        return bool(self.changes) and self.fault is None and self.corrupt is None


@dataclass(slots=True)
class Repaired:
    """What was done to a partition."""

    target: Target
    end_offset: int = 0
    kept: Sequence[str] = ()
    is_cut: bool = False
    fault: Malformed | OSError | None = None
