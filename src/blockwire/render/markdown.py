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
from blockwire.render.layout import indent, wrap_spans
from blockwire.render.spans import PLAIN, Row, Span, Style, TerminalLook, clean, join_spans
from blockwire.render.table import Align, Cell, table_rows

__all__ = ["BLANK", "Node", "code_rows", "markdown_rows", "node_rows", "parse_blocks"]

BLANK: Final = Row(())
Node = SyntaxTreeNode

_HEADING: Final = Style(bold=True)
_QUOTE_BAR: Final = Span("│ ", Style(dim=True))
_MARKER: Final = Style(colour="cyan")
_CODE: Final = Style(colour="green")
_LABEL: Final = Style(dim=True)
BULLETS: Final = "•◦▪"
NESTING_COLUMNS_MAX: Final = 40
"""Columns of quote bars and indents beyond which deeper nesting is shown flat."""


class Place(NamedTuple):
    """Where rows stand: the prefix of the first and of each further row, and the list depth."""

    first: tuple[Span, ...] = ()
    rest: tuple[Span, ...] = ()
    depth: int = 0

    def inner(self, first: tuple[Span, ...], rest: tuple[Span, ...], *, deeper: bool) -> Place:
        """Return the place of what stands inside, flat where there is no room left."""
        columns = sum(len(span.text) for span in (*self.rest, *rest))
        if columns > NESTING_COLUMNS_MAX:
            return Place(self.first, self.rest, self.depth + deeper)
        return Place(
            join_spans((*self.first, *first)),
            join_spans((*self.rest, *rest)),
            self.depth + deeper,
        )

    def after(self) -> Place:
        """Return the place of what follows the first row."""
        return self._replace(first=self.rest)


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


def node_rows(node: Node, look: TerminalLook, place: Place = Place()) -> list[Row]:  # noqa: B008
    """Return the rows of one block, without blank rows around it."""
    return _RENDERERS.get(node.type, _unknown)(node, look, place)


def _children_rows(nodes: Sequence[Node], look: TerminalLook, place: Place) -> list[Row]:
    rows: list[Row] = []
    for node in nodes:
        if rows:
            rows.append(Row(_trimmed(place.rest)))
        rows += node_rows(node, look, place)
        place = place.after()
    return rows


def _trimmed(prefix: Sequence[Span]) -> tuple[Span, ...]:
    """A blank row keeps quote bars but no trailing blanks."""
    text = "".join(span.text for span in prefix)
    kept = len(text.rstrip())
    spans: list[Span] = []
    for span in prefix:
        spans.append(Span(span.text[:kept], span.style))
        kept = max(kept - len(span.text), 0)
    return join_spans(spans)


def inline_of(node: Node) -> Sequence[Token] | None:
    """Return the inline tokens of a paragraph, heading or cell."""
    for child in node.children:
        if child.type == "inline" and child.token is not None:
            return child.token.children
    return None


def _lines(lines: Sequence[Sequence[Span]], look: TerminalLook, place: Place) -> list[Row]:
    rows: list[Row] = []
    for line in lines:
        rows += wrap_spans(line, look, first_prefix=place.first, rest_prefix=place.rest)
        place = place.after()
    return rows


def _paragraph(node: Node, look: TerminalLook, place: Place) -> list[Row]:
    return _lines(inline_lines(inline_of(node)), look, place)


def _heading(node: Node, look: TerminalLook, place: Place) -> list[Row]:
    rows = _lines(inline_lines(inline_of(node), _HEADING), look, place)
    is_underlined = node.markup in {"=", "-"}
    if not is_underlined or len(rows) == 1:
        return rows
    # A paragraph turns into such a heading by its very last line; by then a stream has shown its
    # rows. So one of several rows looks like a paragraph with a rule below.
    rows = _paragraph(node, look, place)
    columns = max(look.columns // look.ambiguous_width, 1)
    rows.append(Row((Span("─" * min(columns, 24), _LABEL),)))
    return rows


def _rule(_node: Node, look: TerminalLook, place: Place) -> list[Row]:
    used = sum(len(span.text) for span in place.first)
    columns = max((look.columns - used) // look.ambiguous_width, 1)
    return [Row(join_spans((*place.first, Span("─" * min(columns, 24), _LABEL))))]


def _quote(node: Node, look: TerminalLook, place: Place) -> list[Row]:
    inner = place.inner((_QUOTE_BAR,), (_QUOTE_BAR,), deeper=False)
    return _children_rows(node.children, look, inner) or [Row(_trimmed(inner.first))]


def _list(node: Node, look: TerminalLook, place: Place) -> list[Row]:
    number = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
    rows: list[Row] = []
    previous: Node | None = None
    for item in node.children:
        if previous is not None and gap_between(previous, item):
            rows.append(Row(_trimmed(place.rest)))
        rows += item_rows(item, look, place, number)
        number = None if number is None else number + 1
        place = place.after()
        previous = item
    return rows


def gap_between(first: Node, second: Node) -> bool:
    """Return whether blank source lines separate two list items."""
    assert first.map is not None and second.map is not None, "block tokens have line ranges"
    return last_line(first) < second.map[0]


def last_line(node: Node) -> int:
    """Return the line after the last line with content of ``node``."""
    if node.type in {"fence", "code_block", "paragraph", "heading", "hr", "table"}:
        assert node.map is not None, "block tokens have line ranges"
        if node.type == "code_block" and node.token is not None:
            return node.map[0] + len(node.token.content.rstrip("\n").split("\n"))
        return node.map[1]
    blocks = [child for child in node.children if child.map is not None]
    if not blocks:
        return node.map[0] + 1 if node.map is not None else 0
    return last_line(blocks[-1])


def item_rows(item: Node, look: TerminalLook, place: Place, number: int | None) -> list[Row]:
    """Return the rows of one list item; ``number`` is None for bullets."""
    marker = f"{number}. " if number is not None else BULLETS[place.depth % len(BULLETS)] + " "
    inner = place.inner((Span(marker, _MARKER),), indent(len(marker)), deeper=True)
    if not item.children:
        return [Row(inner.first)]
    rows: list[Row] = []
    previous: Node | None = None
    for child in item.children:
        if previous is not None and (gap_between(previous, child) or "list" not in child.type):
            rows.append(Row(_trimmed(inner.rest)))
        rows += node_rows(child, look, inner)
        inner = inner.after()
        previous = child
    return rows


def code_rows(text: str, language: str, look: TerminalLook, place: Place = Place()) -> list[Row]:  # noqa: B008
    """Return a code fence: its language, then its lines, which the terminal itself wraps.

    A line longer than the screen is one logical line, so copying it gives it back in one piece.
    """
    rows = [code_label(language, place)] if language else []
    if rows:
        place = place.after()
    for line in text.split("\n"):
        rows.append(code_row(line, place))
        place = place.after()
    return rows


def code_label(language: str, place: Place = Place()) -> Row:  # noqa: B008
    """Return the row that names the language of a fence."""
    return Row(join_spans((*place.first, Span(f"  {clean(language)}", _LABEL))))


def code_row(line: str, place: Place = Place()) -> Row:  # noqa: B008
    """Return one line of code."""
    prefix = (*place.first, *indent(2)) if line else _trimmed(place.first)
    return Row(join_spans((*prefix, Span(clean(line), _CODE))), is_soft=True)


def fence_language(info: str) -> str:
    """Return the language that the info string of a fence names."""
    return info.strip().split(maxsplit=1)[0] if info.strip() else ""


def _fence(node: Node, look: TerminalLook, place: Place) -> list[Row]:
    return code_rows(node.content.removesuffix("\n"), fence_language(node.info), look, place)


def _code_block(node: Node, look: TerminalLook, place: Place) -> list[Row]:
    return code_rows(node.content.removesuffix("\n"), "", look, place)


def _table(node: Node, look: TerminalLook, place: Place) -> list[Row]:
    lines = [_cells(row) for part in node.children for row in part.children]
    used = sum(len(span.text) for span in place.rest)
    inner = look._replace(columns=max(look.columns - used, 1))
    rows: list[Row] = []
    for row in table_rows(lines[0], lines[1:], inner):
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


def _unknown(node: Node, look: TerminalLook, place: Place) -> list[Row]:
    text = node.content if node.children == [] else ""
    lines = [[Span(clean(line), PLAIN)] for line in text.split("\n")]
    return _lines(lines, look, place)


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
