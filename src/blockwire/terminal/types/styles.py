"""Styles and spans: which are valid, which are equal, and what they cost.

Spec: docs/spec/terminal/styled.md.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from typing import Final, Generic, TypeVar, get_args

from msgspec import UNSET, UnsetType

from blockwire.terminal.content import Attribute, Span, Style
from blockwire.terminal.types.pieces import utf8_bytes

_T = TypeVar("_T", bound=Hashable)

LINK_CHARS_MAX: Final = 2_048

# What a run in a style counts for, its link aside: a third at least of what it takes if no other has
# the same style.
STYLE_COST_BYTES: Final = 160

# Different styles or layouts of one Block that are kept once each.
SHARED_VALUES_MAX: Final = 256

# The order of attributes in the normal form.
_ATTRIBUTE_ORDER: Final = {name: place for place, name in enumerate(get_args(Attribute))}

# RFC 3986, with a host (never a user: RFC 9110 section 4.2.4) for http and https. Possessive, so
# that whatever comes is looked at once.
_ESCAPE: Final = "%[0-9A-Fa-f]{2}"
_NAME_CHAR: Final = r"[A-Za-z0-9\-._~!$&'()*+,;=]"
_PATH_CHAR: Final = r"[A-Za-z0-9\-._~!$&'()*+,;=:@/]"
_QUERY_CHAR: Final = r"[A-Za-z0-9\-._~!$&'()*+,;=:@/?]"
_HOST: Final = rf"(?:\[[0-9A-Fa-f:.]++\]|(?:{_NAME_CHAR}|{_ESCAPE})++)(?::[0-9]*+)?"
_TAIL: Final = rf"(?:\?(?:{_QUERY_CHAR}|{_ESCAPE})*+)?(?:#(?:{_QUERY_CHAR}|{_ESCAPE})*+)?"
_LINK: Final = re.compile(
    rf"(?:(?i:https?)://{_HOST}(?:/(?:{_PATH_CHAR}|{_ESCAPE})*+)?"
    rf"|(?i:mailto):(?:{_PATH_CHAR}|{_ESCAPE})++){_TAIL}"
)


def is_valid_link(link: str) -> bool:
    """Tell whether ``link`` may be one: an absolute http, https or mailto URI (RFC 3986).

    At most :data:`LINK_CHARS_MAX` scalars, so bytes; without a user for http and https. What is no
    URI (blanks, controls, characters beyond ASCII) has to be percent-encoded before.
    """
    return len(link) <= LINK_CHARS_MAX and _LINK.fullmatch(link) is not None


def is_valid_style(style: Style) -> bool:
    """Tell whether a style that fits the schema says something, and has a link that may be one."""
    if style.attributes == () or (style.link is not UNSET and not is_valid_link(style.link)):
        return False
    return bool(style.foreground or style.background or style.attributes or style.link)


def are_valid_spans(spans: Iterable[Span]) -> bool:
    """Tell whether every style of ``spans`` is valid."""
    return all(is_valid_style(span.style) for span in spans if span.style)


def normal_style(style: Style | UnsetType) -> Style | UnsetType:
    """Return the one form of all styles that look the same: attributes in a fixed order."""
    if not style or not style.attributes or len(style.attributes) == 1:
        return style
    attributes = tuple(sorted(style.attributes, key=_ATTRIBUTE_ORDER.__getitem__))
    return Style(
        foreground=style.foreground,
        background=style.background,
        attributes=attributes,
        link=style.link,
    )


def normal_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return ``spans`` without empty ones, and with neighbours of equal style joined."""
    runs: list[tuple[Style | UnsetType, list[str]]] = []
    for span in spans:
        style = normal_style(span.style)
        if not span.text:
            continue
        if runs and runs[-1][0] == style:
            runs[-1][1].append(span.text)
        else:
            runs.append((style, [span.text]))
    return tuple(Span(text="".join(texts), style=style) for style, texts in runs)


def style_cost_bytes(style: Style | UnsetType) -> int:
    """Return what a run in this style is counted with, beside its text."""
    if not style:
        return 0
    return STYLE_COST_BYTES + (utf8_bytes(style.link) if style.link else 0)


class Shared(Generic[_T]):
    """Equal values as one object: every message brings its own copy of the same few styles."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[_T, _T] = {}

    def share(self, value: _T) -> _T:
        """Return the first of the values equal to ``value``, or one that took its place."""
        known = self._known.get(value)
        if known is not None:
            return known
        if len(self._known) >= SHARED_VALUES_MAX:
            self._known.clear()
        self._known[value] = value
        return value
