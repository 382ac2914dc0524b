"""Small edits of a Markdown source, each placed where a character of its content stands.

Spec: docs/spec/rendering/markdown-document.md. The parser tells offsets in inline content, which
has lost quote bars and indents; here they become columns of lines.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from markdown_it.common.html_blocks import block_names
from markdown_it.token import Token

__all__ = ["Edit", "SourceEdits"]

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


class Edit(NamedTuple):
    """Text to insert: before or after a character of inline content."""

    offset: int
    text: str
    is_after: bool = False


class SourceEdits:
    """Insertions into the lines of a source, placed by counting a character on its line.

    What stands before the content of a line (quote bars, bullets, blanks) holds none of
    :data:`_PLACES`, so the n-th of the content is the n-th of the line. Of a table row the cells
    share one line.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._inserts: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
        self._used: Counter[tuple[int, str]] = Counter()
        self._at = -1
        self._columns: dict[str, list[int]] = {}
        self._joined: dict[int, int] = {}
        self.underlined: dict[int, tuple[int, int]] = {}

    def add(self, line: int, char: str, ordinal: int, text: str, *, is_after: bool = False) -> None:
        """Insert ``text`` at the ``ordinal``-th ``char`` of a line, counted from 1."""
        self._inserts[line].append((self._places(line, char)[ordinal - 1] + is_after, text))

    def _places(self, line: int, char: str) -> list[int]:
        """Return the columns of a character; those of the line at hand are kept."""
        if self._at != line:
            self._at, self._columns = line, {}
        if char not in self._columns:
            found = re.finditer(re.escape(char), self._lines[line])
            self._columns[char] = [match.start() for match in found]
        return self._columns[char]

    def add_edits(self, token: Token, edits: Iterable[Edit]) -> None:
        """Insert edits of the content of one inline token; called for every one, in order."""
        assert token.map is not None, "block tokens have line ranges"
        line, start = token.map[0], 0
        by_line: defaultdict[int, list[tuple[int, Edit]]] = defaultdict(list)
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

    def _add_line(self, line: int, content: str, edits: Iterable[Edit]) -> None:
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
        out: list[list[str]] = []
        number = 0
        while number < len(self._lines):
            end, level = self.underlined.get(number, (number + 1, 0))
            if level:
                lines = map(self._line, range(number, end - 1))
                out.append([_one_line_heading(list(lines), level)])
                if end < len(self._lines) and self._lines[end].strip():
                    # Else dashes below it could make it the heading of a table.
                    out.append([])
            elif number in self._joined:
                out[-1].append(self._line(number, self._joined[number]))
            else:
                out.append([self._line(number)])
            number = end
        return [" ".join(parts) for parts in out]

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
