"""Prose in a page against the examples of the CommonMark specification.

What a page does otherwise on purpose is undone before the comparison: headings stand two levels
lower, links that lead nowhere safe and pictures are words with their address, code has a label
and colours. What is left is the same tree, or an example that a table below explains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from unittest import mock
from xml.etree.ElementTree import Element

import pytest

from blockwire.render import htmlprose
from blockwire.render.htmlprose import prose_html
from tests.render.pages import strict_tree, words
from tests.suites import suite_json

EXAMPLES: Final[list[dict[str, Any]]] = suite_json("commonmark/spec.json")

# Why an example of the specification is another tree in a page -> the examples.
DEVIATIONS: Final[Mapping[str, frozenset[int]]] = {
    "raw HTML is text": frozenset(
        {
            21,
            31,
            *range(148, 194),
            203,
            310,
            311,
            346,
            *range(477, 480),
            493,
            496,
            526,
            538,
            *range(615, 620),
            625,
            *range(627, 634),
            645,
            646,
        }
    ),
    "an address of another scheme is words": frozenset({598, 600, 601, 603}),
    "a picture without words is called image": frozenset({583}),
}
REASONS: Final = {number: reason for reason, numbers in DEVIATIONS.items() for number in numbers}


def canonical(html: str) -> Any:
    """Return what a reader gets of HTML that is written as strictly as ours."""
    return _joined(strict_tree(html))


def _nodes(element: Element) -> Iterator[Any]:
    """Yield text and (tag, attributes, nodes), without what a page adds."""
    yield element.text or ""
    for child in element:
        yield from _node(child)
        yield child.tail or ""


def _node(element: Element) -> Iterator[Any]:
    kind = element.get("class", "")
    match element.tag, kind:
        case ("figure", "code") | ("div", "table"):
            yield from _nodes(element)
        case ("figcaption", _):
            return
        case ("span", "target"):
            return
        case ("img", _):
            yield ("img", _attributes(**element.attrib), [])
        case ("a" | "span", "link") | ("a", ""):
            yield (
                "a",
                _attributes(href=_target(element), title=element.get("title")),
                _joined(element),
            )
        case ("a" | "span", "image"):
            alt = _words(element)
            yield (
                "img",
                _attributes(src=_target(element), alt=alt, title=element.get("title")),
                [],
            )
        case ("span", _):
            yield from _nodes(element)
        case _:
            kept = {"start": element.get("start"), "class": kind or None}
            yield (element.tag, _attributes(**kept), _joined(element))


def _joined(element: Element) -> list[Any]:
    """Return the nodes of an element: neighbouring texts as one, blanks around blocks left out."""
    out: list[Any] = []
    for node in _nodes(element):
        if isinstance(node, str) and out and isinstance(out[-1], str):
            out[-1] += node
        else:
            out.append(node)
    if element.tag == "code":
        return out
    if element.tag == "li":
        out = [node.strip("\n") if isinstance(node, str) else node for node in out]
    if _has_target(element) and isinstance(out[-1], str):
        # Between the words of a link and the address that is shown beside them.
        out[-1] = out[-1].removesuffix(" ")
    return [node for node in out if not isinstance(node, str) or node.strip("\n")]


def _has_target(element: Element) -> bool:
    return any(child.get("class") == "target" for child in element)


def _words(element: Element) -> str:
    text = element.text or ""
    return text.removesuffix(" ") if _has_target(element) else text


def _target(element: Element) -> str:
    if element.tag == "a":
        return element.get("href", "")
    shown = [child.text or "" for child in element if child.get("class") == "target"]
    return shown[0][1:-1] if shown else ""


def _attributes(**values: str | None) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}


def expected(html: str) -> Any:
    """Return the tree of an example's HTML; fails where that holds raw HTML of other kinds."""
    html = re.sub(r"<(br|hr|img)((?: [a-z]+=\"[^\"]*\")*) />", r"<\1\2>", html)
    return canonical(html.replace("\xa0", "&nbsp;"))


def shown(markdown: str) -> Any:
    with mock.patch.object(htmlprose, "HEADING_SHIFT", 0):
        return canonical(prose_html(markdown))


@pytest.mark.requirement("render:html:commonmark")
@pytest.mark.parametrize("example", EXAMPLES, ids=[str(found["example"]) for found in EXAMPLES])
def test_prose_is_what_the_specification_of_commonmark_says(example: dict[str, Any]) -> None:
    try:
        wanted = expected(example["html"])
    except AssertionError:
        wanted = "raw HTML"
    same = shown(example["markdown"]) == wanted

    assert same != (example["example"] in REASONS)


@pytest.mark.requirement("render:markdown:as-text")
def test_raw_html_of_the_examples_is_text() -> None:
    for example in EXAMPLES:
        if REASONS.get(example["example"]) == "raw HTML is text":
            tags = re.findall(r"</?[a-z]+(?=[ >])", example["html"])
            text = words(prose_html(example["markdown"]))

            assert [tag for tag in tags if tag in example["markdown"] and tag not in text] == []
