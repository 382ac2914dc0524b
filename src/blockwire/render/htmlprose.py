"""Markdown to HTML that cannot do anything.

Spec: docs/spec/rendering/html.md.

A walk over the flat tokens: no recursion, so no nesting is too deep for it. All tags are written
here; text of others passes :mod:`~blockwire.render.htmltext`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.common.utils import unescapeAll
from markdown_it.rules_block import StateBlock, reference
from markdown_it.token import Token

from blockwire.render.fence import safe_href
from blockwire.render.highlight import Colours
from blockwire.render.htmltext import LINK_REL, html_attribute, html_line, html_text
from blockwire.render.incremental import normalise_markdown
from blockwire.render.inline import bound_nesting
from blockwire.render.markdown import fence_language

__all__ = ["HEADING_SHIFT", "code_html", "make_page_parser", "page_reference", "prose_html"]

HEADING_SHIFT: Final = 2
"""Levels by which headings of prose go down: above them stand the page's and the message's."""
INLINE_LEVELS_MAX: Final = 16
"""Emphasis inside of emphasis; the text of deeper one is shown without it."""
TARGETS_SHARE: Final = 12
TARGETS_CHARS_MIN: Final = 65_536
"""Addresses and titles take at most so many characters, or so many times those of the source."""

_LABEL: Final = re.compile(r"\[(?!\^)(?:[^\[\]\\<`]|\\[^<`])*\]:")
_ADDRESS: Final = re.compile(
    r"://|\bwww\.|[\w-]\.(?:com|org|net|edu|gov|io|dev|app|ai|co|info)\b|\w@\w", re.IGNORECASE
)
_SCHEME: Final = re.compile(r"\A(?:https?://|mailto:)?(?:www\.)?")
_TAG: Final = re.compile(r"<[^>]*>")
_TASKS: Final[Mapping[str, str]] = MappingProxyType(
    {"[ ] ": "", "[x] ": ' checked=""', "[X] ": ' checked=""'}
)


def make_page_parser() -> MarkdownIt:
    """Return a parser: CommonMark with tables and strikethrough; raw HTML and footnotes are text."""
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False})
    parser.enable(["table", "strikethrough"])
    parser.block.ruler.at("reference", page_reference)
    bound_nesting(parser)
    return parser


@lru_cache(maxsize=1)
def page_parser() -> MarkdownIt:
    """Return the parser of :func:`prose_html`."""
    return make_page_parser()


def page_reference(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:  # noqa: FBT001 - the parser calls it
    """Take a link definition, unless it is that of a footnote, which would vanish.

    One whose label holds what binds tighter than brackets is text too: the label could not be
    written anew in a document.
    """
    start = state.bMarks[start_line] + state.tShift[start_line]
    if _LABEL.match(state.src, start) is None:
        return False
    return reference(state, start_line, end_line, silent)


def prose_html(source: str, colours: Colours | None = None) -> str:
    """Return Markdown as HTML, one element for each top-level block, linear in its length.

    Args:
        source: ``prose.markdown``.
        colours: Of the message; None colours as if this were all of it.
    """
    source = normalise_markdown(source)
    if not source.endswith("\n"):
        # The last line of code has its end, whether its fence is closed or not.
        source += "\n"
    target_chars_max = max(len(source) * TARGETS_SHARE, TARGETS_CHARS_MIN)
    writer = _Writer(target_chars_max, colours or Colours())
    writer.write(page_parser().parse(source))
    return "".join(writer.out)


def code_html(text: str, language: str, colours: Colours) -> str:
    """Return code as HTML, with its language above it."""
    language = language.strip()
    code_class = f' class="language-{html_attribute(language)}"' if language else ""
    code = f"<pre><code{code_class}>{colours.html(text, language)}</code></pre>\n"
    if not language:
        return code
    label = f"<figcaption><bdi>{html_line(language)}</bdi></figcaption>"
    return f'<figure class="code">{label}{code}</figure>\n'


def _plain(tokens: Sequence[Token] | None) -> str:
    """Return what a picture shows as words."""
    return "".join(
        _plain(token.children)
        if token.type == "image"
        else "\n"
        if token.type == "softbreak"
        else token.content
        for token in tokens or ()
    )


class _Writer:
    """Writes tokens as HTML into ``out``."""

    def __init__(self, target_chars_max: int, colours: Colours) -> None:
        self.out: list[str] = []
        self._colours = colours
        self._target_chars_left = target_chars_max
        self._closing: list[str] = []  # what ends each open inline element
        self._link: _Link | None = None

    def write(self, tokens: Sequence[Token]) -> None:
        """Write block tokens, and those inside of them."""
        is_item_start = False
        for token in tokens:
            if token.type == "inline":
                self._inline(token.children or [], is_task=is_item_start)
            elif token.type in {"fence", "code_block"}:
                language = fence_language(unescapeAll(token.info))
                self.out.append(code_html(token.content, language, self._colours))
            elif not token.hidden:
                self.out.append(_BLOCKS[token.type](token))
            elif token.nesting < 0:
                self.out.append("\n")
            is_item_start = token.type == "list_item_open" or (
                is_item_start and token.type == "paragraph_open"
            )

    def _inline(self, tokens: Sequence[Token], *, is_task: bool) -> None:
        first = tokens[0].content if tokens and tokens[0].type == "text" else ""
        checked = _TASKS.get(first[:4]) if is_task else None
        if checked is not None:
            self.out.append(f'<input type="checkbox" disabled=""{checked}> ')
            self.out.append(html_text(first[4:]))
            tokens = tokens[1:]
        for token in tokens:
            self._inline_token(token)

    def _inline_token(self, token: Token) -> None:
        if token.nesting > 0:
            self._open(token)
        elif token.nesting < 0:
            self._close(token)
        elif token.type == "hardbreak":
            self.out.append("<br>\n")
        elif token.type == "softbreak":
            self.out.append("\n")
        elif token.type == "code_inline":
            self.out.append(f"<code>{html_text(token.content)}</code>")
        elif token.type == "image":
            self._image(token)
        else:
            self.out.append(html_text(token.content))

    def _open(self, token: Token) -> None:
        if token.type == "link_open":
            target = str(token.attrs["href"])
            start, end = self._link_tags(token, target, "link")
            self._link = _Link(target, len(self.out) + 1, is_named=token.markup == "autolink")
        elif len(self._closing) < INLINE_LEVELS_MAX:
            start, end = f"<{token.tag}>", f"</{token.tag}>"
        else:
            start = end = ""
        self.out.append(start)
        self._closing.append(end)

    def _close(self, token: Token) -> None:
        end, link = self._closing.pop(), self._link
        if token.type != "link_close" or link is None:
            self.out.append(end)
            return
        words = _TAG.sub("", "".join(self.out[link.start :]))
        self._link = None
        is_shown = not link.is_named and self._target_chars_left >= 0
        if end == "</a>":
            is_shown = is_shown and _is_misleading(words, link.target)
            self.out += [end, _shown(link.target) if is_shown else ""]
        else:
            is_shown = is_shown and words != html_text(link.target)
            self.out += [_shown(link.target) if is_shown else "", end]

    def _image(self, token: Token) -> None:
        target = str(token.attrs["src"])
        start, end = self._link_tags(token, target, "image")
        words = html_text(_plain(token.children) or "image")
        shown = _shown(target) if end != "</a>" and self._target_chars_left >= 0 else ""
        self.out.append(f"{start}{words}{shown}{end}")

    def _link_tags(self, token: Token, target: str, kind: str) -> tuple[str, str]:
        """Return what surrounds the words of a link or picture."""
        title = str(token.attrs.get("title", ""))
        self._target_chars_left -= len(target) + len(title)
        if self._target_chars_left < 0:
            # Many links may name one long address; that must not make a long page of a short text.
            return f'<span class="{kind}">', "</span>"
        titled = f' title="{html_attribute(title)}"' if title else ""
        href = safe_href(target) if self._link is None else None
        if href is not None:
            return f'<a class="{kind}" href="{href}" rel="{LINK_REL}"{titled}>', "</a>"
        return f'<span class="{kind}"{titled}>', "</span>"


class _Link(NamedTuple):
    """A link that is being written: its target, and where in the output its words begin.

    ``is_named``: they are the target.
    """

    target: str
    start: int
    is_named: bool


def _shown(target: str) -> str:
    return f' <span class="target">({html_line(target)})</span>' if target else ""


def _is_misleading(words: str, target: str) -> bool:
    """Return whether the words of a link, as HTML, name an address to which it does not lead."""
    if _ADDRESS.search(words) is None:
        return False
    named, real = _bare(words), _bare(html_text(target))
    return not (real == named or real.startswith((f"{named}/", f"{named}?", f"{named}#")))


def _bare(address: str) -> str:
    return _SCHEME.sub("", address.strip().lower()).rstrip("/")


def _heading(token: Token) -> str:
    level = min(int(token.tag[1]) + HEADING_SHIFT, 6)
    return f"<h{level}>" if token.nesting > 0 else f"</h{level}>\n"


def _ordered_list(token: Token) -> str:
    start = int(token.attrs.get("start", 1))
    return "<ol>\n" if start == 1 else f'<ol start="{start}">\n'


def _cell(token: Token) -> str:
    style = str(token.attrs.get("style", ""))
    side = style.removeprefix("text-align:")
    return f'<{token.tag} class="{side}">' if side in {"center", "right"} else f"<{token.tag}>"


def _fixed(text: str) -> Callable[[Token], str]:
    return lambda _token: text


_BLOCKS: Final[Mapping[str, Callable[[Token], str]]] = MappingProxyType(
    {
        "blockquote_close": _fixed("</blockquote>\n"),
        "blockquote_open": _fixed("<blockquote>\n"),
        "bullet_list_close": _fixed("</ul>\n"),
        "bullet_list_open": _fixed("<ul>\n"),
        "heading_close": _heading,
        "heading_open": _heading,
        "hr": _fixed("<hr>\n"),
        "list_item_close": _fixed("</li>\n"),
        "list_item_open": _fixed("<li>"),
        "ordered_list_close": _fixed("</ol>\n"),
        "ordered_list_open": _ordered_list,
        "paragraph_close": _fixed("</p>\n"),
        "paragraph_open": _fixed("<p>"),
        "table_close": _fixed("</table></div>\n"),
        "table_open": _fixed('<div class="table"><table>\n'),
        "tbody_close": _fixed("</tbody>\n"),
        "tbody_open": _fixed("<tbody>\n"),
        "td_close": _fixed("</td>\n"),
        "td_open": _cell,
        "th_close": _fixed("</th>\n"),
        "th_open": _cell,
        "thead_close": _fixed("</thead>\n"),
        "thead_open": _fixed("<thead>\n"),
        "tr_close": _fixed("</tr>\n"),
        "tr_open": _fixed("<tr>\n"),
    }
)
