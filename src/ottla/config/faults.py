"""What can be wrong with a setting: each error names the option, what was given, what may be."""

from collections.abc import Sequence

HIDDEN = "[hidden]"


class ConfigFault(ValueError):
    """Something that whoever wrote the settings has to mend."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.name = name
        self.reason = reason


class InvalidValue(ConfigFault):
    """A value that its option does not take; a sensitive one is not shown."""

    def __init__(self, name: str, given: str | None, allowed: str) -> None:
        shown = "null" if given is None else given if given == HIDDEN else repr(given)
        super().__init__(name, f"{shown} is not {allowed}")
        self.given = given
        self.allowed = allowed


class MissingValue(ConfigFault):
    """An option that has no default was not given."""

    def __init__(self, name: str, allowed: str) -> None:
        super().__init__(name, f"must be set to {allowed}")
        self.allowed = allowed


class NotAlterable(ConfigFault):
    """A change that the option does not take at all, or not for what it was asked for."""


class UnknownOption(ConfigFault):
    """A name that is in no table; fatal only where Kafka refuses it, else it is reported."""

    def __init__(self, name: str, suggestion: str | None) -> None:
        hint = f"; did you mean {suggestion}?" if suggestion else ""
        super().__init__(name, f"no such option{hint}")
        self.suggestion = suggestion


class InvalidSettings(ValueError):
    """Everything that is wrong with some settings at once, a line each."""

    def __init__(self, faults: Sequence[ConfigFault]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = tuple(faults)


class MalformedProperties(ValueError):
    """A .properties file that Java would refuse, with the number of the line."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason
