"""Whatever stands in a message, wherever: its page holds text and nothing that acts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from blockwire.content import Message
from tests.render.pages import document, findings, page, strict_tree, words
from tests.render.places import PLACES
from tests.render.turns import block, message
from tests.suites import suite_json
from tests.support.cases import case, case_input

OTHERS: Final = [
    vector["payload"]
    for suite in ("dompurify", "h5sc", "owasp")
    for vector in suite_json(f"xss/{suite}.json")["vectors"]
]
OWN: Final[list[dict[str, Any]]] = suite_json("xss/own_markdown.json")["vectors"]
PAYLOADS: Final = [
    *OTHERS,
    *(vector["markdown"] for vector in OWN if len(vector["markdown"]) < 10_000),
]
TERMINAL: Final = [found["payload"] for found in suite_json("terminal/payloads.json")["cases"]]


@pytest.mark.requirement("render:html:inert")
@pytest.mark.requirement("render:html:sanitiser")
@pytest.mark.parametrize(("place", "said"), PLACES, ids=[place for place, _said in PLACES])
def test_no_payload_acts_in_a_page(place: str, said: Callable[[str], Message]) -> None:
    messages = [said(payload) for payload in (*PAYLOADS, *TERMINAL)]

    html = page(*messages, title="hello")

    assert findings(html, "no role" if place == "role" else "assistant") == []
    assert len(strict_tree(html).findall("html/body/main/article")) == len(messages)


@pytest.mark.requirement("render:html:inert")
def test_no_payload_acts_from_a_title() -> None:
    for payload in (*PAYLOADS, *TERMINAL):
        html = page(message(block("prose", markdown="hello")), title=payload)

        assert findings(html) == []
        assert len(strict_tree(html).findall("html/body/*")) == 2


@pytest.mark.exhaustive
@pytest.mark.requirement("render:html:inert")
@pytest.mark.parametrize("vector", OWN, ids=[vector["id"] for vector in OWN])
def test_no_markdown_of_ours_acts_alone_in_a_page(vector: dict[str, Any]) -> None:
    assert findings(page(message(block("prose", markdown=vector["markdown"])), title="hello")) == []


@pytest.mark.exhaustive
@pytest.mark.requirement("render:markdown-document:inert")
@pytest.mark.parametrize(("place", "said"), PLACES, ids=[place for place, _said in PLACES])
def test_no_payload_acts_in_a_page_made_of_the_markdown_document(
    place: str, said: Callable[[str], Message]
) -> None:
    del place
    messages = [said(payload) for payload in (*PAYLOADS, *TERMINAL)]

    source = document("markdown", messages, title="hello")

    assert findings(page(message(block("prose", markdown=source)), title="hello")) == []


@case("M06")
@pytest.mark.requirement("render:html:inert")
@pytest.mark.parametrize("role", ["user", "assistant", "tool"])
def test_live_markup_is_text_for_every_role(role: str) -> None:
    for payload in case_input("M06")["messages"]:
        for _place, said in PLACES:
            html = page({**said(payload), "role": role}, title="hello")

            assert findings(html, role) == []


@case("M05")
@pytest.mark.requirement("render:markdown:as-text")
def test_what_looks_like_markup_is_shown_by_every_renderer() -> None:
    source = case_input("M05")["markdown"]
    said = message(block("prose", markdown=source))
    shown = source.replace("\\<", "<").replace("\\>", ">")

    assert shown in words(page(said))
    assert source in document("text", [said])
    # The document says it in the way of Markdown: with a backslash where something would begin.
    markdown = document("markdown", [said])
    assert shown in words(page(message(block("prose", markdown=markdown))))


@case("M09")
@pytest.mark.requirement("render:html:inert")
def test_half_a_tag_is_text_in_every_prefix() -> None:
    whole = case_input("M09")["prefixes_of"]
    for end in range(len(whole) + 1):
        html = page(message(block("prose", markdown=whole[:end])), title="hello")

        assert findings(html) == []
        assert whole[:end].strip() in words(html)


@case("M01")
@case("M02")
@pytest.mark.requirement("render:html:inert")
@pytest.mark.parametrize("name", ["M01", "M02"])
def test_a_message_cut_anywhere_is_a_page_of_its_own(name: str) -> None:
    whole = case_input(name)["prefixes_of"]
    for end in range(len(whole) + 1):
        unfinished = message(block("prose", markdown=whole[:end]), status="streaming")
        html = page(unfinished, message(block("prose", markdown="the next"), id="msg_2"))

        assert [article.findtext("div/p") for article in strict_tree(html).iter("article")][
            -1
        ] == "the next"
