"""Sizes, counts and durations as people read them."""

from typing import Final

_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def shown_size(size_bytes: float) -> str:
    """Bytes with the unit that makes the number short: `17 B`, `1.5 MiB`."""
    unit = 0
    while size_bytes >= 1024 and unit < len(_UNITS) - 1:
        size_bytes /= 1024
        unit += 1
    digits = 0 if unit == 0 or size_bytes >= 100 else 1
    return f"{size_bytes:.{digits}f} {_UNITS[unit]}"


def shown_count(count: int, noun: str, plural: str = "") -> str:
    """How many of something: `1 record`, `1,234 records`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def shown_duration(seconds: float) -> str:
    """A time span with two units at most: `9s`, `3m05s`, `2h10m`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    if whole < 100 * 3600:
        return f"{whole // 3600}h{whole % 3600 // 60:02}m"
    return f"{whole // 86400}d"
