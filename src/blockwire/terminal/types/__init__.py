"""The content types that are known here, one module each, and their registry.

Spec: docs/spec/terminal/content-types.md. Another type is one more module and one more row.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from blockwire.terminal.content import ContentType, Data
from blockwire.terminal.types.plain import PlainType
from blockwire.terminal.types.reading import read_fragment
from blockwire.terminal.types.shapes import has_shape

__all__ = ["CONTENT_TYPES", "fits", "read_fragment"]

CONTENT_TYPES: Final[Mapping[str, ContentType]] = MappingProxyType(
    {content_type.name: content_type for content_type in (PlainType(),)}
)
"""Name -> type, the baseline first; what may be advertised is what stands here."""


def fits(
    type_name: str, fragment: Data, content_types: Mapping[str, ContentType] = CONTENT_TYPES
) -> bool:
    """Tell whether a fragment or replacement has the shape of this type's data."""
    return has_shape(fragment, content_types[type_name].shape)
