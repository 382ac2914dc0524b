"""Markdown of one block as a part of a document: it reads the same and ends with the block.

Spec: docs/spec/rendering/markdown-document.md.

The source stays as it was written but for small edits: a backslash before what would begin raw
HTML or a footnote, headings two levels down, labels of link definitions made unique, and a fence
closed that nobody closed. Where an edit belongs is told by the parser itself, at the moment when
it takes a character for text or a bracket for a link.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline, image, link
from markdown_it.token import Token

from blockwire.render.htmlprose import HEADING_SHIFT, make_page_parser, page_reference
from blockwire.render.incremental import normalise_markdown
from blockwire.render.inline import NESTING_LEVELS_MAX
from blockwire.render.sourceedits import Edit, SourceEdits
from blockwire.text import label_controls

__all__ = ["ProsePart", "contained_prose", "joins_on"]

HEADING_LEVELS: Final = 6

# What a "<" or "[" must be followed by to be something else to other readers of Markdown.
_BEGINS_HTML: Final = re.compile(r"<[A-Za-z/!?]")
_BEGINS_LABEL: Final = re.compile(r"\[\s*(?=\^|/[0-9]+/)")
_DEFINES: Final = re.compile(r"\[(?:[^\[\]\\]|\\.)*\](?=:)", re.DOTALL)
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
    inserts = SourceEdits(lines)
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


def _shift_headings(tokens: Sequence[Token], inserts: SourceEdits) -> None:
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


def _inline_edits(content: str, env: dict[str, Any]) -> list[Edit]:
    env |= {"edits": [], "base": 0}
    parser = _part_parser()
    parser.inline.parse(content, parser, env, [])
    edits: list[Edit] = env["edits"]
    label = _DEFINES.match(content)
    if label is not None:
        # It defines nothing here, and so it must not for others.
        edits.append(Edit(label.end(), "\\"))
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
        edit = Edit(base + label_end, f"[{prefix}{label}]", is_after=True)
    else:
        text = prefix if len(rest) > 2 else prefix + label
        edit = Edit(base + label_end + 1, text, is_after=True)
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
            edits.append(Edit(base + found.end(), "\\"))
        else:
            edits.append(Edit(base + state.pos, "\\"))
            # With the backslash it could be the target of a link, so that must not begin.
            bracket = _last_before(state.src, state.pos)
            if state.src[max(bracket - 1, 0) : bracket + 1] == "](":
                edits.append(Edit(base + bracket, "\\"))
        state.pending += char
    state.pos += 1
    return True


def _last_before(text: str, position: int) -> int:
    """Return the place of the last character before ``position`` that is no blank, or -1."""
    position -= 1
    while position >= 0 and text[position].isspace():
        position -= 1
    return position
