"""Lines of ours as data of terminal Blocks, by content type.

Spec: docs/spec/rendering/projector.md, "Content types".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from msgspec import UNSET, UnsetType

from blockwire.render import spans as ours
from blockwire.render.layout import FlowLine, trimmed
from blockwire.terminal import (
    Data,
    Layout,
    Line,
    Span,
    Style,
    is_valid_link,
    normal_spans,
)
from blockwire.terminal.content import Attribute

__all__ = ["CONVERSIONS", "LINES", "PLAIN", "STYLED", "data_of", "preferred_type"]

LINES: Final = "text/lines"
STYLED: Final = "text/styled"
PLAIN: Final = "text/plain"

_ATTRIBUTES: Final[Mapping[str, Attribute]] = MappingProxyType(
    {
        "bold": "bold",
        "dim": "dim",
        "italic": "italic",
        "underline": "underline",
        "strike": "strikethrough",
    }
)


def preferred_type(optional_content_types: Sequence[str]) -> str:
    """Return the type that shows most, of those that a terminal has beside ``text/plain``."""
    return next((name for name in (LINES, STYLED) if name in optional_content_types), PLAIN)


def _style(style: ours.Style) -> Style | UnsetType:
    attributes = tuple(name for member, name in _ATTRIBUTES.items() if getattr(style, member))
    link = style.link if style.link is not None and is_valid_link(style.link) else None
    if style.colour is None and not attributes and link is None:
        return UNSET
    return Style(
        foreground=style.colour or UNSET, attributes=attributes or UNSET, link=link or UNSET
    )


def _spans(spans: Sequence[ours.Span]) -> tuple[Span, ...]:
    return normal_spans(Span(text=span.text, style=_style(span.style)) for span in spans)


def _laid_out(line: FlowLine) -> Line:
    layout = Layout(
        wrap="none" if line.spans and line.kind in {"code", "whole"} else UNSET,
        first_prefix=_spans(line.first) or UNSET,
        rest_prefix=_spans(line.rest) or UNSET,
    )
    return Line(spans=_spans(line.spans), layout=UNSET if layout == Layout() else layout)


def _flat_spans(line: FlowLine) -> tuple[ours.Span, ...]:
    """Return what a line says where prefixes are text: code is not indented, so it can be copied."""
    if not line.spans:
        return trimmed(line.first)
    is_bare = line.kind == "code" and not "".join(span.text for span in line.first).strip()
    return line.spans if is_bare else (*line.first, *line.spans)


def _styled(line: FlowLine) -> Line:
    return Line(spans=_spans(_flat_spans(line)))


def _plain(line: FlowLine) -> Line:
    text = "".join(span.text for span in _flat_spans(line))
    return Line(spans=normal_spans([Span(text=text)]))


CONVERSIONS: Final[Mapping[str, Callable[[FlowLine], Line]]] = MappingProxyType(
    {LINES: _laid_out, STYLED: _styled, PLAIN: _plain}
)
"""Content type -> a line of ours as a normal line of it; only ``text/lines`` has layouts."""


def data_of(lines: Sequence[Line], type_name: str) -> Data:
    """Return converted lines as data, or as a fragment, of their type."""
    if type_name == LINES:
        return tuple(lines)
    spans: list[Span] = []
    for index, line in enumerate(lines):
        spans += [Span(text="\n"), *line.spans] if index else line.spans
    if type_name == STYLED:
        return normal_spans(spans)
    return "".join(span.text for span in spans)
