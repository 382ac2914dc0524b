"""Inline Markdown to spans, and how much of an unfinished paragraph is decided.

Spec: docs/spec/rendering/markdown.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, blockquote, list_block, table
from markdown_it.token import Token

from blockwire.render.spans import PLAIN, Span, Style, clean, join_spans, safe_link
from blockwire.text import last_break

__all__ = ["bound_nesting", "inline_lines", "markdown_parser", "stable_source"]

_BlockRule = Callable[[StateBlock, int, int, bool], bool]

NESTING_LEVELS_MAX: Final = 32
"""Quotes, lists and items inside of each other; the marks of deeper ones are shown as text."""

_CODE: Final = Style(colour="cyan")
_URL: Final = Style(dim=True)
# Delimiters that later text may still turn into markup. A "*" before a blank opens nothing, and
# neither does a "_" inside a word. "<", "&", "!" and "\\" matter only within one word, and the
# last word of unfinished text is never decided.
_UNDECIDED: Final = re.compile(
    r"`|\*(?=\S|\Z)|(?<![^\W_])_(?=\S|\Z)|~~|\[(?![^\[\]`]*\](?:[^(\[]|\Z))|\\\Z"
)
# Characters that may be gone, or be others, once it is known what they mark.
_MARKS: Final = frozenset("*_~`[]<&\\")


@lru_cache(maxsize=1)
def markdown_parser() -> MarkdownIt:
    """Return the parser: CommonMark with tables and strikethrough; raw HTML is text.

    Link reference definitions are off: a definition that arrives at the end would change
    paragraphs that a terminal has printed already. They show as they were written. For the same
    reason a table begins with a bar: else the words before the first bar would be text until then.
    """
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False})
    # What was escaped stays a token of its own, so that it is never taken for a delimiter.
    parser.enable(["table", "strikethrough"]).disable(["reference", "text_join"])
    parser.block.ruler.at("table", _barred_table, {"alt": ["paragraph"]})
    bound_nesting(parser)
    return parser


def bound_nesting(parser: MarkdownIt) -> None:
    """Let containers that are nested too deeply be text, so that nothing is dropped."""
    # Where the parser stops by itself, it drops what is left; our own bound comes first.
    parser.options["maxNesting"] = 2 * NESTING_LEVELS_MAX
    ruler = parser.block.ruler
    ruler.at(
        "blockquote",
        _bounded(blockquote),
        {"alt": ["paragraph", "reference", "blockquote", "list"]},
    )
    ruler.at("list", _bounded(list_block), {"alt": ["paragraph", "reference", "blockquote"]})


def _bounded(rule: _BlockRule) -> _BlockRule:
    """Return a rule for containers that takes those which are nested too deeply for text."""

    def bounded(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:  # noqa: FBT001 - the parser calls it
        return state.level < NESTING_LEVELS_MAX and rule(state, start_line, end_line, silent)

    return bounded


def _barred_table(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:  # noqa: FBT001 - the parser calls it
    start = state.bMarks[start_line] + state.tShift[start_line]
    return state.src.startswith("|", start) and table(state, start_line, end_line, silent)


def inline_lines(tokens: Sequence[Token] | None, base: Style = PLAIN) -> list[list[Span]]:
    """Return the spans of each line of inline ``tokens``; hard breaks separate lines."""
    lines = _Lines(base)
    for token in tokens or ():
        lines.add(token)
    return [list(join_spans(line)) for line in lines.lines]


class _Lines:
    """Lines of spans under construction.

    Attributes:
        lines: At least one.
    """

    def __init__(self, base: Style) -> None:
        self.lines: list[list[Span]] = [[]]
        self._styles = [base]
        self._links: list[tuple[str, int, int]] = []  # target, line and span where its text begins

    def add(self, token: Token) -> None:
        """Add one token."""
        if token.nesting > 0:
            self._open(token)
        elif token.nesting < 0:
            self._close(token)
        elif token.type == "hardbreak":
            self.lines.append([])
        elif token.type == "image":
            self._add_image(token)
        else:
            self._add_text(token)

    def _add_text(self, token: Token) -> None:
        style = self._styles[-1]
        if token.type == "code_inline":
            style = style._replace(colour=_CODE.colour)
        text = " " if token.type == "softbreak" else clean(token.content)
        self.lines[-1].append(Span(text, style))

    def _add_image(self, token: Token) -> None:
        # Nothing is loaded: the description stands for the picture, with where it would come from.
        style = self._styles[-1]._replace(italic=True)
        self.lines[-1].append(Span(clean(token.content or "image"), style))
        self.lines[-1].append(Span(f" ({clean(str(token.attrs['src']))})", _URL))

    def _open(self, token: Token) -> None:
        style = self._styles[-1]
        match token.type:
            case "strong_open":
                style = style._replace(bold=True)
            case "em_open":
                style = style._replace(italic=True)
            case "s_open":
                style = style._replace(strike=True)
            case _:  # a link
                target = str(token.attrs["href"])
                self._links.append((target, len(self.lines) - 1, len(self.lines[-1])))
                style = style._replace(underline=True, link=safe_link(target))
        self._styles.append(style)

    def _close(self, token: Token) -> None:
        self._styles.pop()
        if token.type == "link_close":
            self._add_target(*self._links.pop())

    def _add_target(self, target: str, line_index: int, span_index: int) -> None:
        """Show where a link goes unless its text says so already: a label must not lie."""
        label = "".join(span.text for span in self.lines[line_index][span_index:])
        label += "".join(span.text for line in self.lines[line_index + 1 :] for span in line)
        shown = clean(target)
        if target and shown not in {label, f"mailto:{label}"}:
            style = self._styles[-1]
            linked = style._replace(dim=True, link=safe_link(target))
            self.lines[-1] += [Span(" (", style), Span(shown, linked), Span(")", style)]


def _decided_end(source: str) -> int:
    """Return the largest offset before which later text moves no row, whatever it is."""
    newline = source.rfind("\n")
    cut = last_break(source)
    # A row may break beside an ideograph, but a mark that follows it may turn out to be markup,
    # and what stands behind the mark may be of those that stay with what comes before them.
    while max(newline, 0) < cut < len(source) and source[cut] in _MARKS and source[cut - 1] != " ":
        cut = last_break(source[:cut])
    return max(cut, newline)


def stable_source(source: str) -> tuple[list[Token], bool]:
    """Return the inline tokens of an unfinished paragraph that no later text can change.

    Args:
        source: The paragraph so far. Its last word may go on, so it is never decided; neither is
            what follows or surrounds a delimiter that may still find its partner.

    Returns:
        The tokens, and whether they reach up to a place where a row may break.
    """
    cut = _decided_end(source)
    children = markdown_parser().parseInline(source[:cut].rstrip(" \n"))[0].children or []
    stable: list[Token] = []
    depth = complete = 0
    for token in children:
        if token.type == "text":
            undecided = _UNDECIDED.search(token.content)
            if undecided is not None:
                if depth == 0:
                    part = token.copy()
                    part.content = token.content[: undecided.start()]
                    return [*stable, part], False
                return stable[:complete], False
        stable.append(token)
        depth += token.nesting
        if depth == 0:
            complete = len(stable)
    return stable, True
