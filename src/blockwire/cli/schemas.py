"""The JSON Schemas that this program publishes, in one list.

Spec: docs/spec/content/schemas.md.
"""

from __future__ import annotations

from blockwire.content import content_schemas
from blockwire.engines.request import engine_request_schema
from blockwire.jsontext import Json

__all__ = ["published_schemas"]


def published_schemas() -> dict[str, Json]:
    """Return the JSON Schemas that the gateway publishes and ``blockwire schema`` prints."""
    return {**content_schemas(), "engine-request": engine_request_schema()}
