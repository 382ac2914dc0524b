"""Reports of the mouse, in three forms, and what the program is sent."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.tty import Mouse, MouseKind, Reply, encode_mouse
from blockwire.tty.inputevents import MOUSE_KINDS
from tests.tty.inputs import assert_reads

REPORTS: Final[list[tuple[bytes, MouseKind, int, int, int, str]]] = [
    # report,                kind,          button, column, row, modifiers
    (b"\x1b[<0;1;1M",        "press",       1,  0,   0,   ""),
    (b"\x1b[<2;300;200M",    "press",       3,  299, 199, ""),
    (b"\x1b[<1;3;4m",        "release",     2,  2,   3,   ""),
    (b"\x1b[<32;3;4M",       "drag",        1,  2,   3,   ""),
    (b"\x1b[<35;3;4M",       "move",        0,  2,   3,   ""),
    (b"\x1b[<3;3;4M",        "release",     0,  2,   3,   ""),
    (b"\x1b[<64;3;4M",       "wheel-up",    0,  2,   3,   ""),
    (b"\x1b[<65;3;4M",       "wheel-down",  0,  2,   3,   ""),
    (b"\x1b[<66;3;4M",       "wheel-left",  0,  2,   3,   ""),
    (b"\x1b[<67;3;4M",       "wheel-right", 0,  2,   3,   ""),
    (b"\x1b[<28;3;4M",       "press",       1,  2,   3,   "alt ctrl shift"),
    (b"\x1b[<80;3;4M",       "wheel-up",    0,  2,   3,   "ctrl"),
    (b"\x1b[<128;3;4M",      "press",       8,  2,   3,   ""),
    (b"\x1b[<163;3;4M",      "drag",        11, 2,   3,   ""),
    (b"\x1b[M !\xff",        "press",       1,  0,   222, ""),
    (b"\x1b[M#$%",           "release",     0,  3,   4,   ""),
    (b"\x1b[M`!!",           "wheel-up",    0,  0,   0,   ""),
    (b"\x1b[MC!!",           "move",        0,  0,   0,   ""),
    (b"\x1b[34;300;2M",      "press",       3,  299, 1,   ""),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "kind", "button", "column", "row", "modifiers"), REPORTS)
def test_reports_are_read(
    raw: bytes, kind: MouseKind, button: int, column: int, row: int, modifiers: str
) -> None:
    assert_reads(raw, Mouse(kind, button, column, row, frozenset(modifiers.split()), raw))


@pytest.mark.parametrize(
    "raw",
    [
        b"\x1b[<0;0;1M",
        b"\x1b[<0;1;0M",
        b"\x1b[<0;65536;1M",
        b"\x1b[<0;1;65536M",
        b"\x1b[<256;1;1M",
        b"\x1b[<96;1;1M",
        b"\x1b[<64;1;1m",
        b"\x1b[<192;1;1M",
        b"\x1b[31;1;1M",
    ],
)
def test_a_report_that_cannot_be_is_nothing(raw: bytes) -> None:
    assert_reads(raw, Reply("unknown", raw, ()))


BUTTONS: Final = st.sampled_from([1, 2, 3, 8, 9, 10, 11])
EVENTS: Final = st.builds(
    lambda kind, button, column, row, modifiers: Mouse(
        kind, button if kind in {"press", "release", "drag"} else 0, column, row, modifiers, b""
    ),
    st.sampled_from(MOUSE_KINDS),
    BUTTONS,
    st.integers(0, 300),
    st.integers(0, 300),
    st.frozensets(st.sampled_from(["ctrl", "alt", "shift"])),
)


@pytest.mark.requirement("host:input:mouse")
@given(event=EVENTS)
def test_an_event_survives_sgr(event: Mouse) -> None:
    sent = encode_mouse(event, sgr=True)

    assert_reads(sent, event._replace(raw=sent))


@pytest.mark.requirement("host:input:mouse-form")
@given(event=EVENTS)
def test_the_classic_form_says_what_it_can(event: Mouse) -> None:
    sent = encode_mouse(event, sgr=False)

    if max(event.column, event.row) > 222:
        assert sent == b""
    else:
        button = 0 if event.kind == "release" else event.button
        assert_reads(sent, event._replace(raw=sent, button=button))


@pytest.mark.requirement("host:input:mouse-form")
def test_a_release_of_no_known_button_is_the_left_one_s() -> None:
    release = Mouse("release", 0, 2, 3, frozenset(), b"\x1b[M##$")

    assert encode_mouse(release, sgr=True) == b"\x1b[<0;3;4m"
    assert encode_mouse(release, sgr=False) == b"\x1b[M##$"


@pytest.mark.requirement("host:input:mouse-form")
def test_the_classic_form_reaches_to_column_222() -> None:
    for column, sent in [(222, b"\x1b[M \xff!"), (223, b"")]:
        assert encode_mouse(Mouse("press", 1, column, 0, frozenset(), b""), sgr=False) == sent
