"""A picture of a screen: cells of pyte as SVG.

Rows of text stand where the cells are, whatever font the reader has: each run is told its width, a wide
character stands in the middle of its two cells, and the lines of tables are lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from string import Template
from typing import Any, Final, NamedTuple

import pyte

FOREGROUND: Final = "#d6dae3"
BACKGROUND: Final = "#15181e"

_COLOURS: Final[Mapping[str, str]] = {
    "black": "#2d323c",
    "red": "#e8707a",
    "green": "#93c97c",
    "brown": "#e0be73",
    "blue": "#6cb1f2",
    "magenta": "#c98be0",
    "cyan": "#5fc0cb",
    "white": "#d6dae3",
    "brightblack": "#737d90",
    "brightred": "#f5949c",
    "brightgreen": "#b3e09f",
    "brightbrown": "#f2d79b",
    "brightblue": "#99cbfa",
    "brightmagenta": "#dfb0f0",
    "bfightmagenta": "#dfb0f0",  # pyte spells the background so
    "brightcyan": "#8ddbe4",
    "brightwhite": "#ffffff",
}

_CELL: Final = 8.4
_ROW: Final = 19
_SIZE: Final = 14
_MARGIN: Final = 14
_BAR: Final = 34
_FONTS: Final = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"

# What white-space says to most, xml:space says to the rest.
_FRAME: Final = Template("""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 $width $height" width="$width"
  height="$height" xml:space="preserve" role="img" aria-label="$description">
<title>$description</title>
<style>
text{font:$size $fonts;fill:$foreground;white-space:pre}
.title{font-size:13px;fill:#9aa3b5}
path{fill:none;stroke-width:1.2}
g rect{shape-rendering:crispEdges}
.bold{font-weight:700}
.italic{font-style:italic}
.underline{text-decoration:underline}
.struck{text-decoration:line-through}
.dim{opacity:.62}
.middle{text-anchor:middle}
</style>
<rect width="$width" height="$height" rx="9" fill="#363c49"/>
<rect x="1" y="1" width="$inner" height="$below" rx="8" fill="#20242d"/>
<rect x="1" y="$bar" width="$inner" height="9" fill="$background"/>
<rect x="1" y="$bar" width="$inner" height="$content" rx="8" fill="$background"/>
<circle cx="20" cy="17" r="5.5" fill="#363c49"/>
<circle cx="38" cy="17" r="5.5" fill="#363c49"/>
<circle cx="56" cy="17" r="5.5" fill="#363c49"/>
<text class="title middle" x="$centre" y="22">$title</text>
<g transform="translate($margin $top)">""")

# From the middle of a cell: up, right, down, left.
_LINES: Final[Mapping[str, str]] = {
    "─": "rl", "│": "ud", "┌": "rd", "┐": "ld", "└": "ru", "┘": "lu",
    "├": "udr", "┤": "udl", "┬": "rld", "┴": "rlu", "┼": "udrl",
}  # fmt: skip
_HEX: Final = re.compile(r"[0-9a-f]{6}")


class _Style(NamedTuple):
    foreground: str
    background: str
    attributes: tuple[str, ...]


class _Run(NamedTuple):
    """Cells beside one another that look the same; ``kind``: text, wide, or lines."""

    column: int
    cells: int
    text: str
    style: _Style
    kind: str


def picture(screen: pyte.Screen, title: str, description: str) -> str:
    """Return what ``screen`` shows as SVG, in a window with ``title``; the same for the same cells.

    Args:
        screen: Its cells and cursor.
        title: In the bar of the window.
        description: What is to be seen, for whoever cannot see it.
    """
    width = round(screen.columns * _CELL + 2 * _MARGIN)
    height = screen.lines * _ROW + 2 * _MARGIN + _BAR
    frame = _FRAME.substitute(
        {"width": width, "inner": width - 2, "centre": f"{width / 2:g}"},
        height=height,
        below=height - 2,
        bar=_BAR,
        content=height - _BAR - 1,
        margin=_MARGIN,
        top=_BAR + _MARGIN,
        title=escape(title),
        description=escape(description),
        size=f"{_SIZE}px",
        fonts=_FONTS,
        foreground=FOREGROUND,
        background=BACKGROUND,
    )
    drawn = [frame]
    for row in range(screen.lines):
        drawn += _row(_runs(screen, row), row * _ROW)
    if not screen.cursor.hidden:
        # Behind the last column the cursor waits for the next character: it is shown in that column.
        left = min(screen.cursor.x, screen.columns - 1) * _CELL
        drawn.append(
            f'<rect x="{left:g}" y="{screen.cursor.y * _ROW}" width="{_CELL:g}"'
            f' height="{_ROW}" fill="{FOREGROUND}" opacity=".75"/>'
        )
    return "\n".join([*drawn, "</g>", "</svg>"]) + "\n"


def _style(cell: Any) -> _Style:
    foreground = _colour(cell.fg, FOREGROUND)
    background = _colour(cell.bg, BACKGROUND)
    if cell.reverse:
        foreground, background = background, foreground
    switched = {
        "bold": cell.bold,
        "italic": cell.italics,
        "underline": cell.underscore,
        "struck": cell.strikethrough,
        "dim": cell.blink,
    }
    return _Style(foreground, background, tuple(name for name, is_on in switched.items() if is_on))


def _colour(name: str, default: str) -> str:
    if _HEX.fullmatch(name):
        return f"#{name}"
    return _COLOURS.get(name, default)


def _runs(screen: pyte.Screen, row: int) -> Iterator[_Run]:
    """Cut a row where look or kind change; a wide character is a run of its own."""
    cells = [screen.buffer[row][column] for column in range(screen.columns)]
    column = 0
    for (kind, style), group in groupby(_kinds(cells), key=lambda of: (of[0], of[2])):
        parts = [text for _kind, text, _style in group]
        yield _Run(column, len(parts), "".join(parts), style, kind.partition(" ")[0])
        column += len(parts)


def _kinds(cells: Sequence[Any]) -> Iterator[tuple[str, str, _Style]]:
    """Return kind, text and look of each cell; wide characters are told apart by their column."""
    for column, cell in enumerate(cells):
        # pyte keeps a wide character in its first cell, and nothing in the second.
        if not cell.data:
            yield f"wide {column - 1}", "", _style(cells[column - 1])
        elif column + 1 < len(cells) and not cells[column + 1].data:
            yield f"wide {column}", cell.data, _style(cell)
        else:
            yield "lines" if cell.data in _LINES else "text", cell.data, _style(cell)


def _row(runs: Iterator[_Run], top: int) -> Iterator[str]:
    front: list[str] = []
    for run in runs:
        left, width = run.column * _CELL, run.cells * _CELL
        if run.style.background != BACKGROUND:
            yield (
                f'<rect x="{left:g}" y="{top}" width="{width:g}" height="{_ROW}"'
                f' fill="{run.style.background}"/>'
            )
        if run.text.strip():
            front.append(_lines(run, top) if run.kind == "lines" else _text(run, top))
    # Letters may reach over the edge of their cell: backgrounds first.
    yield from front


def _text(run: _Run, top: int) -> str:
    text, classes = run.text, list(run.style.attributes)
    if run.kind == "wide":
        place = f'x="{(run.column + 1) * _CELL:g}"'
        classes.append("middle")
    else:
        # Blanks are no text; what is left stands where it stood.
        left = (run.column + len(text) - len(text.lstrip(" "))) * _CELL
        text = text.strip(" ")
        place = f'x="{left:g}" textLength="{len(text) * _CELL:g}" lengthAdjust="spacingAndGlyphs"'
    named = f' class="{" ".join(classes)}"' if classes else ""
    fill = "" if run.style.foreground == FOREGROUND else f' style="fill:{run.style.foreground}"'
    return f'<text{named} {place} y="{top + 14}"{fill}>{escape(text, quote=False)}</text>'


def _lines(run: _Run, top: int) -> str:
    half, middle = _CELL / 2, top + _ROW / 2
    strokes = []
    for at, character in enumerate(run.text):
        x = (run.column + at) * _CELL + half
        ends = {"u": f"V{top}", "d": f"V{top + _ROW}", "l": f"H{x - half:g}", "r": f"H{x + half:g}"}
        strokes += [f"M{x:g} {middle:g}{ends[way]}" for way in _LINES[character]]
    faint = ' class="dim"' if "dim" in run.style.attributes else ""
    return f'<path{faint} stroke="{run.style.foreground}" d="{"".join(strokes)}"/>'
