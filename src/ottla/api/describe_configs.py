"""Showing settings of topics, brokers and other resources."""

from ottla.wire.fields import Message, Struct, field, int8, int16, int32


class DescribeConfigsRequest(Message, key=32, versions="0-4", flexible="4+"):
    """Ask for the settings of some resources."""

    class Resource(Struct):
        resource_type: int8
        resource_name: str
        configuration_keys: list[str] | None  # Null for all.

    resources: list[Resource]
    include_synonyms: bool = field("1+", default=False)
    include_documentation: bool = field("3+", default=False)


class DescribeConfigsResponse(Message, key=32, versions="0-4", flexible="4+"):
    """Each resource's settings and where their values come from."""

    class Resource(Struct):
        class Config(Struct):
            class Synonym(Struct):
                name: str
                value: str | None
                source: int8

            name: str
            value: str | None  # Null if it is a secret.
            read_only: bool
            # Version 0 says this instead of the source.
            is_default: bool = field("0", default=False)
            config_source: int8 = field("1+", default=-1, ignorable=True)
            is_sensitive: bool
            # Where else a value is set, strongest first.
            synonyms: list[Synonym] = field("1+", default_factory=list, ignorable=True)
            config_type: int8 = field("3+", default=0, ignorable=True)
            documentation: str | None = field("3+", default="", ignorable=True)

        error_code: int16
        error_message: str | None
        resource_type: int8
        resource_name: str
        configs: list[Config]

    throttle_time_ms: int32
    results: list[Resource]
