"""Styled text for terminals: spans, rows, and the bytes that show them.

Spec: docs/spec/rendering/terminal.md.

Everything that reaches a row went through :func:`clean`, so no input can reach a terminal as a
control; escape sequences are written here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, Literal, NamedTuple

from blockwire.text import AmbiguousWidth, expand_tabs, label_controls, width
from blockwire.text.charset import UTF_8, Charset

__all__ = [
    "LINES_LOOK",
    "PLAIN",
    "Row",
    "Span",
    "Style",
    "TerminalLook",
    "clean",
    "cut_spans",
    "encode_row",
    "join_spans",
    "row_width",
    "safe_link",
    "shown_text",
    "slice_spans",
    "spans_width",
]

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
        lays_out: Whether lines become rows of that many columns here; else they are given to a
            terminal that wraps them itself, and ``columns`` bounds nothing.
        charset: What it can write; who makes bytes of rows goes by it.
    """

    columns: int = 80
    escapes: bool = True
    colour: bool = True
    ambiguous_width: AmbiguousWidth = 1
    lays_out: bool = True
    charset: Charset = UTF_8


ENDLESS_COLUMNS: Final = 1_000_000
LINES_LOOK: Final = TerminalLook(columns=ENDLESS_COLUMNS, lays_out=False)
"""The look of lines that a terminal lays out by itself."""


def clean(text: str, *, ambiguous_width: AmbiguousWidth = 1) -> str:
    """Return one line of ``text`` with tabs expanded and every control shown as a label."""
    return expand_tabs(label_controls(text, breaks="label"), ambiguous_width=ambiguous_width)


def shown_text(text: str, look: TerminalLook) -> str:
    """Return one line of ``text`` as ``look`` shows it: a terminal that lays out keeps its Tabs."""
    if look.lays_out:
        return clean(text, ambiguous_width=look.ambiguous_width)
    return label_controls(text, breaks="label")


def spans_width(spans: Iterable[Span], look: TerminalLook) -> int:
    """Return the columns that ``spans`` take."""
    return width("".join(span.text for span in spans), ambiguous_width=look.ambiguous_width)


def row_width(row: Row, look: TerminalLook) -> int:
    """Return the columns that ``row`` takes."""
    return spans_width(row.spans, look)


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
    # From a clean slate, whatever another program left on the screen.
    return f"\x1b[0;{';'.join(codes)}m" if codes else ""


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
    by_style = groupby((span for span in spans if span.text), key=_style_of)
    return tuple(Span("".join(span.text for span in group), style) for style, group in by_style)


def _style_of(span: Span) -> Style:
    return span.style


def cut_spans(spans: Iterable[Span], lengths: Iterable[int]) -> Iterator[tuple[Span, ...]]:
    """Yield consecutive parts of ``spans`` that are ``lengths`` scalars long; linear in all."""
    left = iter(spans)
    text, style, start = "", PLAIN, 0
    for length in lengths:
        part: list[Span] = []
        wanted = length
        while wanted > 0:
            if start == len(text):
                (text, style), start = next(left), 0
            piece = text[start : start + wanted]
            part.append(Span(piece, style))
            start += len(piece)
            wanted -= len(piece)
        yield tuple(part)


def slice_spans(spans: Sequence[Span], start: int, end: int) -> tuple[Span, ...]:
    """Return the part of ``spans`` from scalar ``start`` up to ``end``."""
    _before, part = cut_spans(spans, (start, max(end - start, 0)))
    return part
