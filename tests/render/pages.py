"""What a page must be, checked by three judges that know nothing of one another.

* :func:`strict_tree` accepts only what the writer may write: tags in lower case, attributes in
  double quotes, every element closed, four entities. What is written so, all parsers agree on.
* The sanitiser parses as browsers do: what it returns must be, byte for byte, what it was given.
* The oracle beside the suites says what a page made of untrusted text may hold.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any, Final
from unittest import mock
from xml.etree.ElementTree import Element

from blockwire.content import Message
from blockwire.render import htmldoc
from blockwire.render.documents import DocumentFormat, open_document
from blockwire.render.fence import fenced_html
from tests.render.turns import block, message
from tests.suites import suite_path

__all__ = ["document", "findings", "page", "strict_tree", "words"]

_TOKEN: Final = re.compile(
    r"(?P<text>(?:[^<>&\x00]|&(?:amp|lt|gt|quot|nbsp);)+)"
    r"|<(?P<open>[a-z][a-z0-9]*)(?P<attributes>(?: [a-z-]+=\"(?:[^\"<>&]|&(?:amp|lt|gt|quot|nbsp);)*\")*)>"
    r"|</(?P<close>[a-z][a-z0-9]*)>"
)
_ATTRIBUTE: Final = re.compile(r' ([a-z-]+)="([^"]*)"')
_VOID: Final = frozenset({"br", "hr", "img", "input", "meta"})
_ENTITIES: Final = (
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", '"'),
    ("&nbsp;", "\xa0"),
    ("&amp;", "&"),
)


def _plain(text: str) -> str:
    for entity, char in _ENTITIES:
        text = text.replace(entity, char)
    return text


def strict_tree(html: str) -> Element:
    """Return the tree of a page or fragment that is written as ours are; fail for any other."""
    html = html.removeprefix("<!DOCTYPE html>\n")
    # The text of a style sheet is no HTML.
    style = re.search(r"<style>\n(.*?)</style>", html, re.DOTALL)
    if style is not None:
        assert "<" not in style[1]
        html = html[: style.start(1)] + html[style.end(1) :]
    root = Element("fragment")
    stack = [root]
    position = 0
    while position < len(html):
        found = _TOKEN.match(html, position)
        assert found is not None, f"not ours: {html[position : position + 60]!r}"
        position = found.end()
        if found["text"] is not None:
            _add_text(stack[-1], _plain(found["text"]))
        elif found["close"] is not None:
            assert stack.pop().tag == found["close"], f"closed twice: {found[0]}"
        else:
            pairs = _ATTRIBUTE.findall(found["attributes"])
            attributes = {name: _plain(value) for name, value in pairs}
            assert len(attributes) == len(pairs), "an attribute twice"
            element = Element(found["open"], attributes)
            stack[-1].append(element)
            if found["open"] not in _VOID:
                stack.append(element)
    assert stack == [root], f"not closed: {stack[-1].tag}"
    return root


def _add_text(parent: Element, text: str) -> None:
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text


def words(html: str) -> str:
    """Return the text that a reader of a page sees."""
    root = strict_tree(html)
    body = root.find("html/body")
    return "".join((root if body is None else body).itertext())


def _checked_fence(html: str, *, with_pictures: bool) -> str:
    clean = fenced_html(html, with_pictures=with_pictures)
    assert clean == html, "the sanitiser found something"
    return clean


@contextmanager
def checked_fence() -> Iterator[None]:
    """Fail where the sanitiser of pages has something to do."""
    with mock.patch.object(htmldoc, "fenced_html", _checked_fence):
        yield


def document(document_format: DocumentFormat, messages: Iterable[Message], **options: Any) -> str:
    """Return a whole document."""
    opened = open_document(document_format, **options)
    return "".join([opened.head(), *map(opened.message, messages), opened.tail()])


def page(*messages: Message, **options: Any) -> str:
    """Return a page of ``messages``, on which the first two judges agree."""
    with checked_fence():
        html = document("html", messages, **options)
    strict_tree(html)
    return html


class _StrictParser:
    """In place of html5lib, where that is not installed: our pages are read by the strict parser."""

    def parse(self) -> None:
        """Exist; the oracle looks at it."""


def _parse(html: str, **_options: Any) -> Element:
    return strict_tree(html)[0]


@cache
def _oracle() -> Any:
    path = suite_path("tools/check_html.py")
    if importlib.util.find_spec("html5lib") is None:
        stand_in = ModuleType("html5lib")
        stand_in.__dict__.update(HTMLParser=_StrictParser, parse=_parse)
        sys.modules["html5lib"] = stand_in
    spec = importlib.util.spec_from_file_location("check_html", path)
    assert spec is not None and spec.loader is not None  # noqa: PT018 - one fact
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # What isolates names from the direction of the text around them.
    module.TAGS.add("bdi")
    return module


@cache
def _frame(role: str) -> str:
    return page(message(block("prose", markdown="hello"), role=role), title="hello")


def findings(html: str, role: str = "assistant") -> list[Any]:
    """Return what the oracle finds in a page, a frame of our own for that role not counted."""
    found: list[Any] = _oracle().check(html, _frame(role))
    return found
