"""The table of APIs says what the classes say, and loads none of them."""

import subprocess
import sys

import pytest

from ottla.api.apis import (
    APIS,
    request_class,
    request_header_version,
    response_class,
    response_header_version,
)

KEYS = sorted(APIS)


def test_there_are_91() -> None:
    assert len(KEYS) == 91
    assert [*range(4), *range(8, 95)] == KEYS


@pytest.mark.parametrize("key", KEYS)
def test_a_row_is_what_its_classes_say(key: int) -> None:
    api = APIS[key]
    for cls, kind in ((request_class(key), "Request"), (response_class(key), "Response")):
        assert cls.__name__ == api.name + kind
        assert cls.__module__ == f"ottla.api.{api.module}"
        assert (cls.api_key, cls.versions, cls.flexible) == (key, api.versions, api.flexible)


def test_a_key_of_the_time_of_zookeeper_is_not_in_the_table() -> None:
    with pytest.raises(KeyError):
        request_class(4)


def test_flexible_versions_have_flexible_headers() -> None:
    assert [request_header_version(1, version) for version in (0, 11, 12, 18)] == [1, 1, 2, 2]
    assert [response_header_version(1, version) for version in (0, 11, 12, 18)] == [0, 0, 1, 1]
    assert (request_header_version(17, 1), response_header_version(17, 1)) == (1, 0)


def test_the_answer_to_api_versions_can_be_read_by_everyone() -> None:
    assert [response_header_version(18, version) for version in range(6)] == [0] * 6
    assert [request_header_version(18, version) for version in (2, 3, 99)] == [1, 2, 2]


@pytest.mark.parametrize("module", ["ottla", "ottla.api.apis"])
def test_no_message_is_loaded_before_it_is_asked_for(module: str) -> None:
    allowed = {"ottla.api.apis"} if module == "ottla.api.apis" else set[str]()
    code = f"import sys, {module}; print(*(m for m in sys.modules if m.startswith('ottla.api.')))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert set(done.stdout.split()) == allowed
