"""What names an invalid message."""

from typing import Any, Final

import pytest
from hypothesis import given

from blockwire.jsontext import Json
from blockwire.terminal import OperationIdentity, RequestIdentity
from blockwire.terminal.identity import identify, is_known_version
from tests.terminal.messages import mutated
from vectors.terminal_codec_inputs import FROM_TERMINAL, MINIMAL, REQUESTS, message

IDS: Final = {
    "capability.query": ("request_id",),
    "context.open": ("request_id",),
    "context.close": ("request_id", "context_id"),
    "block.append": ("operation_id", "context_id"),
    "block.update": ("operation_id", "context_id"),
    "block.extend": ("operation_id", "context_id"),
    "block.replace_suffix": ("operation_id", "context_id"),
    "block.seal": ("operation_id", "context_id"),
}


@pytest.mark.parametrize("kind", MINIMAL)
@pytest.mark.requirement("terminal:message:identity", "terminal:message:nameless")
def test_a_message_is_named_by_the_ids_that_its_kind_requires(kind: str) -> None:
    found = identify(message(kind, body=None))

    if kind in FROM_TERMINAL:
        assert found is None
        return
    identity = RequestIdentity if kind in REQUESTS else OperationIdentity
    ids = {name: MINIMAL[kind][name] for name in IDS[kind]}
    assert found == identity(version=1, kind=kind, **ids)
    assert isinstance(found, identity)


@pytest.mark.parametrize(
    "value", [None, [], "block.seal", 1, {}, {"version": 1}, {"kind": "block.seal"}]
)
def test_what_is_no_envelope_names_nobody(value: Json) -> None:
    assert identify(value) is None


@given(mutated())
@pytest.mark.requirement("terminal:message:identity", "terminal:message:nameless")
def test_only_good_ids_of_a_known_kind_and_version_name_a_message(value: Any) -> None:
    members = value if isinstance(value, dict) else {}
    kind = members.get("kind")
    named_by = IDS.get(kind, ()) if isinstance(kind, str) else ()
    is_named = (
        type(members.get("version")) is int
        and members["version"] == 1
        and named_by != ()
        and all(isinstance(members.get(name), str) and members[name] for name in named_by)
    )

    found = identify(value)

    assert (found is not None) is is_named
    for name in named_by if found else ():
        assert getattr(found, name) == members[name]


@pytest.mark.parametrize("value", [0, 2, True, 1.0, "1", None])
def test_only_the_integer_is_the_version_that_is_spoken_here(value: Json) -> None:
    assert is_known_version(1)
    assert not is_known_version(value)
