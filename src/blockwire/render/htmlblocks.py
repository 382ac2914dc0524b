"""How each type of block looks in a page.

Spec: docs/spec/rendering/html.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, cast

import pybase64

from blockwire.content import Block
from blockwire.content.filetypes import INLINE_TYPES, sniff_type
from blockwire.render.captions import duration_words
from blockwire.render.highlight import Colours
from blockwire.render.htmlprose import code_html, prose_html
from blockwire.render.htmltext import html_attribute, html_line, html_text
from blockwire.render.incremental import normalise_markdown
from blockwire.render.values import VALUE_PARTS, has_value, value_text_of

__all__ = ["IMAGE_BYTES_MAX", "Images", "Surroundings", "block_html"]

Images = Mapping[str, bytes]
"""Content of attachments by id."""


class Surroundings(NamedTuple):
    """What the blocks of one message share.

    Attributes:
        images: What to show in place; kept out of the page where it is no picture.
        colours: Of their code.
    """

    images: Images
    colours: Colours


IMAGE_BYTES_MAX: Final = 4 * 1024 * 1024
"""Largest picture that is put into a page; a larger one is named only."""

_HEAD_BYTES: Final = 64
"""What tells a picture stands at its beginning."""
_MARKS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "pending": "\u25cb",
        "running": "\u25d0",
        "completed": "\u2713",
        "failed": "\u2717",
        "cancelled": "\u2013",
    }
)


def _literal(text: str, element: str = "p") -> str:
    """Return literal text with its line breaks."""
    shown = html_text(text.strip("\r\n"))
    return f'<{element} class="literal">{shown}</{element}>\n'


def _prose(block: Block, around: Surroundings) -> str:
    prose = prose_html(cast("str", block["markdown"]), around.colours)
    return f'<div class="prose">\n{prose}</div>\n' if prose else ""


def _code(block: Block, around: Surroundings) -> str:
    text = normalise_markdown(cast("str", block["text"])).removesuffix("\n")
    language = cast("str", block.get("language") or "")
    return code_html(text, language, around.colours) if text or language else ""


def _tool(block: Block, around: Surroundings) -> str:
    status = cast("str", block["status"])
    facts = " \u00b7 ".join(filter(None, (status, duration_words(block))))
    summary = (
        f'<span class="mark" aria-hidden="true">{_MARKS[status]}</span> '
        f'<bdi class="name">{html_line(cast("str", block["tool"]))}</bdi> '
        f'<span class="facts">{facts}</span>'
    )
    parts = [
        f"<dt>{label}</dt>\n<dd>{code_html(*value_text_of(block[member]), around.colours)}</dd>\n"
        for member, label in VALUE_PARTS
        if has_value(block, member)
    ]
    if not parts:
        return f'<p class="tool {status}" aria-label="Tool call">{summary}</p>\n'
    is_open = ' open=""' if status == "failed" else ""
    return (
        f'<details class="tool {status}" aria-label="Tool call"{is_open}>\n'
        f"<summary>{summary}</summary>\n<dl>\n{''.join(parts)}</dl>\n</details>\n"
    )


def _reasoning(block: Block, _around: Surroundings) -> str:
    text = cast("str", block["text"])
    if not text.strip():
        return ""
    return f'<details class="reasoning">\n<summary>Thinking</summary>\n{_literal(text)}</details>\n'


def _error(block: Block, _around: Surroundings) -> str:
    hint = " \u00b7 may be tried again" if block.get("retryable") is True else ""
    code = html_line(cast("str", block["code"]))
    return (
        '<div class="error" role="note" aria-label="Error">\n'
        f"{_literal(cast('str', block['message']))}"
        f'<p class="facts">{code}{hint}</p>\n</div>\n'
    )


def _notice(block: Block, _around: Surroundings) -> str:
    message = _literal(cast("str", block["message"]))
    return f'<div class="notice" role="note" aria-label="Notice">\n{message}</div>\n'


def _image_type(data: bytes) -> str | None:
    """Return the type of a picture that browsers show and that can hold no program."""
    if len(data) > IMAGE_BYTES_MAX:
        return None
    found = sniff_type(data[:_HEAD_BYTES])
    return found if found in INLINE_TYPES else None


def _attachment(block: Block, around: Surroundings) -> str:
    name, media_type = cast("str", block["name"]), cast("str", block["media_type"])
    data = around.images.get(cast("str", block["attachment_id"]), b"")
    shown_type = _image_type(data)
    picture = ""
    if shown_type is not None:
        source = f"data:{shown_type};base64,{pybase64.b64encode(data).decode()}"
        picture = f'<img src="{source}" alt="{html_attribute(name)}">\n'
    return (
        f'<figure class="attachment">\n{picture}<figcaption><bdi class="name">{html_line(name)}'
        f'</bdi> <span class="facts">{html_line(media_type)}</span></figcaption>\n</figure>\n'
    )


def _speech(block: Block, _around: Surroundings) -> str:
    text = _literal(cast("str", block["text"]))
    return f'<div class="speech" role="note" aria-label="Spoken">\n{text}</div>\n'


def _unknown(block: Block, _around: Surroundings) -> str:
    fallback = block.get("fallback_text")
    words = _literal(fallback) if isinstance(fallback, str) and fallback else ""
    block_type = html_line(cast("str", block["type"]))
    return f'<div class="unknown">\n<p class="facts">[<bdi>{block_type}</bdi>]</p>\n{words}</div>\n'


_LOOKS: Final[Mapping[str, Callable[[Block, Surroundings], str]]] = MappingProxyType(
    {
        "prose": _prose,
        "code": _code,
        "tool": _tool,
        "reasoning": _reasoning,
        "error": _error,
        "notice": _notice,
        "attachment": _attachment,
        "speech": _speech,
    }
)


def block_html(block: Block, around: Surroundings) -> str:
    """Return one valid block as HTML; nothing where there is nothing to see."""
    return _LOOKS.get(cast("str", block["type"]), _unknown)(block, around)
