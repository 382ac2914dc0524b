"""The content types that are known here, one module each, and their registry.

Spec: docs/spec/terminal/content-types.md. Another type is one more module and one more row.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from blockwire.terminal.content import ContentType, Data
from blockwire.terminal.types.layouts import DEFAULT_LAYOUT, PREFIX_CHARS_MAX, normal_layout
from blockwire.terminal.types.lines import LinesType
from blockwire.terminal.types.plain import PlainType
from blockwire.terminal.types.prefixes import fit_prefix
from blockwire.terminal.types.projection import ShownLine, project_line
from blockwire.terminal.types.reading import read_fragment
from blockwire.terminal.types.schemas import fragment_schema
from blockwire.terminal.types.shapes import has_shape
from blockwire.terminal.types.styled import StyledType
from blockwire.terminal.types.styles import LINK_CHARS_MAX, is_valid_link, normal_spans

__all__ = [
    "CONTENT_TYPES",
    "DEFAULT_LAYOUT",
    "LINK_CHARS_MAX",
    "PREFIX_CHARS_MAX",
    "ShownLine",
    "fit_prefix",
    "fits",
    "fragment_schema",
    "is_valid_link",
    "normal_layout",
    "normal_spans",
    "project_line",
    "read_fragment",
]

CONTENT_TYPES: Final[Mapping[str, ContentType]] = MappingProxyType(
    {content_type.name: content_type for content_type in (PlainType(), StyledType(), LinesType())}
)
"""Name -> type, the baseline first; what may be advertised is what stands here."""


def fits(
    type_name: str, fragment: Data, content_types: Mapping[str, ContentType] = CONTENT_TYPES
) -> bool:
    """Tell whether a fragment or replacement has the shape of this type's data."""
    return has_shape(fragment, content_types[type_name].shape)
