"""No input reaches a terminal as a control, wherever in a message it stands."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import pytest

from blockwire.content import Message
from blockwire.render import (
    PlainStream,
    TerminalLook,
    TranscriptStream,
    plain_text,
    request_text,
    transcript_text,
)
from blockwire.render.documents import DOCUMENT_FORMATS, DocumentFormat
from blockwire.text import label_controls
from tests.render.pages import document, words
from tests.render.places import NOT_IN_PAGES, NOT_IN_TERMINAL, NOT_IN_TEXT, PLACES
from tests.render.turns import block, grown, message, turn
from tests.suites import suite_json, suite_path

PAYLOADS: list[dict[str, Any]] = suite_json("terminal/payloads.json")["cases"]
LOOKS = [
    TerminalLook(columns=200),
    TerminalLook(columns=200, escapes=False, colour=False, ambiguous_width=2),
]


def _oracle() -> Any:
    """Return the judge of terminal output that lies beside the suites."""
    spec = importlib.util.spec_from_file_location(
        "check_terminal", suite_path("tools/check_terminal.py")
    )
    assert spec is not None and spec.loader is not None  # noqa: PT018 - one fact
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ORACLE = _oracle()


def findings(case: dict[str, Any], rendered: str, *, is_shown: bool = True) -> list[Any]:
    """Return what acts in a text, and what is lost of what should be shown."""
    found: list[Any] = ORACLE.check_case(case, rendered)
    return found if is_shown else [item for item in found if item[0] != "text-lost"]


@pytest.mark.requirement("render:terminal:no-controls")
@pytest.mark.parametrize(("place", "said"), PLACES, ids=[place for place, _said in PLACES])
@pytest.mark.case("T01")
def test_no_payload_acts_on_the_terminal_and_its_text_stays(
    place: str, said: Callable[[str], Message]
) -> None:
    for case in PAYLOADS:
        whole = said(case["payload"])
        for look in LOOKS:
            text = transcript_text([whole], look, with_reasoning=True)
            is_shown = place not in NOT_IN_TERMINAL
            assert findings(case, text, is_shown=is_shown) == [], case["id"]
            assert "\t" not in text
        plain = plain_text(whole, with_reasoning=True)
        assert findings(case, plain, is_shown=place not in NOT_IN_TEXT) == [], case["id"]


@pytest.mark.requirement("render:document:no-controls")
@pytest.mark.case("T01")
@pytest.mark.case("T07")
@pytest.mark.case("T13")
@pytest.mark.parametrize("document_format", ["text", "markdown", "html"])
@pytest.mark.parametrize(("place", "said"), PLACES, ids=[place for place, _said in PLACES])
def test_no_payload_acts_from_a_document_on_the_terminal_that_shows_it(
    document_format: DocumentFormat, place: str, said: Callable[[str], Message]
) -> None:
    for case in PAYLOADS:
        whole = said(case["payload"])
        text = document(document_format, [whole], title=case["payload"])
        assert findings(case, text, is_shown=False) == [], case["id"]
        if document_format == "html":
            is_shown = place not in NOT_IN_PAGES
            seen_words = words(text).replace("\u2409", "\t")
            assert findings(case, seen_words, is_shown=is_shown) == [], case["id"]


@pytest.mark.requirement("render:terminal:no-controls")
def test_a_payload_cut_into_deltas_shows_what_the_whole_shows() -> None:
    for case in PAYLOADS:
        pieces = case["delta_pieces"] or list(case["payload"])
        for kind, field in (("prose", "markdown"), ("reasoning", "text")):
            state = list(grown([block(kind, **{field: ""})]))[1]
            whole = message(block(kind, **{field: "".join(pieces)}))
            drawn, plain = (
                TranscriptStream(LOOKS[0], with_reasoning=True),
                PlainStream(with_reasoning=True),
            )
            printed = ["", ""]
            states = []
            for piece in pieces:
                state = state.with_block(0, state.blocks[0].with_text(piece))
                states.append(state)
            states.append(turn(state.blocks[0].completed(), status="completed"))
            for state in states:
                printed[0] += drawn.show_turn(state)
                printed[1] += plain.show_turn(state)

            assert findings(case, printed[0]) == findings(case, printed[1]) == [], case["id"]
            assert seen(printed[0]) == seen(transcript_text([whole], LOOKS[0], with_reasoning=True))


@pytest.mark.exhaustive
@pytest.mark.requirement("render:terminal:no-controls")
@pytest.mark.requirement("render:document:no-controls")
def test_no_example_and_no_payload_of_other_suites_acts_on_a_terminal() -> None:
    sources = [found["markdown"] for found in suite_json("commonmark/spec.json")]
    for suite in ("dompurify", "h5sc", "owasp", "own_markdown"):
        vectors = suite_json(f"xss/{suite}.json")["vectors"]
        sources += [found.get("markdown", found.get("payload")) for found in vectors]
    for source in (found for found in sources[::3] if len(found) < 2_000):
        said = message(block("prose", markdown=source), block("chart", fallback_text=source))
        texts = [transcript_text([said], LOOKS[0])]
        texts += [document(name, [said]) for name in DOCUMENT_FORMATS]
        for text in texts:
            # Directions of text are labelled, so not even a warning is left.
            assert ORACLE.scan(text)[0] == [], source[:80]


def seen(text: str) -> str:
    """Return what a reader sees of a text with styles and links."""
    visible: str = ORACLE.scan(text)[1]
    return visible


@pytest.mark.requirement("render:terminal:no-controls")
def test_no_payload_acts_from_a_question() -> None:
    for case in PAYLOADS:
        request = {
            "id": "r",
            "kind": "question",
            "prompt": case["payload"],
            "options": case["payload"],
        }
        waiting = turn(status="suspended", request=request)

        assert findings(case, TranscriptStream(LOOKS[0]).show_turn(waiting)) == [], case["id"]
        assert findings(case, label_controls(request_text(request))) == [], case["id"]


LINKS: list[tuple[str, bool]] = [
    ("https://example.org/a?b=c", True),
    ("http://example.org/", True),
    ("mailto:ann@example.org", True),
    ("HTTPS://example.org/", True),
    ("javascript:alert(1)", False),
    ("file:///etc/passwd", False),
    ("/relative", False),
    ("https://example.org/" + "a" * 3000, False),
]  # fmt: skip


@pytest.mark.requirement("render:terminal:links")
@pytest.mark.parametrize(("target", "is_linked"), LINKS)
def test_only_short_targets_of_harmless_schemes_become_links(target: str, is_linked: bool) -> None:
    said = message(block("prose", markdown=f"[label]({target})"))

    text = transcript_text([said], TerminalLook(columns=80))

    assert ("\x1b]8;" in text) == is_linked
    assert target.split(":", maxsplit=1)[0] in seen(text)
    assert "\x1b" not in transcript_text([said], TerminalLook(columns=80, escapes=False))


@pytest.mark.requirement("render:terminal:link-target")
def test_a_link_shows_where_it_goes_unless_its_text_says_so() -> None:
    for markdown, expected in [
        ("<https://a.b/c>", "https://a.b/c"),
        ("<ann@a.b>", "ann@a.b"),
        ("[https://a.b](https://evil.c)", "https://a.b (https://evil.c)"),
        ("[two  \nlines](https://a.b)", "two\nlines (https://a.b)"),
        ("[none]()", "none"),
        ("![pic](https://a.b/p.png)", "pic (https://a.b/p.png)"),
        ("![](https://a.b/p.png)", "image (https://a.b/p.png)"),
    ]:
        said = message(block("prose", markdown=markdown))
        assert seen(transcript_text([said], LOOKS[0])) == f"assistant\n\n{expected}\n"
