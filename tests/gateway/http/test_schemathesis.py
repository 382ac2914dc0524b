"""A running gateway against its own document, with requests that schemathesis makes of it.

No answer is a failure of ours, and none is one that the document does not tell: status, media type,
headers, body. Requests fit the document, or break it on purpose.
"""

from __future__ import annotations

import json  # writes what ours would refuse
import os
import urllib.request
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from blockwire.gateway.access.auth import SCOPES
from blockwire.jsontext import decode_json
from tests.gateway.http.callbook import CALLBOOK, ROUTES
from tests.support.programs import Gateway, environment, run

EXAMPLES: Final = int(os.environ.get("SCHEMA_EXAMPLES", "0"))
"""For a long run: so many requests to each route, instead of those of the profile."""

pytestmark = pytest.mark.timeout(3600 if EXAMPLES else 600)

CHECKS: Final[Any] = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
)


class Guarded(NamedTuple):
    """A gateway, and a token that may do everything."""

    gateway: Gateway
    headers: dict[str, str]


@schemathesis.serializer("application/x-ndjson")
def ndjson(_context: schemathesis.SerializationContext, value: Any) -> bytes:
    """Return a value as one line, or the bytes that it is; no encoder of ours would break so much."""
    if isinstance(value, bytes):
        return value
    return json.dumps(value, ensure_ascii=True).encode() + b"\n"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    home = tmp_path_factory.mktemp("home")
    env = environment(home)
    made = run("token", "create", "all", "--scope", ",".join(SCOPES), env=env)
    headers = {"authorization": f"Bearer {made.stdout.decode().strip()}"}
    with Gateway(env, "--engine", "external", cwd=home) as gateway:
        yield Guarded(gateway, headers)


@pytest.fixture(scope="module")
def places(guarded: Guarded) -> dict[str, str]:
    """Parameters of paths that exist, which no random text would ever hit."""
    conversation = post(guarded, "/v1/conversations", b"{}")
    path = f"/v1/conversations/{conversation}"
    post(guarded, f"{path}/messages", b'{"role":"user","content":"Hello"}')
    turn = post(guarded, f"{path}/turns", b'{"content":"x"}')
    return {"conversation_id": conversation, "turn_id": turn, "name": "block.json"}


def post(guarded: Guarded, path: str, body: bytes) -> str:
    """Return the id of what was made."""
    headers = {"content-type": "application/json", **guarded.headers}
    request = urllib.request.Request(guarded.gateway.url + path, data=body, headers=headers)
    with urllib.request.urlopen(request) as answer:
        made: Any = decode_json(answer.read())
    return str(made["id"])


def tame(case: Any, places: dict[str, str], *, knows: bool) -> None:
    """Let a request end: no stream, no long wait; perhaps let it meet what is there."""
    name = case.operation.definition.raw["operationId"]
    if knows and case.path_parameters:
        case.path_parameters = {
            **case.path_parameters,
            **{key: value for key, value in places.items() if key in case.path_parameters},
        }
    if "wait" in (case.query or {}):
        case.query["wait"] = "0"
    if CALLBOOK[name].is_stream:
        case.headers = {**(case.headers or {}), "accept": "application/json"}


@pytest.mark.slow
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
@pytest.mark.parametrize("name", sorted(ROUTES))
@pytest.mark.requirement("gateway:routes:openapi")
def test_no_request_is_answered_in_a_way_that_the_document_does_not_tell(
    guarded: Guarded, places: dict[str, str], name: str, mode: GenerationMode
) -> None:
    gateway = guarded.gateway
    schema = schemathesis.openapi.from_url(f"{gateway.url}/openapi.json")
    operation = schema.find_operation_by_id(name)
    profile = settings.default.max_examples if settings.default is not None else 50

    @settings(
        max_examples=EXAMPLES or max(profile // 10, 10),
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def attack(case: Any) -> None:
        for knows in (False, True):
            tame(case, places, knows=knows)
            response = case.call(base_url=gateway.url, headers=guarded.headers, timeout=20)
            case.validate_response(response, checks=CHECKS)

    try:
        attack()
    except Unsatisfiable:
        # Nothing can be wrong with a request that says nothing but text in its path.
        route = ROUTES[name]
        assert mode == GenerationMode.NEGATIVE
        assert not route.parameters
        assert not route.request
    assert gateway.process.poll() is None
