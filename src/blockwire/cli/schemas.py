"""The JSON Schemas that this program publishes, in one list.

Spec: docs/spec/content/schemas.md, docs/spec/terminal/messages.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from blockwire.jsontext import Json

__all__ = ["PublishedSchemas", "published_schemas"]


@cache
def published_schemas() -> Mapping[str, Json]:
    """Return the JSON Schemas that the gateway publishes and ``blockwire schema`` prints."""
    # What a gateway does not need to start is imported when somebody asks.
    from blockwire.content import content_schemas
    from blockwire.engines.request import engine_request_schema
    from blockwire.terminal import message_schemas

    return {
        **content_schemas(),
        **message_schemas(),
        "engine-request": engine_request_schema(),
    }


class PublishedSchemas(Mapping[str, Json]):
    """The same, made when the first one is asked for."""

    def __getitem__(self, name: str) -> Json:
        """Return the schema of this name."""
        return published_schemas()[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(published_schemas())

    def __len__(self) -> int:
        """Return how many there are."""
        return len(published_schemas())
