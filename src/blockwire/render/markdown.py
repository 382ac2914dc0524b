"""Block-level Markdown to lines, and those to rows.

Spec: docs/spec/rendering/markdown.md.

A tree walk over markdown-it's tokens. Spacing between list items follows the blank lines of the
source, not the looseness of the list, so that an item can be shown before the list has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from blockwire.render.highlight import line_pieces
from blockwire.render.inline import inline_lines, markdown_parser
from blockwire.render.layout import (
    BLANK_LINE,
    FlowLine,
    indent,
    rows_of,
    rule_span,
    trimmed,
)
from blockwire.render.spans import (
    PLAIN,
    Row,
    Span,
    Style,
    TerminalLook,
    clean,
    join_spans,
    row_width,
    shown_text,
    spans_width,
)
from blockwire.render.table import Align, Cell, table_rows

__all__ = [
    "TOP",
    "Node",
    "Place",
    "code_label",
    "code_line",
    "code_lines",
    "fence_language",
    "gap_between",
    "item_lines",
    "last_line",
    "line_range",
    "markdown_lines",
    "markdown_rows",
    "node_lines",
    "parse_blocks",
]

Node = SyntaxTreeNode

_HEADING: Final = Style(bold=True)
_QUOTE_BAR: Final = Span("│ ", Style(dim=True))
_MARKER: Final = Style(colour="cyan")
_CODE_INDENT: Final = indent(2)
_LISTS: Final = frozenset({"bullet_list", "ordered_list"})
_CONTAINERS: Final = _LISTS | {"blockquote", "list_item"}
_CODE: Final = Style(colour="green")
_LABEL: Final = Style(dim=True)
_UNDERLINES: Final[Mapping[str, str]] = MappingProxyType({"=": "\u2550", "-": "\u2500"})
BULLETS: Final = "•◦▪"
_CODE_COLOURS: Final[Mapping[str, Style]] = MappingProxyType(
    {
        "keyword": Style(colour="magenta"),
        "string": Style(colour="green"),
        "number": Style(colour="cyan"),
        "name": Style(colour="blue"),
        "comment": Style(colour="bright_black"),
        "bad": Style(colour="red"),
    }
)
RULE_COLUMNS_MAX: Final = 24
"""Longest horizontal rule."""
NESTING_SHARE: Final = 2
"""Quote bars and indents take at most one part in so many of a row; deeper ones are left out."""

PREFIX_COLUMNS_MAX: Final = 60
"""Most columns of quote bars and indents: with the indent of code, what a terminal takes."""


class Place(NamedTuple):
    """Where rows stand: the prefix of the first and of each further row, and the list depth."""

    first: tuple[Span, ...] = ()
    rest: tuple[Span, ...] = ()
    depth: int = 0

    def quoted(self, look: TerminalLook) -> Place:
        """Return the place of what stands in a quote here."""
        return self._inner(_QUOTE_BAR, (_QUOTE_BAR,), look)

    def itemised(self, marker: Span, look: TerminalLook) -> Place:
        """Return the place of what stands in a list item here."""
        hanging = indent(spans_width((marker,), look))
        return self._inner(marker, hanging, look)._replace(depth=self.depth + 1)

    def _inner(self, first: Span, rest: tuple[Span, ...], look: TerminalLook) -> Place:
        inner = self._replace(
            first=join_spans((*self.first, first)), rest=join_spans((*self.rest, *rest))
        )
        columns = max(spans_width(inner.first, look), spans_width(inner.rest, look))
        return inner if columns <= min(look.columns // NESTING_SHARE, PREFIX_COLUMNS_MAX) else self

    def after(self) -> Place:
        """Return the place of what follows the first row."""
        return self._replace(first=self.rest)


TOP: Final = Place()
"""Where top-level blocks stand."""


def parse_blocks(source: str) -> list[Node]:
    """Return the top-level blocks of ``source``, each with the line range ``map``."""
    if not source.endswith("\n"):
        source += "\n"
    return list(SyntaxTreeNode(markdown_parser().parse(source)).children)


def markdown_rows(source: str, look: TerminalLook) -> list[Row]:
    """Return the rows of a whole Markdown text."""
    return rows_of(markdown_lines(source, look), look)


def markdown_lines(source: str, look: TerminalLook) -> list[FlowLine]:
    """Return the lines of a whole Markdown text."""
    lines: list[FlowLine] = []
    for node in parse_blocks(source):
        if lines:
            lines.append(BLANK_LINE)
        lines += node_lines(node, look)
    return lines


def node_lines(node: Node, look: TerminalLook, place: Place = TOP) -> list[FlowLine]:
    """Return the lines of one block, without blank ones around it."""
    return _RENDERERS[node.type](node, look, place)


def _children_lines(nodes: Sequence[Node], look: TerminalLook, place: Place) -> list[FlowLine]:
    lines: list[FlowLine] = []
    for node in nodes:
        if lines:
            lines.append(_bare(place.rest))
        lines += node_lines(node, look, place)
        place = place.after()
    return lines


def inline_of(node: Node) -> Sequence[Token] | None:
    """Return the inline tokens of a paragraph, heading or cell."""
    token = node.children[0].token
    assert token is not None, "a leaf of the tree is a token"
    return token.children


def _bare(prefix: tuple[Span, ...]) -> FlowLine:
    """Return a line that has nothing but a prefix: quote bars go on, blanks do not."""
    return FlowLine((), trimmed(prefix), kind="whole")


def _words(texts: Sequence[Sequence[Span]], place: Place) -> list[FlowLine]:
    lines: list[FlowLine] = []
    for spans in texts:
        lines.append(FlowLine(tuple(spans), place.first, place.rest))
        place = place.after()
    return lines


def _paragraph(node: Node, _look: TerminalLook, place: Place) -> list[FlowLine]:
    return _words(inline_lines(inline_of(node)), place)


def _heading(node: Node, look: TerminalLook, place: Place) -> list[FlowLine]:
    mark = _UNDERLINES.get(node.markup)
    if mark is None or not look.lays_out:
        return _words(inline_lines(inline_of(node), _HEADING), place)
    # A paragraph turns into such a heading by its very last line; by then a stream has shown its
    # rows. So it looks like a paragraph with a rule below.
    lines = _paragraph(node, look, place)
    used = spans_width(place.rest, look)
    columns = max(row_width(row, look) for row in rows_of(lines, look)) - used
    rule = rule_span(columns, _LABEL, look, mark=mark)
    return [*lines, FlowLine((rule,), place.rest, kind="whole")]


def _rule(_node: Node, look: TerminalLook, place: Place) -> list[FlowLine]:
    columns = min(look.columns - spans_width(place.first, look), RULE_COLUMNS_MAX)
    return [FlowLine((rule_span(columns, _LABEL, look),), place.first, kind="whole")]


def _quote(node: Node, look: TerminalLook, place: Place) -> list[FlowLine]:
    inner = place.quoted(look)
    return _children_lines(node.children, look, inner) or [_bare(inner.first)]


def _list(node: Node, look: TerminalLook, place: Place) -> list[FlowLine]:
    number = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
    lines: list[FlowLine] = []
    previous: Node | None = None
    for item in node.children:
        if previous is not None and gap_between(previous, item):
            lines.append(_bare(place.rest))
        lines += item_lines(item, look, place, number)
        number = None if number is None else number + 1
        place = place.after()
        previous = item
    return lines


def line_range(node: Node) -> tuple[int, int]:
    """Return the first line of a block and the line after its last."""
    assert node.map is not None, "block tokens have line ranges"
    return node.map


def gap_between(first: Node, second: Node) -> bool:
    """Return whether blank source lines separate two blocks."""
    return last_line(first) < line_range(second)[0]


def last_line(node: Node) -> int:
    """Return the line after the last line with content of ``node``."""
    start, end = line_range(node)
    if node.type == "code_block":
        return start + len(node.content.rstrip("\n").split("\n"))
    if node.type not in _CONTAINERS:
        return end
    return last_line(node.children[-1]) if node.children else start + 1


def item_lines(item: Node, look: TerminalLook, place: Place, number: int | None) -> list[FlowLine]:
    """Return the lines of one list item; ``number`` is None for bullets."""
    marker = f"{number}. " if number is not None else BULLETS[place.depth % len(BULLETS)] + " "
    inner = place.itemised(Span(marker, _MARKER), look)
    if not item.children:
        return [_bare(inner.first)]
    lines: list[FlowLine] = []
    previous: Node | None = None
    for child in item.children:
        if previous is not None and (gap_between(previous, child) or child.type not in _LISTS):
            lines.append(_bare(inner.rest))
        lines += node_lines(child, look, inner)
        inner = inner.after()
        previous = child
    return lines


def code_lines(text: str, language: str, look: TerminalLook, place: Place = TOP) -> list[FlowLine]:
    """Return a code fence: its language, then its lines, which the terminal itself wraps.

    A line longer than the screen is one logical line, so copying it gives it back in one piece.
    """
    lines: list[FlowLine] = []
    if language:
        lines.append(code_label(language, place))
        place = place.after()
    for line in text.split("\n"):
        lines.append(code_line(line, language, look, place))
        place = place.after()
    return lines


def code_label(language: str, place: Place = TOP) -> FlowLine:
    """Return the line that names the language of a fence."""
    return _code((Span(clean(language), _LABEL),), place)


def code_line(line: str, language: str, look: TerminalLook, place: Place = TOP) -> FlowLine:
    """Return one line of code, coloured as it is by itself."""
    if not line:
        return _bare(place.first)
    text = shown_text(line, look)
    pieces = line_pieces(text, language)
    if pieces is None:
        return _code((Span(text, _CODE),), place)
    return _code(
        join_spans(Span(piece, _CODE_COLOURS.get(use, PLAIN)) for use, piece in pieces), place
    )


def _code(spans: tuple[Span, ...], place: Place) -> FlowLine:
    first, rest = (*place.first, *_CODE_INDENT), (*place.rest, *_CODE_INDENT)
    return FlowLine(spans, join_spans(first), join_spans(rest), "code")


def fence_language(info: str) -> str:
    """Return the language that the info string of a fence names."""
    return info.strip().split(maxsplit=1)[0] if info.strip() else ""


def _fence(node: Node, look: TerminalLook, place: Place) -> list[FlowLine]:
    return code_lines(node.content.removesuffix("\n"), fence_language(node.info), look, place)


def _code_block(node: Node, look: TerminalLook, place: Place) -> list[FlowLine]:
    return code_lines(node.content.removesuffix("\n"), "", look, place)


def _table(node: Node, look: TerminalLook, place: Place) -> list[FlowLine]:
    header, *body = [_cells(row) for part in node.children for row in part.children]
    used = max(spans_width(place.first, look), spans_width(place.rest, look))
    lines: list[FlowLine] = []
    for row in table_rows(header, body, look._replace(columns=look.columns - used)):
        lines.append(FlowLine(row.spans, place.first, place.rest, "whole"))
        place = place.after()
    return lines


def _cells(row: Node) -> list[Cell]:
    cells: list[Cell] = []
    for cell in row.children:
        style = str(cell.attrs.get("style", ""))
        align: Align = "right" if "right" in style else "center" if "center" in style else "left"
        texts = inline_lines(inline_of(cell))
        cells.append(Cell(tuple(span for spans in texts for span in spans), align))
    return cells


_RENDERERS: Final[Mapping[str, Callable[[Node, TerminalLook, Place], list[FlowLine]]]] = (
    MappingProxyType(
        {
            "paragraph": _paragraph,
            "heading": _heading,
            "hr": _rule,
            "blockquote": _quote,
            "bullet_list": _list,
            "ordered_list": _list,
            "fence": _fence,
            "code_block": _code_block,
            "table": _table,
        }
    )
)
