"""Block-level Markdown to rows.

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

from blockwire.render.inline import inline_lines, markdown_parser
from blockwire.render.layout import indent, rule_span, trimmed, wrap_spans
from blockwire.render.spans import (
    Row,
    Span,
    Style,
    TerminalLook,
    clean,
    join_spans,
    row_width,
    spans_width,
)
from blockwire.render.table import Align, Cell, table_rows

__all__ = [
    "BLANK",
    "TOP",
    "Node",
    "Place",
    "code_label",
    "code_row",
    "code_rows",
    "fence_language",
    "gap_between",
    "item_rows",
    "last_line",
    "line_range",
    "markdown_rows",
    "node_rows",
    "parse_blocks",
]

BLANK: Final = Row(())
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
RULE_COLUMNS_MAX: Final = 24
"""Longest horizontal rule."""
NESTING_SHARE: Final = 2
"""Quote bars and indents take at most one part in so many of a row; deeper ones are left out."""


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
        return inner if columns * NESTING_SHARE <= look.columns else self

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
    rows: list[Row] = []
    for node in parse_blocks(source):
        if rows:
            rows.append(BLANK)
        rows += node_rows(node, look)
    return rows


def node_rows(node: Node, look: TerminalLook, place: Place = TOP) -> list[Row]:
    """Return the rows of one block, without blank rows around it."""
    return _RENDERERS[node.type](node, look, place)


def _children_rows(nodes: Sequence[Node], look: TerminalLook, place: Place) -> list[Row]:
    rows: list[Row] = []
    for node in nodes:
        if rows:
            rows.append(Row(trimmed(place.rest)))
        rows += node_rows(node, look, place)
        place = place.after()
    return rows


def inline_of(node: Node) -> Sequence[Token] | None:
    """Return the inline tokens of a paragraph, heading or cell."""
    token = node.children[0].token
    assert token is not None, "a leaf of the tree is a token"
    return token.children


def _lines(lines: Sequence[Sequence[Span]], look: TerminalLook, place: Place) -> list[Row]:
    rows: list[Row] = []
    for line in lines:
        rows += wrap_spans(line, look, first_prefix=place.first, rest_prefix=place.rest)
        place = place.after()
    return rows


def _paragraph(node: Node, look: TerminalLook, place: Place) -> list[Row]:
    return _lines(inline_lines(inline_of(node)), look, place)


def _heading(node: Node, look: TerminalLook, place: Place) -> list[Row]:
    mark = _UNDERLINES.get(node.markup)
    if mark is None:
        return _lines(inline_lines(inline_of(node), _HEADING), look, place)
    # A paragraph turns into such a heading by its very last line; by then a stream has shown its
    # rows. So it looks like a paragraph with a rule below.
    rows = _paragraph(node, look, place)
    used = spans_width(place.rest, look)
    columns = max(row_width(row, look) for row in rows) - used
    rule = rule_span(columns, _LABEL, look, mark=mark)
    return [*rows, Row(join_spans((*place.rest, rule)))]


def _rule(_node: Node, look: TerminalLook, place: Place) -> list[Row]:
    columns = min(look.columns - spans_width(place.first, look), RULE_COLUMNS_MAX)
    return [Row(join_spans((*place.first, rule_span(columns, _LABEL, look))))]


def _quote(node: Node, look: TerminalLook, place: Place) -> list[Row]:
    inner = place.quoted(look)
    return _children_rows(node.children, look, inner) or [Row(trimmed(inner.first))]


def _list(node: Node, look: TerminalLook, place: Place) -> list[Row]:
    number = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
    rows: list[Row] = []
    previous: Node | None = None
    for item in node.children:
        if previous is not None and gap_between(previous, item):
            rows.append(Row(trimmed(place.rest)))
        rows += item_rows(item, look, place, number)
        number = None if number is None else number + 1
        place = place.after()
        previous = item
    return rows


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


def item_rows(item: Node, look: TerminalLook, place: Place, number: int | None) -> list[Row]:
    """Return the rows of one list item; ``number`` is None for bullets."""
    marker = f"{number}. " if number is not None else BULLETS[place.depth % len(BULLETS)] + " "
    inner = place.itemised(Span(marker, _MARKER), look)
    if not item.children:
        return [Row(trimmed(inner.first))]
    rows: list[Row] = []
    previous: Node | None = None
    for child in item.children:
        if previous is not None and (gap_between(previous, child) or child.type not in _LISTS):
            rows.append(Row(trimmed(inner.rest)))
        rows += node_rows(child, look, inner)
        inner = inner.after()
        previous = child
    return rows


def code_rows(text: str, language: str, look: TerminalLook, place: Place = TOP) -> list[Row]:
    """Return a code fence: its language, then its lines, which the terminal itself wraps.

    A line longer than the screen is one logical line, so copying it gives it back in one piece.
    """
    rows: list[Row] = []
    if language:
        rows.append(code_label(language, place))
        place = place.after()
    for line in text.split("\n"):
        rows.append(code_row(line, look, place))
        place = place.after()
    return rows


def code_label(language: str, place: Place = TOP) -> Row:
    """Return the row that names the language of a fence."""
    label = Span(clean(language), _LABEL)
    return Row(join_spans((*place.first, *_CODE_INDENT, label)), is_soft=True)


def code_row(line: str, look: TerminalLook, place: Place = TOP) -> Row:
    """Return one line of code."""
    if not line:
        return Row(trimmed(place.first))
    code = Span(clean(line, ambiguous_width=look.ambiguous_width), _CODE)
    return Row(join_spans((*place.first, *_CODE_INDENT, code)), is_soft=True)


def fence_language(info: str) -> str:
    """Return the language that the info string of a fence names."""
    return info.strip().split(maxsplit=1)[0] if info.strip() else ""


def _fence(node: Node, look: TerminalLook, place: Place) -> list[Row]:
    return code_rows(node.content.removesuffix("\n"), fence_language(node.info), look, place)


def _code_block(node: Node, look: TerminalLook, place: Place) -> list[Row]:
    return code_rows(node.content.removesuffix("\n"), "", look, place)


def _table(node: Node, look: TerminalLook, place: Place) -> list[Row]:
    header, *body = [_cells(row) for part in node.children for row in part.children]
    used = max(spans_width(place.first, look), spans_width(place.rest, look))
    rows: list[Row] = []
    for row in table_rows(header, body, look._replace(columns=look.columns - used)):
        rows.append(Row(join_spans((*place.first, *row.spans))))
        place = place.after()
    return rows


def _cells(row: Node) -> list[Cell]:
    cells: list[Cell] = []
    for cell in row.children:
        style = str(cell.attrs.get("style", ""))
        align: Align = "right" if "right" in style else "center" if "center" in style else "left"
        lines = inline_lines(inline_of(cell))
        cells.append(Cell(tuple(span for line in lines for span in line), align))
    return cells


_RENDERERS: Final[Mapping[str, Callable[[Node, TerminalLook, Place], list[Row]]]] = (
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
