"""An error says a stable code to programs, one sentence to people, and where."""

import copy
import pickle

import pytest

from blockwire.errors import (
    BlockwireError,
    BusError,
    EngineError,
    LocalProtocolError,
    RemoteProtocolError,
    StoreError,
)

KINDS: list[type[BlockwireError]] = [
    LocalProtocolError,
    RemoteProtocolError,
    EngineError,
    StoreError,
    BusError,
]


@pytest.mark.parametrize("kind", KINDS)
def test_whoever_catches_the_root_catches_every_kind_and_no_kind_is_another(
    kind: type[BlockwireError],
) -> None:
    with pytest.raises(BlockwireError) as caught:
        raise kind("some_code", "Something happened.")

    assert caught.type is kind
    assert [other for other in KINDS if issubclass(kind, other)] == [kind]


def test_an_error_is_final_and_without_a_place_unless_it_says_otherwise() -> None:
    error = RemoteProtocolError("invalid_json", "A brace is missing.")

    assert (error.code, error.detail) == ("invalid_json", "A brace is missing.")
    assert error.retryable is False
    assert error.pointer is None


@pytest.mark.parametrize(
    ("pointer", "shown"),
    [
        (None, "invalid_block: No type."),
        ("/blocks/0", "invalid_block at /blocks/0: No type."),
        # RFC 6901: the empty pointer is the whole document.
        ("", "invalid_block at /: No type."),
    ],
)
def test_the_sentence_names_code_and_place(pointer: str | None, shown: str) -> None:
    error = RemoteProtocolError("invalid_block", "No type.", pointer=pointer)

    assert str(error) == shown


@pytest.mark.parametrize("duplicate", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_an_error_survives_a_copy_into_another_process(duplicate: object) -> None:
    error = StoreError("store_busy", "Try again.", retryable=True, pointer="/turns/0")

    assert callable(duplicate)
    copied = duplicate(error)

    assert type(copied) is StoreError
    assert vars(copied) == vars(error)
    assert str(copied) == str(error)
