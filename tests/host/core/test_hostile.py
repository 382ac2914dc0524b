"""Nothing that a program writes, a Block holds or a person pastes acts on the outer terminal.

The payloads are those of the public suite; the judge lies beside it. What a program writes acts on the
screen that the host keeps for it, as on any terminal; what is sent on is another matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import pytest

from blockwire.host.commands import CopyText, OuterSequence, RingBell, SetTitle
from blockwire.host.emulator import EmulatorName, best_emulator
from blockwire.terminal import Layout, Line, Span, Style
from blockwire.tty.clipboard import clipboard_sequence
from tests.host.core.windows import Window
from tests.host.painting.outer import assert_harmless, check_terminal
from tests.suites import suite_json

CASES: Final[list[dict[str, Any]]] = suite_json("terminal/payloads.json")["cases"]

# Answers to questions about the terminal itself; none of them holds a word of the program's.
REPLIES: Final = re.compile(
    rb"(?:\x1b\[\??\d+(?:;\d+)*[Rcnt]|\x1b\[[>?=]?\d+(?:;\d+)*c|\x1b\[\??\d+;\d+\$y|\x1b\](?:4;\d+|1[012]);rgb:"
    rb"[0-9a-f/]+(?:\x1b\\|\x07)|\x1b\]9002;1;1;0;0;[A-Za-z0-9+/=]+\x1b\\)*"
)
PASSED_ON: Final = re.compile(rb"\x1b\](?:7|9|133|777);[ -~]*\x1b\\")
NO_CONTROL: Final = re.compile(r"[^\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]*")


def judge(window: Window, case_id: str) -> list[str]:
    """Look at everything that goes out of the host, and return what is seen."""
    rows = window.look()
    assert_harmless(window.written)
    for command in window.commands:
        match command:
            case OuterSequence(data):
                assert PASSED_ON.fullmatch(data), case_id
            case SetTitle(text):
                assert NO_CONTROL.fullmatch(text), case_id
            case CopyText(text):
                assert re.fullmatch(rb"\x1b\]52;c;[A-Za-z0-9+/=]*\x1b\\", clipboard_sequence(text))
            case _:
                assert isinstance(command, RingBell), case_id
    for row in window.transcript():
        findings, _visible = check_terminal().scan(row, mode="static", bidi="refuse")
        assert findings == [], case_id
    return rows


def seen(window: Window) -> str:
    """Return the text of all rows; nothing in them acts."""
    texts = [check_terminal().scan(row)[1] for row in window.transcript()]
    return bare("".join(texts))


def bare(text: str) -> str:
    """Return what of a text is seen, wherever its rows are broken."""
    return "".join(it for it in text if it.isprintable() and not it.isspace() and it != "\u200d")


PLACES: Final[dict[str, Callable[[str], Any]]] = {
    "text/plain": lambda it: it,
    "a span": lambda it: (Span(text=it, style=Style(foreground="red")),),
    "two spans": lambda it: (Span(text=it[: len(it) // 2]), Span(text=it[len(it) // 2 :])),
    "lines": lambda it: tuple(Line(spans=(Span(text=part),)) for part in it.splitlines()),
    "lines that are not wrapped": lambda it: tuple(
        Line(spans=(Span(text=part),), layout=Layout(wrap="none")) for part in it.splitlines()
    ),
}


@pytest.mark.case("T01")
@pytest.mark.situation("T71")
@pytest.mark.requirement("host:drawing:harmless")
@pytest.mark.parametrize("said", PLACES.values(), ids=PLACES)
def test_no_payload_in_a_block_acts_and_its_text_stays(said: Callable[[str], Any]) -> None:
    """vercel/ai#20052: what a model or a tool said reached the terminal as it was."""
    for case in CASES:
        window = Window(250, 8).open()
        window.append("one", said(case["payload"])).append("behind", "what follows")

        judge(window, case["id"])

        text = seen(window)
        assert text.endswith("whatfollows"), "nothing is swallowed"
        for kept in case["must_keep"]:
            # A tab is drawn as blanks.
            assert bare(kept) in text, case["id"]
        assert window.commands == []


@pytest.mark.case("T01")
@pytest.mark.situation("T71")
def test_a_payload_that_arrives_piece_by_piece_acts_no_more() -> None:
    for case in CASES:
        window = Window(70, 8).open().append("one", "")
        for piece in case["delta_pieces"] or list(case["payload"]):
            window.extend("one", piece)
            judge(window, case["id"])

        whole = Window(70, 8).open().append("one", case["payload"])
        assert window.look() == whole.look(), case["id"]


@pytest.mark.case("T01")
@pytest.mark.case("T07")
@pytest.mark.parametrize("name", ["ghostty", "pyte"])
def test_no_payload_that_a_program_writes_reaches_the_outer_terminal(name: EmulatorName) -> None:
    for case in CASES:
        window = Window(70, 8, emulator=best_emulator(70, 8, name=name))
        window.output(case["payload"].encode(), b"\x1b\\\x1b(B\r\nbehind\r\n")
        # A synchronized update that never ends is waited for in vain.
        window.look()
        window.wait(5)

        rows = judge(window, case["id"])

        assert "behind" in "".join(rows), case["id"]
        assert REPLIES.fullmatch(window.typed), (case["id"], window.typed)
        if "ZZZ" in case["must_keep"]:
            assert "ZZZ" in "".join(rows), case["id"]


@pytest.mark.case("T01")
def test_no_payload_acts_from_what_is_pasted_searched_or_copied() -> None:
    for case in CASES:
        payload = case["payload"].encode()
        window = Window(70, 8).output("\x1b[?2004h").open().append("one", case["payload"])
        window.input(b"\x1b[200~" + payload.replace(b"\x1b[201~", b"") + b"\x1b[201~")
        typed = window.typed.removeprefix(b"\x1b[200~")
        judge(window, case["id"])
        window.keys("prefix", "/").input(
            b"\x1b[200~" + payload.replace(b"\x1b[201~", b"") + b"\x1b[201~"
        )
        judge(window, case["id"])
        window.keys("escape", "prefix", "c")
        judge(window, case["id"])

        # Between its brackets a paste has neither ESC nor C1.
        inside = typed[typed.index(b"\x1b[200~") + 6 : typed.rindex(b"\x1b[201~")]
        assert not re.search(rb"\x1b|\xc2[\x80-\x9f]", inside), case["id"]
