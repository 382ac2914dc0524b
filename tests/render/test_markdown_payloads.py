"""Markdown documents against the public suites: every reader keeps every message to itself."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.render.foreign import (
    assert_contained,
    assert_reads_the_same,
    html_in,
    parsed,
    sections,
)
from tests.render.pages import document
from tests.render.places import PLACES
from tests.render.showcase import SHOWCASE
from tests.suites import suite_json

EXAMPLES: Final[list[str]] = [found["markdown"] for found in suite_json("commonmark/spec.json")]
XSS: Final[list[str]] = [
    vector["markdown" if suite == "own_markdown" else "payload"]
    for suite in ("dompurify", "h5sc", "owasp", "own_markdown")
    for vector in suite_json(f"xss/{suite}.json")["vectors"]
]
FRAME: Final = re.compile(
    r"<details>\n<summary>[^<]*(?:<code>[^<]*</code>[^<]*)?</summary>\n|</details>\n?|<!-- -->\n?"
)


@pytest.mark.exhaustive
@pytest.mark.requirement("render:markdown-document:contained")
@pytest.mark.requirement("render:markdown-document:same")
def test_examples_and_payloads_are_contained_and_read_the_same() -> None:
    for source in (*EXAMPLES, *XSS):
        if len(source) < 10_000:
            assert_contained(source)
            assert_reads_the_same(source)


@pytest.mark.exhaustive
@pytest.mark.requirement("render:markdown-document:sections")
@pytest.mark.parametrize("index", range(len(PLACES)), ids=[place for place, _said in PLACES])
def test_no_payload_swallows_the_next_message(index: int) -> None:
    said = PLACES[index][1]
    other = SHOWCASE["others"][2]
    alone = sections(document("markdown", [other]))[0]
    # Each place gets its share; as prose, all of them are in the test above.
    payloads = [found for found in (*EXAMPLES, *XSS) if len(found) < 10_000][index % 6 :: 6]

    source = document("markdown", [m for payload in payloads for m in (said(payload), other)])

    found = sections(source)
    assert len(found) == 2 * len(payloads)
    assert [number for number, kinds in enumerate(found[1::2]) if kinds != alone] == []
    assert [html for html in html_in(parsed(source)[0]) if FRAME.sub("", html).strip()] == []
