"""The live tail against terminals of others: what is finished stands there once, and nothing stale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from blockwire.render import Row, Span, TerminalLook, row_width
from blockwire.text.charset import Charset
from blockwire.tui.reflow import Spot, known_reflow, rows_above, rows_taken
from blockwire.tui.tail import LiveTail, cut_row, wrap_row
from tests.tui.drawing.judges import FORBIDDEN, PyteJudge, TmuxJudge, need_tmux

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


def row(text: str, *, is_soft: bool = False) -> Row:
    return Row((Span(text),), is_soft)


def compact(rows: Sequence[str]) -> str:
    """Return what rows say, however they were broken; not every terminal keeps joiners."""
    text = "".join("".join(rows).split())
    return text.replace("\u200d", "").replace("\ufe0f", "")


@dataclass
class Show:
    """A tail, and a terminal that shows it."""

    judge: PyteJudge | TmuxJudge
    columns: int = 80
    rows: int = 24
    reflows: bool | None = None
    out: bytes = b""
    finished: list[str] = field(default_factory=list)
    live: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tail = LiveTail(TerminalLook(self.columns), self.rows, reflows=self.reflows)

    def write(self, data: bytes) -> bytes:
        assert not FORBIDDEN.search(data), data
        self.judge.feed(data)
        self.out += data
        return data

    def paint(
        self, finished: Sequence[str], live: Sequence[str], cursor: Spot | None = None
    ) -> bytes:
        self.finished += finished
        self.live = [row(text) for text in live]
        rows = [row(text, is_soft=True) for text in finished]
        return self.write(self.tail.paint(rows, self.live, cursor))

    def resize(self, columns: int, rows: int) -> None:
        self.judge.resize(columns, rows)
        self.columns, self.rows = columns, rows
        if self.tail.resize(TerminalLook(columns), rows):
            self.write(self.tail.locate(self.judge.place()[1]))

    def check(self) -> None:
        """Compare with what has to be there, blanks and breaks aside."""
        shown = [cut_row(it, self.tail.look) for it in self.live[-self.tail.rows_max :]]
        texts = ["".join(span.text for span in it.spans) for it in shown]
        assert compact(self.judge.text()) == compact([*self.finished, *texts])


@pytest.fixture(params=["pyte", "tmux"])
def show(request: pytest.FixtureRequest) -> Iterator[Show]:
    if request.param == "tmux":
        need_tmux()
    judge = PyteJudge(80, 24) if request.param == "pyte" else TmuxJudge(80, 24)
    yield Show(judge, reflows=judge.reflows)
    judge.close()


def test_what_is_finished_goes_above_and_the_rest_changes_in_place(show: Show) -> None:
    show.paint([], ["> ", "status"], Spot(0, 2))
    show.paint(["one"], ["two?", "> ", "status"], Spot(1, 2))
    show.paint(["two", "three"], ["> hello", "working"], Spot(0, 7))

    assert show.judge.text() == ["one", "two", "three", "> hello", "working"]
    assert show.judge.place() == (3, 7)


@pytest.mark.requirement("chat:fallback:once")
def test_an_answer_far_longer_than_the_window_stands_there_once(show: Show) -> None:
    for number in range(120):
        open_rows = [f"open {number} {at}" for at in range(number % 8)]
        show.paint([f"line {number}"] * (number % 3 == 0), [*open_rows, "> ", "status"], Spot(0, 0))
    show.check()


def test_rows_longer_than_the_screen_wrap_and_nothing_is_lost(show: Show) -> None:
    show.paint([], ["> ", "status"])
    show.paint(["a" * 200, "b" * 160, "\u6f22" * 100, FAMILY * 50], ["c" * 100, "status"])

    show.check()


@pytest.mark.requirement("chat:fallback:exact-fit")
def test_rows_of_exactly_the_width_and_as_many_as_there_are_scroll_nothing(show: Show) -> None:
    show.paint(["first"], [])
    rows: list[str] = []
    for number in range(5):
        rows = [f"{number}{at:02}".ljust(80, "x") for at in range(23)]
        show.paint([], rows, Spot(22, 79))

    assert show.judge.text() == ["first", *rows]


@pytest.mark.requirement("chat:fallback:growth")
def test_rows_that_come_and_go_leave_nothing_behind(show: Show) -> None:
    for number in range(60):
        count = (1, 6, 1, 22, 3, 1)[number % 6]
        show.paint([f"line {number}"], [f"input {at}" for at in range(count)], Spot(0, 3))
        show.check()


@pytest.mark.requirement("chat:fallback:given-back")
def test_rows_that_were_needed_for_a_while_are_taken_again_and_filled(show: Show) -> None:
    above = [f"line {number}" for number in range(40)]
    few, many = ["> /", "status"], ["> /", *(f"/{number}" for number in range(8)), "status"]
    show.paint(above, few, Spot(0, 3))
    for rows in (many, few, many, few):
        show.paint([], rows, Spot(0, 3))
        # Eight rows were pushed up once.
        assert show.judge.place() == (14, 3)

    show.paint(["said 1", "said 2"], few, Spot(0, 3))

    assert show.judge.place() == (16, 3)
    assert show.judge.text() == [*above, "said 1", "said 2", *few]


def test_a_tick_writes_one_row_and_little_more() -> None:
    tail = LiveTail(TerminalLook(80), 24)
    tail.paint([], [row(f"open {at}") for at in range(9)] + [row("| 1 s")], Spot(3, 3))

    data = tail.paint([], [row(f"open {at}") for at in range(9)] + [row("/ 2 s")], Spot(3, 3))

    assert b"open" not in data
    assert len(data) < 100


@pytest.mark.requirement("chat:fallback:charset")
@pytest.mark.parametrize(("encoding", "shown"), [("ascii", b"caf? ?"), ("latin-1", b"caf\xe9 ?")])
def test_what_the_terminal_cannot_write_is_replaced(encoding: str, shown: bytes) -> None:
    tail = LiveTail(TerminalLook(80, charset=Charset(encoding)), 24)

    assert shown in tail.paint([row("caf\u00e9 \u2500")], [])
    assert shown in tail.paint([], [row("caf\u00e9 \u2500"), row("b")])


def test_the_same_rows_again_write_nothing() -> None:
    tail = LiveTail(TerminalLook(80), 24)
    rows = [row("a"), row("b")]
    tail.paint([], rows, Spot(0, 1))

    assert tail.paint([], rows, Spot(0, 1)) == b""
    assert tail.paint([], rows) == b"\n\r\x1b[?25l"
    assert tail.paint([], rows) == b""


def test_the_top_row_is_where_frames_go_and_the_cursor_comes_back(show: Show) -> None:
    show.paint(["above"], ["open", "> hello", "status"], Spot(1, 4))

    show.write(show.tail.park())
    assert show.judge.place() == (1, 0)
    show.write(show.tail.unpark())

    assert show.judge.place() == (2, 4)
    show.check()


@pytest.mark.requirement("chat:fallback:resize")
def test_a_storm_of_sizes_leaves_every_line_once_and_no_stale_rows(show: Show) -> None:
    sizes = [(100, 24), (60, 24), (100, 24), (40, 24), (61, 17), (100, 45), (50, 30), (80, 24)]
    for number, (columns, rows) in enumerate(sizes * 3):
        wide = ["\u6f22\u5b57" * 18 + str(number), FAMILY * 8, "x" * min(columns, 78), "last"]
        show.paint([f"line {number}"], [*wide, "> input", "status" * 9], Spot(4, 3))
        show.resize(columns, rows)
        show.paint([], ["> input", "status"], Spot(0, 3))
        # A terminal that cuts keeps no more of a line than its window was wide.
        assert [line for line in show.judge.text() if line.startswith("line")] == show.finished
        show.check()


@pytest.mark.requirement("chat:fallback:once")
@pytest.mark.parametrize("height", [22, 21])
def test_what_is_written_before_a_lower_window_is_heard_of_takes_no_final_line(
    show: Show, height: int
) -> None:
    """Terminals drop rows below the cursor, which went down no further than to the last one."""
    rows = ["open", "> ", "working", "and on", "status"]
    show.paint([f"line {number};" for number in range(30)], rows, Spot(1, 2))

    # Nobody has told us yet.
    show.judge.resize(80, height)
    show.paint([], ["open", "> ", "working on", "and on", "status"], Spot(1, 2))
    show.paint(["line 30;"], rows, Spot(1, 2))
    show.paint([], [*rows, "more"], Spot(1, 2))
    show.resize(80, height)
    show.paint(["line 31;"], rows, Spot(1, 2))

    said = compact(show.judge.text())
    assert [said.count(f"line{number};") for number in range(32)] == [1] * 32


@pytest.mark.parametrize("kind", [PyteJudge, TmuxJudge])
def test_where_the_cursor_went_tells_what_the_terminal_does(
    kind: type[PyteJudge | TmuxJudge],
) -> None:
    need_tmux()
    judge = kind(100, 24)
    show = Show(judge, columns=100)
    # tmux gives rows to its scrollback although the window is not full.
    kept = [f"kept {number}" for number in range(30)]
    show.paint(kept, ["w" * 100, "x" * 70, "status"], Spot(1, 70))

    show.resize(60, 24)
    show.paint(["finished"], ["> "], Spot(0, 2))

    assert show.tail.reflows is judge.reflows
    show.check()
    judge.close()


def test_of_a_terminal_of_unknown_kind_no_row_of_others_is_erased() -> None:
    judge = PyteJudge(100, 24)
    show = Show(judge, columns=100)
    show.paint(["kept 1", "kept 2"], ["w" * 100, "> ", "status"], Spot(1, 2))

    show.resize(60, 24)

    assert show.tail.reflows is None
    assert judge.text() == ["kept 1", "kept 2"]


def test_only_the_answer_to_the_last_question_counts() -> None:
    tail = LiveTail(TerminalLook(100), 24, reflows=True)
    tail.paint([], [row("x" * 100), row("> ")], Spot(1, 2))

    questions = tail.resize(TerminalLook(60), 24) + tail.resize(TerminalLook(30), 24)
    answers = [(tail.locate(2), tail.is_located) for _ in range(3)]

    assert questions == b"\x1b[6n\x1b[6n"
    assert [is_located for _data, is_located in answers] == [False, True, True]
    assert answers[0][0] == answers[2][0] == b""
    assert b"\x1b[4A" in answers[1][0]


@pytest.mark.requirement("chat:fallback:told-late")
def test_rows_that_were_drawn_in_a_narrower_window_were_cut_and_not_broken() -> None:
    tail = LiveTail(TerminalLook(100), 24, reflows=True)
    tail.paint([], [row("x" * 100), row("> ")], Spot(1, 2))

    tail.resize(TerminalLook(30), 24, is_drawn=True)
    cleared = tail.locate(2)
    tail.paint([], [row("x" * 30), row("> ")], Spot(1, 2))
    tail.resize(TerminalLook(15), 24)

    assert b"\x1b[1A" in cleared
    assert b"\x1b[2A" in tail.locate(2)


def test_without_an_answer_it_goes_on() -> None:
    tail = LiveTail(TerminalLook(100), 24)
    tail.paint([], [row("x"), row("> ")], Spot(1, 2))
    tail.resize(TerminalLook(60), 24)
    tail.resize(TerminalLook(50), 24)

    assert b"\x1b[1A" in tail.locate(None)
    assert tail.is_located


def test_nothing_drawn_needs_no_question() -> None:
    tail = LiveTail(TerminalLook(100), 24)

    assert tail.resize(TerminalLook(50), 2) == b""
    assert tail.is_located
    assert tail.rows_max == 1


def test_after_others_have_written_nothing_of_theirs_is_touched() -> None:
    judge = PyteJudge(40, 10)
    show = Show(judge, columns=40, rows=10)
    show.paint(["one"], ["> ", "status"], Spot(0, 2))
    judge.feed(b"\r\n\r\nsomebody else\r\n")

    show.tail.forget()
    show.paint(["two"], ["> "], Spot(0, 2))

    assert judge.text()[-3:] == ["somebody else", "two", ">"]


@given(
    st.lists(
        st.tuples(
            st.lists(st.text("ab \u6f22\u26a0\u0301", max_size=30), max_size=3),
            st.lists(st.text("cd \u6f22\u26a0\ufe0f", max_size=30), max_size=7),
            st.one_of(st.none(), st.tuples(st.integers(1, 40), st.integers(1, 12))),
        ),
        max_size=12,
    )
)
@settings(deadline=None, max_examples=25)
@example([([""], ["c"], None), ([""], [], None)])
def test_any_states_and_sizes_show_what_is_finished_and_what_is_open(
    steps: list[tuple[list[str], list[str], tuple[int, int] | None]],
) -> None:
    judge = PyteJudge(30, 8)
    show = Show(judge, columns=30, rows=8, reflows=False)
    for number, (finished, live, size) in enumerate(steps):
        show.paint([f"{number}:{text}" for text in finished], live, Spot(max(len(live) - 1, 0), 0))
        heads = [f"{number}:" for number in range(number + 1)]
        assert all(
            sum(line.startswith(head) for line in judge.text())
            == sum(text.startswith(head) for text in show.finished)
            for head in heads
        )
        if size is not None:
            show.resize(max(size[0], 3), max(size[1], len(live) + 1))


@given(st.text(max_size=60), st.integers(1, 20))
def test_a_wrapped_row_is_whole_and_no_part_is_wider_than_the_screen(
    text: str, columns: int
) -> None:
    look = TerminalLook(columns)
    text = "".join(char for char in text if char.isprintable())

    parts = wrap_row(row(text), look)

    assert "".join(span.text for part in parts for span in part.spans) == text
    assert all(row_width(part, look) <= max(columns, 2) for part in parts)


def test_rows_are_counted_as_a_terminal_breaks_them() -> None:
    assert rows_taken("x" * 120, TerminalLook(60)) == [60, 60]
    assert rows_taken("\u6f22" * 4, TerminalLook(3)) == [2, 2, 2, 2]
    assert rows_taken("", TerminalLook(3)) == [0]
    assert rows_above(["x" * 70], Spot(0, 70), TerminalLook(60)) == Spot(1, 10)
    assert rows_above(["x" * 70, "y"], Spot(1, 0), TerminalLook(60)) == Spot(2, 0)


@pytest.mark.parametrize(
    ("variables", "reflows"),
    [
        ({"TMUX": "x", "STY": "y"}, True),
        ({"STY": "y", "VTE_VERSION": "7000"}, False),
        ({"XTERM_VERSION": "XTerm(388)"}, False),
        ({"TERM_PROGRAM": "vscode"}, True),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "tmux-256color"}, True),
        ({"TERM": "screen.xterm"}, False),
        ({"TERM": "xterm-256color"}, None),
        ({}, None),
    ],
)
def test_variables_give_a_first_guess(variables: dict[str, str], reflows: bool | None) -> None:
    assert known_reflow(variables) is reflows
