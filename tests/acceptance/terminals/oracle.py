r"""What our programs may write to a terminal, as a closed list, and in which order.

Whatever is not named here is refused: no ED 1, 2 or 3, no SU or SD, no region outside of a frame, and
no text that is not being painted. It knows nothing of the painter but its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from blockwire.host.leaving import CANCEL, LEAVE, enter_sequence
from blockwire.host.outer import ASK
from blockwire.tui.driveroptions import ON_LEAVE
from tests.host.painting.outer import check_terminal

ERASING: Final = re.compile(rb"\x1b\[[123]J|\x1bc|\x1b\[!p")
"""What would take from a screen, or from its scrollback, what is not ours."""

SCROLLING: Final = re.compile(rb"\x1b\[\d*[ST]|\x1b\[[\d;]*r")
"""SU, SD and DECSTBM: what they scroll away is kept by some terminals and lost in others."""

_OSC8: Final = r"\x1b\]8;(?:id=[0-9a-f]+)?;[!-~]*\x1b\\"
_SGR: Final = r"\x1b\[[\d;:]*m"

_CLIPBOARD: Final = r"\x1b\]52;c;[A-Za-z0-9+/=]*\x1b\\"


class Told(NamedTuple):
    """One thing that was written."""

    kind: str
    text: str


class _Words:
    """Everything that may be written somewhere, by its kind; the first that fits is it."""

    def __init__(self, allowed: Mapping[str, str]) -> None:
        self._kinds = tuple(allowed)
        self._table = re.compile("|".join(f"({it})" for it in allowed.values()))
        assert self._table.groups == len(allowed)

    def read(self, text: str, at: int) -> Told:
        found = self._table.match(text, at)
        assert found is not None, (
            f"not allowed here: {text[max(at - 80, 0) : at]!r} >>> {text[at : at + 40]!r}"
        )
        assert found.lastindex is not None
        return Told(self._kinds[found.lastindex - 1], found[0])


# Where the cursor may be put and rows be written: between DECAWM off and on.
_PAINTED: Final = _Words(
    {
        "text": r"[^\x00-\x1f\x7f-\x9f]+",
        "place": r"\x1b\[\d+(?:;\d+)?H|\x1b\[\d+G",
        "end of a row": r"\x1b\[K",
        "look": _SGR,
        "link": _OSC8,
        "moved rows": r"\x1b\[\d+[ML]",
        "region": r"\x1b\[\d+;\d+r",
        "painted": r"\x1b\[\?7h",
    }
)

# Between paintings, on the alternate screen of a host.
_BESIDE: Final = _Words(
    {
        "left": re.escape(LEAVE.decode()),
        "cut": re.escape(CANCEL.decode()),
        "asked": re.escape(ASK.decode()),
        "painting": r"\x1b\[\?7l",
        "update": r"\x1b\[\?2026h",
        "updated": r"\x1b\[\?2026l",
        "cursor": r"\x1b\[\?25[hl]|\x1b\[\d+;\d+H|\x1b\[[0-6] q",
        "clean slate": r"\x1b\[m(?:\x1b\[1;\d+r)?",
        "title": r"\x1b\]2;[^\x00-\x1f\x7f-\x9f]*\x1b\\",
        "clipboard": _CLIPBOARD,
        "passed on": r"\x1b\](?:7|9|133|777);[^\x00-\x1f\x7f-\x9f]*\x1b\\",
        "bell": r"\x07",
    }
)

# On the main screen: the chat, transcripts, and what the shell says.
_APPENDED: Final = _Words(
    {
        "entered": "|".join(
            re.escape(enter_sequence(has_mouse=it).decode()) for it in (True, False)
        ),
        "given back": re.escape(ON_LEAVE.decode()),
        "text": r"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]+",
        "look": _SGR,
        "link": _OSC8,
        "update": r"\x1b\[\?2026h",
        "updated": r"\x1b\[\?2026l",
        "place": r"\x1b\[\d*[ABCDG]|\x1b[78]",
        "end of a row": r"\x1b\[K",
        "rest below": r"\x1b\[0?J",
        "mode": r"\x1b\[\?(?:7|25|1004|2004)[hl]",
        "clipboard": _CLIPBOARD,
        "asked": r"\x1b\[6n|\x1b\[c",
        "bell": r"\x07",
        "block": r"\x1b\]9002;[!-~]*\x1b\\",
    }
)

# What follows a piece of a kind.
_NEXT: Final[Mapping[str, _Words]] = {
    "entered": _BESIDE,
    "painting": _PAINTED,
    "painted": _BESIDE,
    "left": _APPENDED,
}


def check_host(output: bytes) -> None:
    """Demand that ``output`` is what a host may write, from before it was started to after its end.

    Also of a run that is not over.
    """
    for _ in told(output):
        pass


def check_chat(output: bytes) -> None:
    """Demand that ``output`` is what a conversation may write on the main screen."""
    check_host(output)
    assert b"\x1b[?1049h" not in output, "it stays on the main screen"


def check_transcript(output: bytes) -> None:
    """Demand that what follows the alternate screen is rows of text, with looks and links."""
    rest = output[output.rindex(LEAVE) + len(LEAVE) :]
    findings, _visible = check_terminal().scan(rest, mode="static", bidi="refuse")
    assert findings == []


def told(output: bytes) -> Iterator[Told]:
    """Yield what was written, piece by piece.

    Raises:
        AssertionError: At the first piece that may not be there.
    """
    text = output.decode("utf-8", "strict")
    words = _APPENDED
    rules = _Rules()
    at = 0
    while at < len(text):
        found = words.read(text, at)
        rules.check(found)
        words = _NEXT.get(found.kind, words)
        at += len(found.text)
        yield found


class _Rules:
    """What one piece may be after another."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._is_update = False
        self._rows: set[int] = set()
        self._is_region = False
        self._is_plain = True
        self._is_linked = False

    def check(self, told: Told) -> None:
        kind, text = told
        match kind:
            case "update" | "updated":
                assert self._is_update == (kind == "updated"), "updates are not nested"
                self._is_update = kind == "update"
            case "painting":
                self._rows.clear()
            case "place" if text.endswith("H"):
                self._rows.add(int(text[2:-1].partition(";")[0]))
                assert self._is_update or len(self._rows) == 1, (
                    "more rows than one, not in one update"
                )
            case "region":
                self._is_region = not text.startswith("\x1b[1;") or not self._is_region
            case "look":
                self._is_plain = text in {"\x1b[m", "\x1b[0m"}
            case "link":
                self._is_linked = not text.endswith(";;\x1b\\")
            case "end of a row":
                assert self._is_plain, "rows are erased in the plain look"
            case "painted":
                assert not self._is_region, "a region is not left behind"
                assert self._is_plain, "a look is not left behind"
                assert not self._is_linked, "a link is not left behind"
            case "cut" | "left" | "given back":
                self._begin()
