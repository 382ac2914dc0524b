"""The status line and the help in every size."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.host.emulator import Look
from blockwire.host.help import Help, HelpEntry, HelpSection, help_height, help_rows
from blockwire.host.painter_rows import PaintRow
from blockwire.host.statusline import UNSEEN_HINT, KeyHint, Prompt, StatusLine, status_row
from blockwire.host.theme import DARK, PLAIN
from blockwire.text import clusters, width

KEYS: Final = (KeyHint("PgUp", "up"), KeyHint("/", "search"), KeyHint("?", "help"))
READING: Final = StatusLine("reading: 12 rows below", KEYS)
TEXTS: Final = st.lists(
    st.sampled_from(
        ["a", "b", " ", "日", "e\u0301", "👩\u200d👧", "\x1b", "→", "\u202e", "\u0301"]
    ),
    max_size=20,
).map("".join)


def text_of(spans: PaintRow) -> str:
    return "".join(span.text for span in spans)


def looks_of(spans: PaintRow, part: str) -> set[Look]:
    """Return the looks of the spans that have a text in them."""
    return {span.look for span in spans if part in span.text}


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (60, " reading: 12 rows below          PgUp up  / search  ? help "),
        (40, " reading: 12 rows b…  PgUp up  / search "),
        (24, " reading: 12 …  PgUp up "),
        (12, " reading: 1…"),
        (2, " …"),
        (1, "…"),
    ],
)
def test_keys_have_at_least_half_of_the_line_and_are_whole(columns: int, shown: str) -> None:
    line = status_row(READING, columns, DARK)

    assert " ".join(text_of(line.spans).split()) == " ".join(shown.split())
    assert line.cursor_column is None


def test_a_key_is_told_from_what_it_does() -> None:
    spans = status_row(READING, 60, DARK).spans

    assert looks_of(spans, "PgUp") == {DARK.status_key}
    assert looks_of(spans, "search") == looks_of(spans, "reading") == {DARK.status}


def test_what_has_no_key_is_said_without_one() -> None:
    line = status_row(StatusLine("", (KeyHint("", "3/17"), KeyHint("n", "next"))), 20, DARK)

    assert text_of(line.spans) == "        3/17  n next "[-20:]


def test_a_notice_is_said_instead_of_the_state() -> None:
    spans = status_row(READING, 60, DARK, notice="copied 120 characters").spans

    assert text_of(spans).startswith(" copied 120 characters  ")
    assert "reading" not in text_of(spans)
    assert looks_of(spans, "copied") == {DARK.notice}


@pytest.mark.requirement("host:drawing:hint")
@pytest.mark.parametrize("columns", range(4, 90))
def test_new_text_is_hinted_at_in_every_width(columns: int) -> None:
    spans = status_row(READING, columns, DARK, has_unseen=True).spans

    assert spans[-1].look == DARK.hint
    assert spans[-1].text.strip() == (UNSEEN_HINT if columns > 40 else UNSEEN_HINT[0])


@pytest.mark.requirement("host:drawing:prompt")
@pytest.mark.parametrize(
    ("columns", "cursor", "shown", "column"),
    [
        (30, 11, " /some words of a query", 13),
        (30, 21, " /some words of a query", 23),
        (12, 21, " /f a query", 11),
        (12, 4, " /some words", 6),
        (3, 21, " /", 2),
        (2, 21, " ", 1),
        (1, 21, "", 0),
    ],
)
def test_what_is_typed_is_seen_where_the_cursor_is(
    columns: int, cursor: int, shown: str, column: int
) -> None:
    query = "some words of a query"

    line = status_row(StatusLine("ignored", KEYS, Prompt("/", query, cursor)), columns, DARK)

    assert text_of(line.spans).rstrip() == shown.rstrip()[:columns]
    assert line.cursor_column == column


def test_a_prompt_takes_the_room_of_the_keys_but_leaves_that_of_the_hint() -> None:
    status = StatusLine("", KEYS, Prompt("/", "query", 5))

    wide, narrow = (text_of(status_row(status, it, DARK, has_unseen=True).spans) for it in (60, 8))

    assert wide.startswith(" /query ")
    assert wide.endswith(f" {UNSEEN_HINT} ")
    assert narrow == " /query "


@pytest.mark.requirement("host:drawing:status")
@given(
    state=TEXTS,
    keys=st.lists(st.tuples(TEXTS, TEXTS), max_size=3),
    typed=st.none() | st.tuples(TEXTS, st.integers(0, 30)),
    notice=st.none() | TEXTS,
    columns=st.integers(1, 50),
    has_unseen=st.booleans(),
    is_wide=st.booleans(),
)
def test_the_line_is_as_wide_as_the_window_and_cuts_no_cluster(
    state: str,
    keys: list[tuple[str, str]],
    typed: tuple[str, int] | None,
    notice: str | None,
    columns: int,
    has_unseen: bool,
    is_wide: bool,
) -> None:
    prompt = None if typed is None else Prompt("/", typed[0], min(typed[1], len(typed[0])))
    status = StatusLine(state, tuple(KeyHint(*key) for key in keys), prompt)
    ambiguous_width = 2 if is_wide else 1

    line = status_row(
        status,
        columns,
        DARK,
        notice=notice,
        has_unseen=has_unseen,
        ambiguous_width=2 if is_wide else 1,
    )

    cells = sum(width(span.text, ambiguous_width=2 if is_wide else 1) for span in line.spans)
    assert cells == columns, ambiguous_width
    assert text_of(line.spans).replace("\u200d", "").isprintable()
    assert "👩\u200d" not in {part for span in line.spans for part in clusters(span.text)}
    assert (line.cursor_column is None) is (prompt is None)
    assert line.cursor_column is None or 0 <= line.cursor_column < columns


SECTIONS: Final = (
    HelpSection(
        "While reading",
        (HelpEntry("Shift-PageUp", "up by one page"), HelpEntry("/", "search in everything")),
    ),
    HelpSection("Copy mode", (HelpEntry("y, Enter", "copy"),)),
)


def test_the_help_has_keys_on_the_left_and_what_they_do_on_the_right() -> None:
    rows = help_rows(Help(SECTIONS), 40, 7, DARK)

    assert [text_of(spans).rstrip() for spans in rows] == [
        "While reading",
        "  Shift-PageUp  up by one page",
        "  /             search in everything",
        "",
        "Copy mode",
        "  y, Enter      copy",
        "",
    ]
    assert looks_of(rows[0], "While") == {DARK.help_title}
    assert looks_of(rows[1], "Shift") == {DARK.help_key}


@pytest.mark.requirement("host:drawing:help")
@pytest.mark.parametrize("columns", [8, 9, 13, 20, 33, 80])
def test_the_help_holds_all_words_in_any_width(columns: int) -> None:
    height = help_height(Help(SECTIONS), columns)

    rows = help_rows(Help(SECTIONS), columns, height, PLAIN)

    assert all(width(text_of(spans)) <= columns for spans in rows)
    left = "".join(span.text for spans in rows for span in spans if span.look == PLAIN.help_key)
    right = "".join(span.text for spans in rows for span in spans if span.look == PLAIN.help_text)
    assert "".join(left.split()) == "Shift-PageUp/y,Enter"
    assert "".join(right.split()) == "upbyonepagesearchineverythingcopy"
    titles = "".join(span.text for spans in rows for span in spans if span.look == PLAIN.help_title)
    assert "".join(titles.split()) == "WhilereadingCopymode"


@pytest.mark.requirement("host:drawing:help")
@pytest.mark.parametrize(("first_row", "seen"), [(-3, 0), (0, 0), (2, 2), (3, 3), (99, 3)])
def test_the_help_is_scrolled_up_to_its_end(first_row: int, seen: int) -> None:
    every = help_rows(Help(SECTIONS), 40, 6, DARK)

    rows = help_rows(Help(SECTIONS, first_row), 40, 3, DARK)

    assert rows == every[seen : seen + 3]


def test_help_of_nothing_is_blank() -> None:
    assert help_rows(Help(()), 10, 2, DARK) == ((), ())
    assert help_height(Help(()), 10) == 0
