"""The document against the running application: neither says anything that the other does not."""

from __future__ import annotations

from typing import Any, Final

import jsonschema
import msgspec
import pytest

from blockwire.gateway.http.openapi import openapi_document, published_schemas
from blockwire.gateway.routes import OPERATIONS
from blockwire.jsontext import decode_json, encode_json
from tests.archives.samples import archive_lines
from tests.gateway.core.world import FAST
from tests.gateway.http.callbook import CALLBOOK, ROUTES, arguments_of, filled, target_of
from tests.gateway.http.surface import json_of, peers, surface

pytestmark = pytest.mark.anyio

DOCUMENT: Final[Any] = openapi_document(OPERATIONS)
REFERENCE: Final = "#/components/schemas/"

METHODS: Final = ("get", "post", "patch", "delete")
ROWS: Final = [
    (path, method)
    for path, item in DOCUMENT["paths"].items()
    for method in METHODS
    if method in item
]


def check(value: Any, name: str) -> None:
    """Check ``value`` against a schema of the document, references resolved in it."""
    schema = {"$ref": REFERENCE + name, "components": DOCUMENT["components"]}
    jsonschema.Draft202012Validator(schema).validate(value)


def test_every_route_has_a_row() -> None:
    assert CALLBOOK.keys() == ROUTES.keys()


def test_the_document_is_made_of_valid_schemas() -> None:
    for schema in DOCUMENT["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    assert DOCUMENT["openapi"] == "3.1.0"
    ids = [DOCUMENT["paths"][path][method]["operationId"] for path, method in ROWS]
    assert len(set(ids)) == len(ids) == len(OPERATIONS)


def test_every_reference_leads_somewhere() -> None:
    text = encode_json(DOCUMENT).decode()

    names = {part.split('"')[0] for part in text.split(REFERENCE)[1:]}

    assert names <= DOCUMENT["components"]["schemas"].keys()


def test_no_row_names_a_code_twice() -> None:
    for operation in OPERATIONS:
        assert len(set(operation.all_errors)) == len(operation.all_errors), operation.id


async def test_the_running_gateway_serves_this_document() -> None:
    async with surface() as s:
        assert json_of(await s.client.get("/openapi.json")) == DOCUMENT


@pytest.mark.parametrize(("path", "method"), ROWS)
@pytest.mark.requirement("gateway:routes:openapi")
async def test_every_route_of_the_document_answers_as_it_says(path: str, method: str) -> None:
    operation = DOCUMENT["paths"][path][method]
    async with surface() as s, peers(s.app) as connect:
        how = CALLBOOK[operation["operationId"]]
        target = target_of(operation["operationId"], await filled(s))
        if how.is_stream:
            peer = await connect(target.url)
            await peer.until_ended()
            assert peer.headers["content-type"] == "text/event-stream"
            for value in peer.values[1:]:
                check(value, "event")
            return

        response = await s.client.request(**arguments_of(target))

        described = operation["responses"][str(response.status_code)]
        content_types = described.get("content", {})
        if not content_types:
            assert response.content == b""
            return
        answered = response.headers["content-type"].partition(";")[0]
        schema = content_types.get(answered, content_types.get("*/*")).get("schema")
        if schema is not None:
            check(json_of(response), schema["$ref"].removeprefix(REFERENCE))


@pytest.mark.parametrize(("path", "method"), ROWS)
async def test_every_route_refuses_unknown_parameters_in_the_shape_of_an_error(
    path: str, method: str
) -> None:
    async with surface() as s:
        url = path.format(**await filled(s))

        response = await s.client.request(method, url + "?no_such_parameter=1")

        error = json_of(response)
        check(error, "error")
        described = DOCUMENT["paths"][path][method]["responses"]["400"]
        assert error["error"]["code"] in described["x-codes"]


@pytest.mark.parametrize(
    ("path", "method"),
    # The content of a file may be anything.
    [row for row in ROWS if row[1] != "get" and not row[0].endswith("/attachments")],
)
@pytest.mark.parametrize("body", [b'{"no_such_member":1}\n', b"no JSON\n"])
async def test_every_route_refuses_a_wrong_body_as_it_says(
    path: str, method: str, body: bytes
) -> None:
    operation = DOCUMENT["paths"][path][method]
    content = operation.get("requestBody", {}).get("content", {"application/json": {}})
    async with surface() as s:
        target = target_of(operation["operationId"], await filled(s))
        arguments = {
            **arguments_of(target),
            "content": body,
            "headers": {"content-type": next(iter(content))},
        }

        response = await s.client.request(**arguments)

        assert response.status_code >= 400
        described = operation["responses"][str(response.status_code)]
        assert json_of(response)["error"]["code"] in described["x-codes"]


@pytest.mark.parametrize(
    ("bound", "code"),
    [
        ("attachment_bytes_max", "attachment_too_large"),
        ("attachments_tenant_bytes_max", "quota_exceeded"),
        ("attachments_bytes_max", "storage_exceeded"),
    ],
)
async def test_an_import_without_room_for_its_files_is_refused_as_it_says(
    bound: str, code: str
) -> None:
    settings = msgspec.structs.replace(FAST, **{bound: 1})
    async with surface(settings=settings) as s:
        response = await s.client.post(
            "/v1/import",
            content=b"".join(archive_lines()),
            headers={"content-type": "application/x-ndjson"},
        )

    assert json_of(response)["error"]["code"] == code
    described = DOCUMENT["paths"]["/v1/import"]["post"]["responses"]
    assert code in described[str(response.status_code)]["x-codes"]


@pytest.mark.parametrize(("path", "method"), ROWS)
async def test_bodies_of_requests_fit_their_schemas(path: str, method: str) -> None:
    operation = DOCUMENT["paths"][path][method]
    content = operation.get("requestBody", {}).get("content", {})
    if not content:
        assert not CALLBOOK[operation["operationId"]].body
        return
    schema = next(iter(content.values()))["schema"]["$ref"].removeprefix(REFERENCE)

    body = target_of(operation["operationId"], {"turn_id": "turn_1"}).content
    check(decode_json(body.splitlines()[0]), schema)


async def test_pages_of_events_fit_their_schema_too() -> None:
    async with surface() as s:
        conversation_id = (await filled(s))["conversation_id"]
        url = f"/v1/conversations/{conversation_id}/events"

        response = await s.client.get(url, headers={"accept": "application/json"})

        check(json_of(response), "event_page")


async def test_every_schema_is_published_whole() -> None:
    given: Any = {"$id": "urn:x", "$defs": {"x": {"type": "string"}}, "$ref": "#/$defs/x"}
    async with surface(schemas={"mine": given}) as s:
        for name, schema in {**published_schemas(), "mine": given}.items():
            response = await s.client.get(f"/schemas/{name}.json")

            document = json_of(response)
            assert document == schema
            assert response.headers["content-type"] == "application/schema+json"
            jsonschema.Draft202012Validator.check_schema(document)
            assert REFERENCE not in response.text
            for reference in response.text.split('"$ref":"#/$defs/')[1:]:
                assert reference.split('"')[0] in document["$defs"]
        assert json_of(await s.client.get("/schemas/mine.json")) == given


def test_what_a_turn_is_read_as_fits_its_published_document() -> None:
    document = published_schemas()["conversation_turn"]

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(document).validate({"id": "turn_1"})  # type: ignore[arg-type]
