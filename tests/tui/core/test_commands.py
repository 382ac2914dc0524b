"""Slash commands: what is one, what completes it, and what it does."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from blockwire.content import ConversationState
from blockwire.errors import LocalProtocolError
from blockwire.jsontext import Json
from blockwire.tty.bindings import Bindings
from blockwire.tui.choices import Choices, help_lines
from blockwire.tui.commanding import CommandPlace, run_command
from blockwire.tui.commands import (
    ALIASES,
    COMMANDS,
    ParsedCommand,
    nearest,
    parse_command,
    question_of,
)
from blockwire.tui.completion import Known, complete, path_prefix
from blockwire.tui.editor import Editor
from blockwire.tui.intents import (
    Attach,
    Copy,
    Export,
    Fork,
    Intent,
    ListConversations,
    NewConversation,
    Notice,
    OpenConversation,
    Quit,
    Search,
)
from blockwire.tui.keys import CHAT_KEYS
from blockwire.tui.menu import CompletionMenu
from tests.tui.core.typists import conversation, message

PARSED: list[tuple[str, ParsedCommand | None]] = [
    ("/new",                      ParsedCommand("new", "")),
    ("/new \n",                   ParsedCommand("new", "")),
    ("/OPEN conv_1",              ParsedCommand("open", "conv_1")),
    ("/search  two words ",       ParsedCommand("search", "two words")),
    ("/search\ntwo\nlines",       ParsedCommand("search", "two\nlines")),
    ("/exit",                     ParsedCommand("quit", "")),
    ("/?",                        ParsedCommand("help", "")),
    ("/usr/bin is what?",         None),
    ("/ alone",                   None),
    ("/",                         None),
    (" /new",                     None),
    ("//new",                     None),
    ("why /new",                  None),
    ("/2 of it",                  None),
    ("",                          None),
]  # fmt: skip

KEYS = Bindings(CHAT_KEYS)


@pytest.mark.requirement("chat:commands:what-is-one")
@pytest.mark.parametrize(("text", "expected"), PARSED)
def test_what_is_a_command_and_what_a_question(text: str, expected: ParsedCommand | None) -> None:
    assert parse_command(text) == expected


@pytest.mark.requirement("chat:commands:refused")
@pytest.mark.parametrize(
    ("text", "code", "detail"),
    [
        ("/opne x", "unknown_command", "/open"),
        ("/zzzzzz", "unknown_command", "/help"),
        ("/new please", "unexpected_argument", "/new"),
    ],
)
def test_a_mistake_is_told_and_not_asked_of_anybody(text: str, code: str, detail: str) -> None:
    with pytest.raises(LocalProtocolError) as refused:
        parse_command(text)

    assert refused.value.code == code
    assert detail in refused.value.detail


def test_two_slashes_ask_about_one() -> None:
    assert question_of("//new is what?") == "/new is what?"
    assert question_of("/usr") == "/usr"


def test_names_are_found_by_what_they_look_like() -> None:
    assert nearest("serch", COMMANDS) == "search"
    assert nearest("zzz", COMMANDS) is None
    assert set(ALIASES.values()) <= set(COMMANDS)
    assert not set(ALIASES) & set(COMMANDS)


KNOWN = Known(
    engines=["mine", "other"],
    models=["big-1", "small-1"],
    conversations=[conversation("conv_1", "Tests"), conversation("conv_2", "A flaky build")],
    paths=["src/", "src/a.py"],
    paths_prefix="sr",
)

COMPLETIONS: list[tuple[str, str | None, list[str]]] = [
    # typed,              word,        candidates
    ("/s",                "/s",        ["/search"]),
    ("/RE",               "/RE",       ["/reasoning"]),
    ("/zz",               None,        []),
    ("/engine ",          "",          ["mine", "other"]),
    ("/engine M",         "M",         ["mine"]),
    ("/engine mine",      None,        []),
    ("/model ",           "",          ["default", "big-1", "small-1"]),
    ("/reasoning o",      "o",         ["on", "off"]),
    ("/copy ",            "",          ["code", "all"]),
    ("/export m",         "m",         ["markdown"]),
    ("/export html sr",   "html sr",   ["html src/", "html src/a.py"]),
    ("/open flaky",       "flaky",     ["conv_2"]),
    ("/open conv",        "conv",      ["conv_1", "conv_2"]),
    ("/attach src",       "src",       ["src/", "src/a.py"]),
    ("/attach doc",       None,        []),
    ("/search x",         None,        []),
    ("/new x",            None,        []),
    ("/nothing x",        None,        []),
    ("hello",             None,        []),
    ("/engine a\nb",      None,        []),
]  # fmt: skip


@pytest.mark.requirement("chat:commands:completion")
@pytest.mark.parametrize(("text", "word", "candidates"), COMPLETIONS)
def test_what_a_beginning_goes_on_with(
    text: str, word: str | None, candidates: Sequence[str]
) -> None:
    completion = complete(text, KNOWN)

    assert ([c.text for c in completion.candidates] if completion else []) == candidates
    assert (completion.word if completion else None) == word


def test_a_name_alone_offers_all_commands_and_says_what_they_do() -> None:
    completion = complete("/", Known())

    assert completion is not None
    assert completion.is_command
    assert [candidate.text for candidate in completion.candidates] == [f"/{n}" for n in COMMANDS]
    assert all(candidate.summary for candidate in completion.candidates)
    assert complete("/attach x", Known()) is None


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("/attach ", ""),
        ("/attach src/a", "src/a"),
        ("/export html out", "out"),
        ("/export html ", None),
        ("/export out", None),
        ("/open x", None),
        ("hello", None),
    ],
)
def test_where_a_path_is_typed(text: str, prefix: str | None) -> None:
    assert path_prefix(text) == prefix


def test_a_menu_follows_the_text_and_can_be_closed() -> None:
    menu, editor = CompletionMenu(), Editor()
    menu.go(1)
    assert menu.take(editor, KNOWN) is None
    assert (menu.is_open, menu.candidates, menu.selected) == (False, (), None)
    editor.type("/e")
    menu.refresh(editor, KNOWN)
    assert [c.text for c in menu.candidates] == ["/engine", "/export"]
    assert menu.selected == 0
    menu.go(-1)
    menu.refresh(editor, KNOWN)
    assert menu.selected == 1
    menu.go(1)
    menu.take(editor, KNOWN)
    assert editor.text == "/engine "


def test_among_arguments_nothing_is_selected_until_somebody_does() -> None:
    menu, editor = CompletionMenu(), Editor()
    editor.type("/engine ")
    menu.refresh(editor, KNOWN)
    selected = [menu.selected]
    assert [c.text for c in menu.candidates] == ["mine", "other"]
    menu.go(-1)
    selected.append(menu.selected)
    assert selected == [None, 1]
    menu.close(editor)
    menu.refresh(editor, KNOWN)
    assert not menu.is_open
    editor.type("o")
    menu.refresh(editor, KNOWN)
    assert [c.text for c in menu.candidates] == ["other"]
    editor.do("left")
    menu.refresh(editor, KNOWN)
    assert not menu.is_open


# what they do ---------------------------------------------------------------------------------
def state_of(*messages: dict[str, Json]) -> ConversationState:
    state = ConversationState("conv_1", 1)
    for ordinal, one in enumerate(messages):
        state = state.with_finished(ordinal, one)
    return state


FENCED = "Run this:\n\n```sh\nmake test\n```\n\nor\n\n~~~\nmake check\n~~~\n"
STATE = state_of(
    message("m1", "user", "How?"),
    message("m2", "assistant", FENCED),
    message("m3", "user", "Thanks"),
    message("m4", "assistant", "You are welcome."),
)
CODE: dict[str, Json] = {
    "id": "m5", "role": "assistant", "status": "completed", "created_at": 1,
    "content": [
        {"id": "b1", "type": "code", "text": "x = 1\n"},
        {"id": "b2", "type": "notice", "code": "n", "message": "m"},
    ],
}  # fmt: skip


class Place:
    """Somewhere to give commands, and what is said there."""

    def __init__(self, state: ConversationState | None = STATE) -> None:
        self.choices = Choices(engine=None)
        self.choices.engines = ("mine", "other")
        self.choices.conversations = KNOWN.conversations
        self.choices.listed_ids = ("conv_8", "conv_9")
        self.said: list[Notice] = []
        self.state = state

    def run(self, text: str) -> list[Intent]:
        command = parse_command(text)
        assert command is not None
        conversation_id = None if self.state is None else "conv_1"
        place = CommandPlace(
            self.choices, self.said.append, conversation_id, self.state, KEYS.describe
        )
        return run_command(command, place)


DONE: list[tuple[str, list[Intent]]] = [
    ("/new",                      [NewConversation()]),
    ("/quit",                     [Quit()]),
    ("/fork",                     [Fork("conv_1")]),
    ("/open",                     [ListConversations(20)]),
    ("/open last",                [OpenConversation(None)]),
    ("/open 2",                   [OpenConversation("conv_9")]),
    ("/open conv_7",              [OpenConversation("conv_7")]),
    ("/open a flaky build",       [OpenConversation("conv_2")]),
    ("/attach a b.png",           [Attach("conv_1", "a b.png")]),
    ("/attach 'a b.png'",         [Attach("conv_1", "a b.png")]),
    ("/search connection reset",  [Search("connection reset")]),
    ("/export",                   [Export("conv_1", "markdown", None)]),
    ("/export html",              [Export("conv_1", "html", None)]),
    ("/export html out",          [Export("conv_1", "html", "out")]),
    ("/export talk.jsonl",        [Export("conv_1", "jsonl", "talk.jsonl")]),
    ("/export my talk.md",        [Export("conv_1", "markdown", "my talk.md")]),
    ("/copy",                     [Copy("You are welcome.", "the last answer")]),
    ("/copy 2",                   [Copy(FENCED, "the answer 2 from the end")]),
    ("/copy code",                [Copy("make check", "the last code")]),
]  # fmt: skip


@pytest.mark.requirement("chat:commands:done")
@pytest.mark.parametrize(("text", "intents"), DONE)
def test_what_a_command_asks_for(text: str, intents: list[Intent]) -> None:
    place = Place()

    assert place.run(text) == intents
    assert place.said == []


NOT_DONE = [
    ("/open 3", "number"), ("/open 0", "number"), ("/attach", "which file"), ("/search", "WORDS"),
    ("/export out.xyz", "format"), ("/export talk", "format"),
    ("/engine mien", "mine"), ("/engine zzz", "mine, other"), ("/reasoning maybe", "on or off"),
    ("/copy 3", "number"), ("/copy everything", "number"),
]  # fmt: skip


@pytest.mark.requirement("chat:commands:refused")
@pytest.mark.parametrize(("text", "detail"), NOT_DONE)
def test_what_a_command_cannot_use_changes_nothing(text: str, detail: str) -> None:
    place = Place()

    with pytest.raises(LocalProtocolError) as refused:
        place.run(text)

    assert refused.value.code == "unusable_argument"
    assert detail in refused.value.detail
    assert (place.choices.engine, place.choices.with_reasoning) == (None, False)


@pytest.mark.parametrize("text", ["/fork", "/export"])
def test_there_must_be_a_conversation_for_some(text: str) -> None:
    with pytest.raises(LocalProtocolError) as refused:
        Place(None).run(text)

    assert refused.value.code == "no_conversation"


def test_there_must_be_an_answer_to_copy_and_code_in_it() -> None:
    for place, text in ((Place(None), "/copy"), (Place(state_of()), "/copy code")):
        with pytest.raises(LocalProtocolError, match="no answer"):
            place.run(text)
    with pytest.raises(LocalProtocolError, match="no answer has code"):
        Place(state_of(message("m1", "assistant", "none"))).run("/copy code")
    assert Place(state_of(CODE)).run("/copy code") == [Copy("x = 1\n", "the last code")]
    everything = Place(state_of(message("m1", "user", "Hi"), message("m2", "assistant", "Yes")))
    assert everything.run("/copy all") == [Copy("user:\nHi\n\nassistant:\nYes", "the conversation")]


def test_another_engine_lets_go_of_the_model() -> None:
    place = Place()
    place.run("/model big-1")
    place.run("/engine mine")
    assert (place.choices.engine, place.choices.model) == ("mine", "big-1")
    place.run("/engine other")
    assert (place.choices.engine, place.choices.model) == ("other", None)
    place.run("/model small-1")
    place.run("/model default")
    assert place.choices.model is None
    place.said.clear()
    place.run("/engine")
    place.run("/model")
    place.run("/model x")
    place.run("/model")
    assert [notice.text for notice in place.said] == [
        "engines: mine, other (answers now)",
        "model: the default of the engine",
        "model from the next question on: x",
        "model: x",
    ]


def test_engines_that_are_not_known_yet_may_be_named() -> None:
    place = Place()
    place.choices.engines = ()
    place.run("/engine")
    place.run("/engine any")

    assert place.said[0].text == "engines: not known yet"
    assert place.choices.engine == "any"


def test_reasoning_is_switched() -> None:
    place = Place()
    shown = []
    for text in ("/reasoning", "/reasoning on", "/reasoning off", "/reasoning"):
        place.run(text)
        shown.append(place.choices.with_reasoning)

    assert shown == [True, True, False, True]
    assert place.said[2].text == "reasoning is hidden"


@pytest.mark.requirement("chat:commands:help")
def test_help_names_every_command_and_the_keys() -> None:
    place = Place()
    place.run("/help")

    text = place.said[0].text
    assert text == "\n".join(help_lines(KEYS.describe))
    assert all(f"/{name}" in text for name in COMMANDS)
    assert "Alt-Enter" in text
