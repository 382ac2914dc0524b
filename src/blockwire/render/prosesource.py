"""Markdown of one block as a part of a document: it reads the same and ends with the block.

Spec: docs/spec/rendering/markdown-document.md.

The source stays as it was written but for small edits: a backslash before what would begin raw
HTML or a footnote, headings two levels down, labels of link definitions made unique, and a fence
closed that nobody closed. Where an edit belongs is told by the parser itself, at the moment when
it takes a character for text or a bracket for a link.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.common.html_blocks import block_names
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline, image, link
from markdown_it.token import Token

from blockwire.render.htmlprose import HEADING_SHIFT, make_page_parser, page_reference
from blockwire.render.incremental import normalise_markdown
from blockwire.render.inline import NESTING_LEVELS_MAX
from blockwire.text import label_controls

__all__ = ["ProsePart", "contained_prose", "joins_on"]

HEADING_LEVELS: Final = 6

# What a "<" or "[" must be followed by to be something else to other readers of Markdown.
_BEGINS_HTML: Final = re.compile(r"<[A-Za-z/!?]")
_BEGINS_LABEL: Final = re.compile(r"\[\s*(?=\^|/[0-9]+/)")
_DEFINES: Final = re.compile(r"\[(?:[^\[\]\\]|\\.)*\](?=:)", re.DOTALL)
# How HTML begins that would end a paragraph for another reader, in the middle of code or a title.
_HTML_LINE: Final = re.compile(
    rf"[ \t]*<(?:!--|\?|![A-Za-z]|!\[CDATA\[|(?:script|pre|style|textarea|/?(?:{'|'.join(block_names)}))"
    r"(?=[ \t>]|/>|\Z))",
    re.IGNORECASE,
)
_QUOTE_BAR: Final = re.compile(r" {0,3}> ?")
_DELIMITERS: Final = re.compile(r"[-:| \t]+")
_FINAL_BACKSLASH: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\\Z")
_MARKER: Final = re.compile(r"(?=[-+*>])|[0-9]{1,9}(?=[.)])")
_PLACES: Final = "<[](:^/"
_CODE_OR_LIST: Final = frozenset({"bullet_list_open", "ordered_list_open", "code_block"})


class ProsePart(NamedTuple):
    """Prose that is part of a document.

    Attributes:
        text: Markdown without blank lines around it; empty where there is nothing to see.
        first: Type of the token with which it begins.
        last: Type of the token that opens its last block.
    """

    text: str
    first: str = ""
    last: str = ""


class _Edit(NamedTuple):
    """Text to insert: before or after a character of inline content."""

    offset: int
    text: str
    is_after: bool = False


def contained_prose(source: str, number: int) -> ProsePart:
    """Return Markdown that reads the same and opens nothing that it does not close.

    Args:
        source: ``prose.markdown``.
        number: Of the block in its document; names the block's link definitions.
    """
    source = label_controls(normalise_markdown(source))
    env: dict[str, Any] = {"prefix": f"/{number}/", "definitions": []}
    tokens = _part_parser().parse(source, env)
    if not tokens:
        return ProsePart("")
    lines = source.split("\n")
    inserts = _Inserts(lines)
    for start, end in env["definitions"]:
        inserts.add(start, "[", 1, env["prefix"], is_after=True)
        inserts.join_definition(start, end)
    for token in tokens:
        if token.type == "inline":
            inserts.add_edits(token, _inline_edits(token.content, env))
            if token.level > NESTING_LEVELS_MAX:
                inserts.escape_markers(token)
    _shift_headings(tokens, inserts)
    text = "\n".join(inserts.edited())
    last = next(token for token in reversed(tokens) if token.level == 0 and token.nesting >= 0)
    if last.type == "fence" and not _is_closed(last, lines):
        text = text.removesuffix("\n") + f"\n{last.markup}"
    return ProsePart(text.strip("\n"), tokens[0].type, last.type)


def joins_on(before: ProsePart, after: ProsePart) -> bool:
    """Return whether the end of one part and the beginning of the next would become one block."""
    if before.last not in _CODE_OR_LIST:
        return False
    return after.first in _CODE_OR_LIST or after.text.startswith((" ", "\t"))


def _is_closed(fence: Token, lines: Sequence[str]) -> bool:
    assert fence.map is not None, "block tokens have line ranges"
    start, end = fence.map
    mark = re.escape(fence.markup[0])
    closing = rf" {{0,3}}{mark}{{{len(fence.markup)},}}[ \t]*"
    return end - start > 1 and re.fullmatch(closing, lines[end - 1]) is not None


def _shift_headings(tokens: Sequence[Token], inserts: _Inserts) -> None:
    """Put the headings that stand on their own below those of the document."""
    for token in tokens:
        if token.type != "heading_open" or token.level:
            continue
        assert token.map is not None, "block tokens have line ranges"
        level = int(token.tag[1])
        shifted = min(level + HEADING_SHIFT, HEADING_LEVELS)
        if token.markup.startswith("#"):
            inserts.add(token.map[0], "#", 1, "#" * (shifted - level))
        else:
            inserts.underlined[token.map[0]] = (token.map[1], shifted)


class _Inserts:
    """Insertions into the lines of a source, placed by counting a character on its line.

    What stands before the content of a line (quote bars, bullets, blanks) holds none of
    :data:`_PLACES`, so the n-th of the content is the n-th of the line. Of a table row the cells
    share one line.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._inserts: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
        self._used: Counter[tuple[int, str]] = Counter()
        self._columns: tuple[int, str, list[int]] = (-1, "", [])
        self._joined: dict[int, int] = {}
        self.underlined: dict[int, tuple[int, int]] = {}

    def add(self, line: int, char: str, ordinal: int, text: str, *, is_after: bool = False) -> None:
        """Insert ``text`` at the ``ordinal``-th ``char`` of a line, counted from 1."""
        if self._columns[:2] != (line, char):
            places = [m.start() for m in re.finditer(re.escape(char), self._lines[line])]
            self._columns = (line, char, places)
        self._inserts[line].append((self._columns[2][ordinal - 1] + is_after, text))

    def add_edits(self, token: Token, edits: Iterable[_Edit]) -> None:
        """Insert edits of the content of one inline token; called for every one, in order."""
        assert token.map is not None, "block tokens have line ranges"
        line, start = token.map[0], 0
        by_line: defaultdict[int, list[tuple[int, _Edit]]] = defaultdict(list)
        for edit in sorted(edits):
            newlines = token.content.count("\n", start, edit.offset)
            line, start = line + newlines, edit.offset
            by_line[line].append((edit.offset, edit))
        offset = 0
        was_joined = False
        for number, content in enumerate(token.content.split("\n"), token.map[0]):
            edits_here = [e._replace(offset=at - offset) for at, e in by_line[number]]
            start = len(content) - len(content.lstrip())
            is_html = _HTML_LINE.match(content) and not any(e.offset == start for e in edits_here)
            # Of a line that became longer, a line of dashes would make the heading of a table.
            was_joined = bool(offset and is_html) or (
                was_joined and _DELIMITERS.fullmatch(content) is not None
            )
            if was_joined:
                self._joined[number] = self._column(number, content.strip())
            self._add_line(number, content, edits_here)
            offset += len(content) + 1

    def _column(self, line: int, content: str) -> int:
        """Return where the content of a line begins: it is the line's end."""
        return len(self._lines[line].rstrip()) - len(content)

    def escape_markers(self, token: Token) -> None:
        """Let what would begin a container be text, where containers are nested too deeply."""
        assert token.map is not None, "block tokens have line ranges"
        for number, content in enumerate(token.content.split("\n"), token.map[0]):
            marker = _MARKER.match(content)
            if marker is not None:
                column = self._column(number, content.rstrip()) + marker.end()
                self._inserts[number].append((column, "\\"))

    def join_definition(self, start: int, end: int) -> None:
        """Let the lines of a link definition go on where the line before ends."""
        bars = self._lines[start].partition("[")[0].count(">")
        for number in range(start + 1, end):
            line, column = self._lines[number], 0
            for _bar in range(bars):
                bar = _QUOTE_BAR.match(line, column)
                column = bar.end() if bar is not None else column
            if _HTML_LINE.match(line, column):
                self._joined[number] = column

    def _add_line(self, line: int, content: str, edits: Iterable[_Edit]) -> None:
        counts: Counter[str] = Counter()
        done = 0
        for edit in edits:
            counts.update(content[done : edit.offset + 1])
            done = max(done, edit.offset + 1)
            char = content[edit.offset]
            ordinal = self._used[line, char] + counts[char]
            self.add(line, char, ordinal, edit.text, is_after=edit.is_after)
        for char in _PLACES:
            self._used[line, char] += content.count(char)

    def edited(self) -> list[str]:
        """Return the lines with everything inserted."""
        out: list[str] = []
        number = 0
        while number < len(self._lines):
            end, level = self.underlined.get(number, (number + 1, 0))
            if level:
                lines = map(self._line, range(number, end - 1))
                out.append(_one_line_heading(list(lines), level))
                if end < len(self._lines) and self._lines[end].strip():
                    # Else dashes below it could make it the heading of a table.
                    out.append("")
            elif number in self._joined:
                out[-1] += " " + self._line(number, self._joined[number])
            else:
                out.append(self._line(number))
            number = end
        return out

    def _line(self, number: int, start: int = 0) -> str:
        line, out, done = self._lines[number], [], start
        for column, text in sorted(self._inserts.get(number, ()), key=lambda insert: insert[0]):
            out += [line[done:column], text]
            done = column
        return "".join([*out, line[done:]])


def _one_line_heading(lines: Sequence[str], level: int) -> str:
    """Return an underlined heading as one that stands on one line."""
    *others, last = lines
    # A backslash at the end of a line was a break.
    words = " ".join([*(_FINAL_BACKSLASH.sub(r"\1", line) for line in others), last]).strip()
    marks = "#" * level
    # What ends in marks needs others to take away.
    return f"{marks} {words} {marks}" if words.endswith("#") else f"{marks} {words}"


def _inline_edits(content: str, env: dict[str, Any]) -> list[_Edit]:
    env |= {"edits": [], "base": 0}
    parser = _part_parser()
    parser.inline.parse(content, parser, env, [])
    edits: list[_Edit] = env["edits"]
    label = _DEFINES.match(content)
    if label is not None:
        # It defines nothing here, and so it must not for others.
        edits.append(_Edit(label.end(), "\\"))
    return list(dict.fromkeys(edits))


@lru_cache(maxsize=1)
def _part_parser() -> MarkdownIt:
    """Return the parser of pages, which also notes what a document has to change."""
    parser = make_page_parser()
    # Inline content is looked at one by one, to know where it stands.
    parser.core.ruler.disable("inline")
    parser.block.ruler.at("reference", _noted_reference)
    parser.inline.ruler.at("link", _noted_link)
    parser.inline.ruler.at("image", _noted_image)
    parser.inline.ruler.push("literal", _literal)
    return parser


def _noted_reference(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:  # noqa: FBT001 - the parser calls it
    is_definition = page_reference(state, start_line, end_line, silent)
    if is_definition and not silent:
        state.env["definitions"].append((start_line, state.line))
    return is_definition


def _noted_link(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the parser calls it
    start, is_link = state.pos, link(state, silent)
    if is_link and not silent:
        _note_label(state, start, start)
    return is_link


def _noted_image(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the parser calls it
    env, start = state.env, state.pos
    # The words of a picture are parsed as a text of their own.
    env["base"] += start + 2
    is_image = image(state, silent)
    env["base"] -= start + 2
    if is_image and not silent:
        _note_label(state, start, start + 1)
    return is_image


def _note_label(state: StateInline, start: int, bracket: int) -> None:
    """Let a link that names a definition name it by the label that it has in the document."""
    end, state.pos = state.pos, start
    label_end = state.md.helpers.parseLinkLabel(state, bracket, bracket == start)
    state.pos = end
    base, prefix = state.env["base"], state.env["prefix"]
    rest = state.src[label_end + 1 : end]
    if rest.startswith("("):
        return
    label = state.src[bracket + 1 : label_end].replace("\n", " ")
    if not rest:
        edit = _Edit(base + label_end, f"[{prefix}{label}]", is_after=True)
    else:
        text = prefix if len(rest) > 2 else prefix + label
        edit = _Edit(base + label_end + 1, text, is_after=True)
    state.env["edits"].append(edit)


def _literal(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - the parser calls it
    """Take a character that no other rule wanted for text, with a backslash where it needs one."""
    char = state.src[state.pos]
    pattern = {"<": _BEGINS_HTML, "[": _BEGINS_LABEL}.get(char)
    found = pattern.match(state.src, state.pos) if pattern is not None else None
    if found is None:
        return False
    if not silent:
        edits, base = state.env["edits"], state.env["base"]
        if char == "[":
            # Behind the bracket, which may have a partner.
            edits.append(_Edit(base + found.end(), "\\"))
        else:
            edits.append(_Edit(base + state.pos, "\\"))
            # With the backslash it could be the target of a link, so that must not begin.
            bracket = _last_before(state.src, state.pos)
            if state.src[max(bracket - 1, 0) : bracket + 1] == "](":
                edits.append(_Edit(base + bracket, "\\"))
        state.pending += char
    state.pos += 1
    return True


def _last_before(text: str, position: int) -> int:
    """Return the place of the last character before ``position`` that is no blank, or -1."""
    position -= 1
    while position >= 0 and text[position].isspace():
        position -= 1
    return position
