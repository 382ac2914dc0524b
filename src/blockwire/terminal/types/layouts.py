"""Layouts and lines: which are valid, which are equal, and what they cost.

Spec: docs/spec/terminal/lines.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from msgspec import UNSET, UnsetType

from blockwire.terminal.content import Layout, Line, Span, Style
from blockwire.terminal.types.pieces import utf8_bytes
from blockwire.terminal.types.styles import (
    are_valid_spans,
    is_valid_style,
    normal_spans,
    style_cost_bytes,
)

# Scalars of one prefix, its spans joined.
PREFIX_CHARS_MAX: Final = 64

# What a layout that is not the default counts for, its prefixes aside: as of styles.
LAYOUT_COST_BYTES: Final = 256

# What a run of a prefix counts for, its text and style aside: each is an object of its own.
PREFIX_RUN_COST_BYTES: Final = 64

DEFAULT_LAYOUT: Final = Layout()
"""The normal form of no layout: whoever lays out reads ``wrap or "word"``, ``align or "left"``."""

_BREAK: Final = re.compile(r"[\r\n]")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def are_valid_lines(lines: Iterable[Line]) -> bool:
    """Tell whether lines that fit the schema obey every other rule, wherever they are added."""
    return all(
        are_valid_spans(line.spans)
        and not any(_BREAK.search(span.text) for span in line.spans)
        and (not line.layout or _is_valid_layout(line.layout))
        for line in lines
    )


def _is_valid_layout(layout: Layout) -> bool:
    return (
        _is_valid_prefix(layout.first_prefix)
        and _is_valid_prefix(layout.rest_prefix)
        and _is_valid_fill(layout.fill)
    )


def _is_valid_prefix(prefix: tuple[Span, ...] | UnsetType) -> bool:
    spans = prefix or ()
    return (
        sum(len(span.text) for span in spans) <= PREFIX_CHARS_MAX
        and not any(_CONTROL.search(span.text) for span in spans)
        and are_valid_spans(spans)
    )


def _is_valid_fill(fill: Style | UnsetType) -> bool:
    if not fill:
        return True
    return is_valid_style(fill) and fill == Style(background=fill.background)


def normal_layout(layout: Layout | UnsetType) -> Layout:
    """Return the one form of all layouts that lay out alike: members equal to a default left out."""
    if not layout:
        return DEFAULT_LAYOUT
    return Layout(
        wrap=UNSET if layout.wrap == "word" else layout.wrap,
        align=UNSET if layout.align == "left" else layout.align,
        first_prefix=normal_spans(layout.first_prefix or ()) or UNSET,
        rest_prefix=normal_spans(layout.rest_prefix or ()) or UNSET,
        fill=layout.fill,
    )


def layout_cost_bytes(layout: Layout) -> int:
    """Return what a line with this layout, in normal form, is counted with beside its text."""
    if layout == DEFAULT_LAYOUT:
        return 0
    spans = (*(layout.first_prefix or ()), *(layout.rest_prefix or ()))
    return LAYOUT_COST_BYTES + sum(
        PREFIX_RUN_COST_BYTES + utf8_bytes(span.text) + style_cost_bytes(span.style)
        for span in spans
    )
