"""The editor: what each key does to the text, as those expect who know readline."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from blockwire.text import width
from blockwire.tty.bindings import Bindings
from blockwire.tui.editor import UNDO_MAX, Editor
from blockwire.tui.inputhistory import InputHistory
from blockwire.tui.keys import CHAT_ACTIONS, CHAT_KEYS, EDIT_ACTIONS, default_action
from tests.tui.core.typists import key, press, row_text, typed, with_cursor

EDITS: list[tuple[str, Sequence[str], str]] = [
    # typed,          then these keys,                             leaves
    ("hello",         ["backspace"],                               "hell|"),
    ("hello",         ["ctrl-a", "delete"],                        "|ello"),
    ("hello",         ["home", "backspace"],                       "|hello"),
    ("hello",         ["delete"],                                  "hello|"),
    ("one two",       ["ctrl-w"],                                  "one |"),
    ("one a/b.c",     ["ctrl-w"],                                  "one |"),
    ("one a/b",       ["alt-backspace"],                           "one a/|"),
    ("one two",       ["ctrl-a", "alt-d"],                         "| two"),
    ("one two",       ["alt-b", "ctrl-k"],                         "one |"),
    ("one two",       ["alt-b", "ctrl-u"],                         "|two"),
    ("a\nb",          ["ctrl-u", "ctrl-u"],                        "a|"),
    ("a\nb",          ["up", "ctrl-k"],                            "a|b"),
    ("one two",       ["ctrl-w", "ctrl-y"],                        "one two|"),
    ("one two",       ["ctrl-w", "ctrl-w", "ctrl-y"],              "one two|"),
    ("one two",       ["ctrl-a", "alt-d", "alt-d", "ctrl-y"],      "one two|"),
    ("a b",           ["ctrl-w", "left", "ctrl-u", "ctrl-y"],      "a| "),
    ("a b",           ["ctrl-w", "left", "ctrl-u", "ctrl-y", "alt-y"], "b| "),
    ("a b",           ["ctrl-w", "left", "ctrl-u", "ctrl-y", "alt-y", "alt-y"], "a| "),
    ("a",             ["ctrl-y"],                                  "a|"),
    ("a",             ["alt-y"],                                   "a|"),
    ("ab",            ["ctrl-t"],                                  "ba|"),
    ("abc",           ["ctrl-a", "ctrl-f", "ctrl-t"],              "ba|c"),
    ("a",             ["ctrl-t"],                                  "a|"),
    ("",              ["ctrl-t"],                                  "|"),
    ("one two",       ["ctrl-a", "alt-u"],                         "ONE| two"),
    ("ONE two",       ["ctrl-a", "alt-l"],                         "one| two"),
    ("one two",       ["ctrl-a", "alt-f", "alt-c"],                "one Two|"),
    ("a",             ["alt-enter", "b"],                          "a\nb|"),
    ("a",             ["ctrl-j", "b"],                             "a\nb|"),
    ("one two",       ["ctrl-w", "ctrl-_"],                        "one two|"),
    ("one two",       ["ctrl-w", "ctrl-_", "alt-_"],               "one |"),
    ("one two",       ["ctrl-_"],                                  "one|"),
    ("one two",       ["ctrl-_", "ctrl-_", "ctrl-_"],              "|"),
    ("",              ["ctrl-_", "alt-_"],                         "|"),
    ("ab\ncd",        ["left", "up"],                              "a|b\ncd"),
    ("abc\nd\nefg",   ["up", "up"],                                "abc|\nd\nefg"),
    ("abc\nd\nefg",   ["up", "up", "down", "down"],                "abc\nd\nefg|"),
    ("e\u0301",       ["backspace"],                               "|"),
    ("👩\u200d💻",     ["left"],                                    "|👩\u200d💻"),
]  # fmt: skip


@pytest.mark.requirement("chat:input:readline")
@pytest.mark.parametrize(("text", "names", "left"), EDITS)
def test_keys_do_what_they_do_in_readline(text: str, names: Sequence[str], left: str) -> None:
    assert with_cursor(press(typed(text), *names)) == left


def test_every_action_has_a_key_and_no_key_has_two() -> None:
    names = [name for names in CHAT_KEYS.values() for name in names]

    assert len(names) == len(set(names))
    assert all(default_action(name) == action for action in CHAT_KEYS for name in CHAT_KEYS[action])
    assert default_action("f12") is None
    assert set(CHAT_KEYS) == CHAT_ACTIONS >= EDIT_ACTIONS
    editor = Editor()
    assert not editor.do("submit")
    assert not editor.press(key("f12"))


def test_keys_can_be_bound_otherwise() -> None:
    editor = Editor(lookup={"f5": "newline"}.get)
    press(editor, "a", "f5", "ctrl-a", "b")

    assert editor.text == "a\nb"


def test_a_long_paste_is_one_thing_and_comes_whole() -> None:
    text = "".join(f"line {number}\n" for number in range(30))
    editor = typed("see: ")
    editor.paste(text)
    editor.type("!")

    assert editor.text == f"see: {text}!"
    assert [row_text(row) for row in editor.view(60, 5).rows] == ["see: [paste #1: 30 lines]!"]
    assert [span.role for span in editor.view(60, 5).rows[0]] == ["text", "placeholder", "text"]
    press(editor, "left", "left", "alt-u")
    assert with_cursor(editor) == f"see: {text}|!"
    press(editor, "ctrl-e", "backspace", "backspace")
    assert editor.text == "see: "
    press(editor, "ctrl-_")
    assert editor.text == f"see: {text}"


@pytest.mark.requirement("chat:input:paste-one-step")
def test_a_paste_is_undone_in_one_step_and_types_its_newlines() -> None:
    editor = typed("a ")
    editor.paste("one\r\ntwo\rthree\x1b[201~\x9b31m\tend")

    assert editor.text == "a one\ntwo\nthree[201~31m\tend"
    assert press(editor, "ctrl-_").text == "a "


def test_as_many_steps_as_are_kept_can_be_undone() -> None:
    editor = Editor()
    for _number in range(UNDO_MAX + 10):
        editor.paste("x")
    for _number in range(UNDO_MAX + 10):
        press(editor, "ctrl-_")

    assert editor.text == "x" * 10


def test_what_was_taken_does_not_come_back() -> None:
    editor = typed("secret")

    assert editor.take() == "secret"
    assert press(editor, "ctrl-_").is_empty


def test_up_recalls_what_begins_like_the_text_and_down_comes_back() -> None:
    editor = typed("gi", history=["git log", "ls", "git diff", "git diff"])

    assert press(editor, "up").text == "git diff"
    assert press(editor, "up").text == "git log"
    assert press(editor, "up").text == "git log"
    assert press(editor, "down").text == "git diff"
    assert with_cursor(press(editor, "down")) == "gi|"
    assert press(editor, "down").text == "gi"


def test_an_edit_of_a_recalled_entry_is_a_draft_of_its_own() -> None:
    editor = typed("", history=["one", "two"])
    press(editor, "up", "!")

    assert editor.text == "two!"
    assert press(editor, "down").text == "two!"
    assert editor.history.entries == ("one", "two")
    assert press(editor, "home", "up").text == "two"


def test_a_walk_passes_over_the_rows_of_a_long_entry() -> None:
    editor = typed("", history=["one", "a\nb\nc"])

    assert press(editor, "up").text == "a\nb\nc"
    assert press(editor, "up").text == "one"
    assert press(editor, "ctrl-n").text == "a\nb\nc"


def test_up_in_the_first_row_of_a_draft_leaves_it_only_if_there_is_an_entry() -> None:
    editor = typed("a\nb", history=["a\nc"])

    assert press(editor, "up").text == "a\nb"
    assert press(editor, "up").text == "a\nc"
    assert press(typed("x"), "up", "ctrl-p").text == "x"
    assert press(typed("x"), "down", "ctrl-n").text == "x"


@pytest.mark.requirement("chat:input:window")
def test_a_few_rows_show_where_the_cursor_is_and_what_is_hidden() -> None:
    editor = typed("\n".join("abcdefgh"))

    view = editor.view(10, 3)
    assert [row_text(row) for row in view.rows] == ["f", "g", "h"]
    assert (view.cursor_row, view.cursor_column, view.above, view.below) == (2, 1, 5, 0)
    press(editor, "up", "up", "up")
    view = editor.view(10, 3)
    assert [row_text(row) for row in view.rows] == ["e", "f", "g"]
    assert (view.cursor_row, view.above, view.below) == (0, 4, 1)
    view = editor.view(10, 20)
    assert (view.above, view.below, len(view.rows)) == (0, 0, 8)
    assert len(editor.view(10, 0).rows) == 1


def test_up_and_down_go_by_the_rows_that_are_seen() -> None:
    editor = typed("0123456789abcdef")
    editor.view(10, 5)

    assert with_cursor(press(editor, "up")) == "012345|6789abcdef"
    assert with_cursor(press(editor, "down")) == "0123456789abcdef|"


def test_a_word_before_the_cursor_is_completed() -> None:
    editor = typed("/en")
    editor.complete_word("/en", "/engine ")
    assert with_cursor(editor) == "/engine |"
    editor.complete_word("longer than there is", "x")
    assert editor.text == "x"


class Edited(RuleBasedStateMachine):
    """Whatever is pressed, the view fits, and undo leads back to the beginning."""

    def __init__(self) -> None:
        super().__init__()
        self.editor = Editor(InputHistory(["one", "two words", "a\nb"]))
        self.columns = 20
        self.step_count = 0

    @rule(text=st.sampled_from(["a", " ", "\n", "東", "\u0301", "👩", "\u200d", "\t", "\x07"]))
    def type(self, text: str) -> None:
        before = self.editor.text
        self.editor.type(text)
        assert len(self.editor.text) == len(before) + (text != "\x07")

    @rule(text=st.text(max_size=8), times=st.sampled_from([1, 200]))
    def paste(self, text: str, times: int) -> None:
        self.editor.paste(text * times)

    @rule(action=st.sampled_from(sorted(EDIT_ACTIONS)))
    def act(self, action: str) -> None:
        before = self.editor.text
        did = self.editor.do(action)
        assert did or self.editor.text == before

    @rule(columns=st.integers(1, 40))
    def resize(self, columns: int) -> None:
        self.columns = columns

    @invariant()
    def the_view_fits(self) -> None:
        view = self.editor.view(self.columns, 4)
        assert 1 <= len(view.rows) <= 4
        assert all(width(row_text(row)) <= self.columns for row in view.rows)
        assert 0 <= view.cursor_row < len(view.rows)
        assert 0 <= view.cursor_column < self.columns


TestEdited = Edited.TestCase
TestEdited.settings = settings(stateful_step_count=15)


@given(text=st.text(max_size=40), names=st.lists(st.sampled_from(sorted(CHAT_KEYS)), max_size=6))
def test_kills_lose_nothing(text: str, names: list[str]) -> None:
    """What one kill takes, one yank brings back."""
    editor = Editor()
    editor.paste(text)
    for name in names:
        editor.do(name)
    before = with_cursor(editor)
    for action in ("kill-line-start", "kill-word-right", "kill-blank-word-left"):
        # A kill right behind another one would join it.
        editor.do("left")
        text_before = editor.text
        if editor.do(action):
            assert editor.do("yank")
            assert editor.text == text_before, (before, action)


def test_bindings_of_the_terminal_room_take_the_table() -> None:
    bindings = Bindings(CHAT_KEYS, {"submit": ["ctrl-s"]})

    assert bindings.lookup("ctrl-s") == "submit"
    assert bindings.lookup("alt-enter") == "newline"
