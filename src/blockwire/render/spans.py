"""Styled text for terminals: spans, rows, and the bytes that show them.

Spec: docs/spec/rendering/terminal.md.

Everything that reaches a row went through :func:`clean`, so no input can reach a terminal as a
control; escape sequences are written here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

from blockwire.text import AmbiguousWidth, expand_tabs, label_controls, width

__all__ = ["PLAIN", "Row", "Span", "Style", "TerminalLook", "clean", "encode_row", "row_width"]

Colour = Literal["red", "green", "yellow", "blue", "magenta", "cyan", "bright_black"]
_SGR_COLOURS: Final[dict[str, int]] = {
    "red": 31,
    "green": 32,
    "yellow": 33,
    "blue": 34,
    "magenta": 35,
    "cyan": 36,
    "bright_black": 90,
}
LINK_SCHEMES: Final = ("http://", "https://", "mailto:")
LINK_CHARS_MAX: Final = 2048


class Style(NamedTuple):
    """How a span looks. Palette colours only, so that light and dark themes both work."""

    colour: Colour | None = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False
    link: str | None = None


PLAIN: Final = Style()


class Span(NamedTuple):
    """Text of one style, without breaks and controls."""

    text: str
    style: Style = PLAIN


class Row(NamedTuple):
    """One row on the screen; ``is_soft`` rows may be longer than the screen and wrap there."""

    spans: tuple[Span, ...]
    is_soft: bool = False


class TerminalLook(NamedTuple):
    """What the terminal at hand can show.

    Attributes:
        columns: At least 1.
        escapes: Whether any escape sequence may be written (not into ``TERM=dumb`` or a pipe).
        colour: Whether colours may be written (``NO_COLOR`` keeps bold and underline).
        ambiguous_width: Columns of East Asian ambiguous characters.
    """

    columns: int = 80
    escapes: bool = True
    colour: bool = True
    ambiguous_width: AmbiguousWidth = 1


def clean(text: str) -> str:
    """Return one line of ``text`` with tabs expanded and every control shown as a label."""
    return expand_tabs(label_controls(text, breaks="label"))


def row_width(row: Row, look: TerminalLook) -> int:
    """Return the columns that ``row`` takes."""
    return width("".join(span.text for span in row.spans), ambiguous_width=look.ambiguous_width)


def safe_link(target: str) -> str | None:
    """Return ``target`` if a terminal may be given it as a link."""
    if len(target) > LINK_CHARS_MAX or not target.lower().startswith(LINK_SCHEMES):
        return None
    return target if all("!" <= c <= "~" for c in target) else None


def _sgr(style: Style, look: TerminalLook) -> str:
    codes = [
        str(code)
        for on, code in (
            (style.bold, 1),
            (style.dim, 2),
            (style.italic, 3),
            (style.underline, 4),
            (style.strike, 9),
        )
        if on
    ]
    if style.colour is not None and look.colour:
        codes.append(str(_SGR_COLOURS[style.colour]))
    return f"\x1b[{';'.join(codes)}m" if codes else ""


def encode_span(span: Span, look: TerminalLook) -> str:
    """Return ``span`` ready to write; it leaves no style and no link behind."""
    if not look.escapes or not span.text:
        return span.text
    start = _sgr(span.style, look)
    text = f"{start}{span.text}\x1b[0m" if start else span.text
    if span.style.link is not None:
        # One id per target, so that the rows of a wrapped link light up together.
        text = f"\x1b]8;id={_link_id(span.style.link)};{span.style.link}\x1b\\{text}\x1b]8;;\x1b\\"
    return text


def _link_id(target: str) -> str:
    # FNV-1a: stable from run to run, which hash() is not, so golden files can hold it.
    value = 0x811C9DC5
    for byte in target.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"b{value:08x}"


def encode_row(row: Row, look: TerminalLook) -> str:
    """Return ``row`` ready to write, without a line end."""
    return "".join(encode_span(span, look) for span in row.spans)


def join_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return ``spans`` without empty ones, neighbours of equal style joined."""
    joined: list[Span] = []
    for span in spans:
        if not span.text:
            continue
        if joined and joined[-1].style == span.style:
            joined[-1] = Span(joined[-1].text + span.text, span.style)
        else:
            joined.append(span)
    return tuple(joined)


def slice_spans(spans: Sequence[Span], start: int, end: int) -> tuple[Span, ...]:
    """Return the part of ``spans`` from scalar ``start`` up to ``end``."""
    part: list[Span] = []
    offset = 0
    for text, style in spans:
        first, last = max(start - offset, 0), min(end - offset, len(text))
        if first < last:
            part.append(Span(text[first:last], style))
        offset += len(text)
    return tuple(part)
