"""The OpenAPI 3.1 document, made of the table that the router is made of.

Spec: docs/spec/gateway/routes.md. A route that is not in the document cannot be reached, and the
other way round.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, cast

from blockwire import __version__
from blockwire.content import content_schemas
from blockwire.content.json_schema import SCHEMA_DIALECT
from blockwire.gateway.http.answer import PROTOCOL
from blockwire.gateway.http.http_errors import STATUS_BY_CODE
from blockwire.gateway.http.operation import Operation, Parameter, Response, path_parameters
from blockwire.gateway.http.wire_schemas import WIRE_SCHEMAS
from blockwire.jsontext import Json

__all__ = ["component_schemas", "openapi_document", "published_schemas"]

_REF: Final = "#/components/schemas/"
_OWN: Final = "#/$defs/"
_DOCUMENT_MEMBERS: Final = frozenset({"$schema", "$id", "$defs"})

_DESCRIPTION: Final = (
    "Conversations with agents as content blocks: submit a turn, read its answer live or whole. "
    "Errors are `{error: {code, message, retryable, pointer?}}`; switch on `code`. Every answer "
    f"carries `Blockwire-Protocol: {PROTOCOL}`; a request that names another is refused."
)


def component_schemas() -> dict[str, Json]:
    """Return the schemas of the OpenAPI document by name: those of content, and of the routes.

    Content publishes each schema with all that it refers to; here they stand side by side and
    refer to each other, because few tools resolve a document inside another.
    """
    components: dict[str, Json] = {}
    for name, schema in content_schemas().items():
        definitions = cast("dict[str, Json]", schema["$defs"])
        bare = {key: value for key, value in schema.items() if key not in _DOCUMENT_MEMBERS}
        components |= {**definitions, name: bare}
    moved = cast("dict[str, Json]", _move(components, _OWN, _REF))
    return {**moved, **cast("dict[str, Json]", dict(WIRE_SCHEMAS))}


def published_schemas() -> dict[str, Json]:
    """Return what ``/schemas/NAME.json`` answers with, by name."""
    components = component_schemas()
    documents = {name: schema_document(name, components) for name in WIRE_SCHEMAS}
    return cast("dict[str, Json]", {**content_schemas(), **documents})


def openapi_document(operations: Iterable[Operation]) -> dict[str, Json]:
    """Return the document of these operations."""
    paths: dict[str, dict[str, Json]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "jsonSchemaDialect": SCHEMA_DIALECT,
        "info": {"title": "blockwire", "version": __version__, "description": _DESCRIPTION},
        "servers": [{"url": "/"}],
        "paths": cast("dict[str, Json]", paths),
        "components": {
            "schemas": component_schemas(),
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "login": {"type": "apiKey", "in": "cookie", "name": "__Host-blockwire"},
            },
        },
    }


def schema_document(name: str, components: Mapping[str, Json]) -> dict[str, Json]:
    """Return one component as a document of its own, with what it refers to."""
    references = sorted(_references(components[name], components))
    document: dict[str, Json] = {
        "$schema": SCHEMA_DIALECT,
        **cast("dict[str, Json]", components[name]),
        "$defs": {other: components[other] for other in references},
    }
    return cast("dict[str, Json]", _move(document, _REF, _OWN))


def _references(value: Json, schemas: Mapping[str, Json]) -> set[str]:
    found: set[str] = set()
    pending: list[Json] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, list):
            pending += item
        elif isinstance(item, dict):
            reference = item.get("$ref")
            name = reference.removeprefix(_REF) if isinstance(reference, str) else ""
            if name in schemas and name not in found:
                found.add(name)
                pending.append(schemas[name])
            pending += item.values()
    return found


def _move(value: Json, source: str, target: str) -> Json:
    """Return ``value`` with every reference below ``source`` moved to ``target``."""
    if isinstance(value, list):
        return [_move(item, source, target) for item in value]
    if isinstance(value, dict):
        return {name: _move(item, source, target) for name, item in value.items()}
    if isinstance(value, str) and value.startswith(source):
        return target + value.removeprefix(source)
    return value


def _operation(operation: Operation) -> dict[str, Json]:
    description: dict[str, Json] = {
        "operationId": operation.id,
        "summary": operation.summary,
        "tags": [operation.tag],
        "parameters": [
            *(_path_parameter(name) for name in path_parameters(operation.path)),
            *(_parameter(parameter) for parameter in operation.parameters),
        ],
        "responses": _responses(operation),
        "security": [{"token": []}, {"login": []}, {}] if operation.scope else [{}],
    }
    if operation.scope:
        description["x-scope"] = operation.scope
        description["x-shared"] = operation.is_shared
    if operation.request:
        description["requestBody"] = {
            "required": not operation.is_request_optional,
            "content": _content(operation.request),
        }
    return description


def _path_parameter(name: str) -> dict[str, Json]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _parameter(parameter: Parameter) -> dict[str, Json]:
    return {
        "name": parameter.name,
        "in": parameter.where,
        "required": parameter.is_required,
        "description": parameter.description,
        "schema": dict(parameter.schema),
    }


def _content(schemas: Mapping[str, str | None]) -> dict[str, Json]:
    return {
        media_type: {} if name is None else {"schema": {"$ref": _REF + name}}
        for media_type, name in schemas.items()
    }


def _responses(operation: Operation) -> dict[str, Json]:
    responses: dict[str, Json] = {
        str(status): _response(response) for status, response in operation.responses.items()
    }
    codes: dict[int, list[Json]] = {}
    for code in operation.all_errors:
        codes.setdefault(STATUS_BY_CODE.get(code, 400), []).append(code)
    for status in sorted(codes):
        responses[str(status)] = {
            "description": "Refused: " + ", ".join(f"`{code}`" for code in codes[status]) + ".",
            "content": _content({"application/json": "error"}),
            "x-codes": codes[status],
        }
    return responses


def _response(response: Response) -> dict[str, Json]:
    described: dict[str, Json] = {"description": response.description}
    if response.schemas:
        described["content"] = _content(response.schemas)
    if response.headers:
        described["headers"] = {
            name: {"description": text, "schema": {"type": "string"}}
            for name, text in response.headers.items()
        }
    return described
