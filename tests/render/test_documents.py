"""Documents: what stands around the blocks, and that all of it is written piece by piece."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest
from hypothesis import given

from blockwire.content import Message, visible_message
from blockwire.render import TerminalLook, plain_text, transcript_text
from blockwire.render.captions import duration_words, time_iso, time_words
from blockwire.render.documents import DOCUMENT_FORMATS, DocumentFormat, open_document
from blockwire.render.fence import fenced_html
from blockwire.render.htmlblocks import IMAGE_BYTES_MAX
from blockwire.render.values import DOCUMENT_VALUE_CHARS_MAX
from blockwire.testing.strategies import messages
from blockwire.text import label_controls
from tests.render.foreign import html_in, parsed, sections
from tests.render.pages import document, page, strict_tree, words
from tests.render.turns import block, message

SAID: Final = message(block("prose", markdown="hello"), created_at=1_767_225_600_000)
PNG: Final = b"\x89PNG\r\n\x1a\n" + b"\0" * 8


def article(html: str) -> str:
    """Return the messages of a page without the page."""
    return html.partition("<main>\n")[2].partition("</main>")[0]


@pytest.mark.parametrize(
    ("document_format", "expected"),
    [
        ("text", ("Title\n2026-01-01 00:00 UTC\n\n== Ann · User · model-1 · 2026-01-01 00:00 UTC ==\n\nhello\n"
                 "\n== Assistant · 2026-01-01 00:00 UTC ==\n\nhello\n\n(This message was stopped.)\n")),
        ("markdown", ("# Title\n\n2026-01-01 00:00 UTC\n\n## Ann\n\nUser · model-1 · 2026-01-01 00:00 UTC\n\nhello\n"
                     "\n## Assistant\n\n2026-01-01 00:00 UTC\n\nhello\n\n*This message was stopped.*\n")),
    ],
)  # fmt: skip
def test_a_document_says_who_speaks_when_and_how_it_ended(document_format: DocumentFormat, expected: str) -> None:  # fmt: skip
    said = [
        {**SAID, "role": "user", "author": "Ann", "model": "model-1"},
        {**SAID, "status": "cancelled"},
    ]

    assert document(document_format, said, title="Title", created_at=1_767_225_600_000) == expected


@pytest.mark.parametrize("document_format", ["text", "markdown"])
def test_a_document_without_title_begins_with_its_first_message(document_format: DocumentFormat) -> None:  # fmt: skip
    text = document(document_format, [SAID])

    assert text.startswith(("== Assistant", "## Assistant"))
    assert document(document_format, []) == ""


def test_a_page_says_who_speaks_when_and_how_it_ended() -> None:
    said = {**SAID, "role": "user", "author": "Ann", "model": "m-1", "status": "failed"}
    tree = strict_tree(page(said, SAID, title="A <b>", created_at=1_767_225_600_000))

    assert tree.findtext("html/head/title") == "A <b>"
    assert [h.findtext("bdi") for h in (*tree.iter("h1"), *tree.iter("h2"))] == ["A <b>", "Ann", "Assistant"]  # fmt: skip
    assert [time.get("datetime") for time in tree.iter("time")] == ["2026-01-01T00:00:00Z"] * 3
    first = tree.findall("html/body/main/article")[0]
    assert "".join(first.find("header/p").itertext()) == "User · m-1 · 2026-01-01 00:00 UTC"  # type: ignore[union-attr]
    assert first.findtext("p") == "This message ended with an error."


def test_a_page_without_title_has_one() -> None:
    assert "<title>Conversation</title>" in page()
    assert "<title>Conversation</title>" in page(title="\n")


@pytest.mark.requirement("render:document:author")
@pytest.mark.parametrize("document_format", DOCUMENT_FORMATS)
def test_no_author_passes_for_another_role(document_format: DocumentFormat) -> None:
    text = document(document_format, [{**SAID, "role": "user", "author": "Assistant"}])

    assert "User" in text


TIMES: list[tuple[int, str, str]] = [
    (0, "1970-01-01 00:00 UTC", "1970-01-01T00:00:00Z"),
    (253_402_300_799_999, "9999-12-31 23:59 UTC", "9999-12-31T23:59:59Z"),
    (253_402_300_800_000, "", ""),
    (2**53 - 1, "", ""),
]


@pytest.mark.parametrize(("time_ms", "shown", "iso"), TIMES)
def test_times_that_no_calendar_has_are_not_shown(time_ms: int, shown: str, iso: str) -> None:
    assert (time_words(time_ms), time_iso(time_ms)) == (shown, iso)
    html = page({**SAID, "created_at": time_ms}, created_at=time_ms)
    assert ("<time" in html) == bool(shown)
    assert document("markdown", [{**SAID, "created_at": time_ms}]).count(" UTC") == bool(shown)
    assert document("text", [SAID], created_at=time_ms).count(" UTC") == bool(shown) + 1


def test_durations() -> None:
    for started, completed, expected in [
        (1, 1, "0.0 s"), (0, 59_900, "59.9 s"), (0, 125_000, "2 min 5 s"), (2, 1, ""), (None, 1, ""), (1, None, ""),
    ]:  # fmt: skip
        assert duration_words({"started_at": started, "completed_at": completed}) == expected


@pytest.mark.requirement("render:document:pieces")
@pytest.mark.parametrize("document_format", DOCUMENT_FORMATS)
def test_a_message_does_not_depend_on_how_many_came_before(document_format: DocumentFormat) -> None:
    opened = open_document(document_format, title="Title")
    opened.head()
    said = message(block("prose", markdown="[a]\n\n[a]: /u"), block("code", text="x"))
    pieces = {re.sub(r"msg-\d+|/\d+/", "", opened.message(said)) for _ in range(3)}

    assert len(pieces) == 1
    assert len({len(opened.message(said)) for _ in range(3)}) == 1


BLOCKS: list[tuple[str, dict[str, Any], str]] = [
    ("prose", block("prose", markdown="*a*"), '<div class="prose">\n<p><em>a</em></p>\n</div>\n'),
    ("blank prose", block("prose", markdown="\n"), ""),
    ("code", block("code", text="<a>\n", language="x"),
     '<figure class="code"><figcaption><bdi>x</bdi></figcaption><pre><code class="language-x">&lt;a&gt;</code></pre>\n</figure>\n'),
    ("code without text", block("code", text=""), ""),
    ("a tool", block("tool", tool="ls", status="running"),
     ('<p class="tool running" aria-label="Tool call"><span class="mark" aria-hidden="true">◐</span> <bdi class="name">ls</bdi>'
     ' <span class="facts">running</span></p>\n')),
    ("a tool with values", block("tool", tool="ls", status="failed", input={"a": []}, error="no", started_at=0, completed_at=1500),
     ('<details class="tool failed" aria-label="Tool call" open="">\n<summary><span class="mark" aria-hidden="true">✗</span>'
     ' <bdi class="name">ls</bdi> <span class="facts">failed · 1.5 s</span></summary>\n<dl>\n<dt>Input</dt>\n'
     '<dd><figure class="code"><figcaption><bdi>json</bdi></figcaption><pre><code class="language-json">{\n'
     '  <span class="nt">"a"</span>: []\n}</code></pre>\n</figure>\n</dd>\n<dt>Error</dt>\n<dd><pre><code>no</code></pre>\n</dd>\n</dl>\n</details>\n')),
    ("reasoning", block("reasoning", text="\na\nb\n"),
     '<details class="reasoning">\n<summary>Thinking</summary>\n<p class="literal">a\nb</p>\n</details>\n'),
    ("no reasoning", block("reasoning", text=" \n"), ""),
    ("an error", block("error", code="c", message="<m>", retryable=True),
     '<div class="error" role="note" aria-label="Error">\n<p class="literal">&lt;m&gt;</p>\n<p class="facts">c · may be tried again</p>\n</div>\n'),
    ("a notice", block("notice", code="c", message="m"),
     '<div class="notice" role="note" aria-label="Notice">\n<p class="literal">m</p>\n</div>\n'),
    ("an attachment", block("attachment", attachment_id="a", name="n", media_type="m"),
     '<figure class="attachment">\n<figcaption><bdi class="name">n</bdi> <span class="facts">m</span></figcaption>\n</figure>\n'),
    ("speech", block("speech", text="s"),
     '<div class="speech" role="note" aria-label="Spoken">\n<p class="literal">s</p>\n</div>\n'),
    ("unknown", block("chart", fallback_text="*f*\n<b>"),
     '<div class="unknown">\n<p class="facts">[<bdi>chart</bdi>]</p>\n<p class="literal">*f*\n&lt;b&gt;</p>\n</div>\n'),
    ("unknown without words", block("chart", fallback_text=1), '<div class="unknown">\n<p class="facts">[<bdi>chart</bdi>]</p>\n</div>\n'),
]  # fmt: skip


@pytest.mark.parametrize(("shown", "expected"), [row[1:] for row in BLOCKS], ids=[row[0] for row in BLOCKS])  # fmt: skip
def test_each_type_of_block_in_a_page(shown: dict[str, Any], expected: str) -> None:
    empty = article(page(message()))
    assert article(page(message(shown))) == empty.replace("</article>", f"{expected}</article>")


@pytest.mark.requirement("render:document:bounded-values")
def test_long_values_are_cut_and_what_is_missing_is_counted() -> None:
    long = "x" * (DOCUMENT_VALUE_CHARS_MAX + 5)
    said = message(block("tool", tool="t", status="completed", input=[long], output=long))
    for text in (words(page(said)), document("markdown", [said])):
        assert "… (5 more characters)" in text
        assert "more characters" in text.replace("(5 more", "", 1)
        assert len(text) < 2 * DOCUMENT_VALUE_CHARS_MAX + 500


@pytest.mark.requirement("render:html:pictures")
def test_pictures_are_put_into_a_page_by_what_they_are() -> None:
    shown = message(block("attachment", attachment_id="a", name='n">', media_type="text/html"))
    for data, media_type in [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a..", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\0\0\0\0WAVEfmt ", None),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", None),
        (PNG + b"\0" * IMAGE_BYTES_MAX, None),
        (b"", None),
    ]:
        tree = strict_tree(page(shown, images={"a": data}))
        pictures = [picture.attrib for picture in tree.iter("img")]
        if media_type is None:
            assert pictures == []
        else:
            assert pictures[0]["src"].startswith(f"data:{media_type};base64,")
            assert pictures[0]["alt"] == 'n">'
    assert "<img" not in page(shown, images={"b": PNG})
    both = page(message(block("prose", markdown="<https://a.b>")), shown, images={"a": PNG})
    assert (both.count("<a "), both.count("<img ")) == (1, 1)
    assert "<a" in fenced_html('<a href="data:image/png,"></a><img src="data:text/html,">', with_pictures=True)  # fmt: skip
    assert "data:" not in fenced_html('<a href="data:image/png,"></a><img src="data:text/html,">', with_pictures=True)  # fmt: skip
    assert "<img" not in page(message(block("prose", markdown="![a](data:image/png;base64,AAAA)")), images={"a": PNG})  # fmt: skip


LOOK: Final = TerminalLook(columns=80)
CANARY: Final = "canary_7f3a"


@pytest.mark.requirement("render:document:provider-data")
@pytest.mark.parametrize("kind", ["prose", "code", "tool", "reasoning", "error", "notice", "attachment", "speech", "chart"])  # fmt: skip
def test_provider_data_is_in_no_projection(kind: str) -> None:
    members = {
        "markdown": "m", "text": "t", "tool": "t", "status": "completed", "code": "c", "message": "m",
        "attachment_id": "a", "name": "n", "media_type": "m",
    }  # fmt: skip
    hidden: dict[str, Any] = {
        "provider_data": {"signature": CANARY},
        "provider_data_json": CANARY,
        "x_unknown": CANARY,
    }
    said: Message = message(block(kind, **members, **hidden), **hidden, metadata=CANARY)

    for text in (
        *(document(name, [said]) for name in DOCUMENT_FORMATS),
        transcript_text([said], LOOK, with_reasoning=True),
        plain_text(said, with_reasoning=True),
    ):
        assert CANARY not in text


@pytest.mark.requirement("render:document:given")
def test_a_document_shows_of_private_reasoning_what_it_is_given() -> None:
    said = message(block("reasoning", text=CANARY), block("prose", markdown="seen"))
    public = visible_message("public", said)
    assert public is not None
    for name in DOCUMENT_FORMATS:
        assert CANARY in document(name, [said])
        assert CANARY not in document(name, [public])


@pytest.mark.requirement("render:html:inert")
@pytest.mark.requirement("render:document:total")
@given(said=messages())
def test_every_message_has_a_document_of_each_format(said: Message) -> None:
    html = page(said)
    tree = strict_tree(html)
    assert len(tree.findall("html/body/main/article")) == 1
    markdown = document("markdown", [said, SAID])
    found = sections(markdown)
    assert len(found) == 2
    assert found[1] == ["paragraph"]
    allowed = re.compile(r"<details>\n<summary>|</details>|<!-- -->")
    assert all(allowed.match(raw) for raw in html_in(parsed(markdown)[0]))
    strict_tree(page(message(block("prose", markdown=markdown))))
    for text in (document("text", [said]), markdown, transcript_text([said], LOOK)):
        assert label_controls(text) == text.replace("\x1b", "␛")
