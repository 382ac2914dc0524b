"""A person, a chat and a gateway: who wants what when, and where the text goes."""

from __future__ import annotations

import pytest

from blockwire.client import SearchHit, SearchPage, SearchSnippet
from blockwire.client.search import SearchMatch
from blockwire.content import (
    BlockCompleted,
    BlockStarted,
    ConversationSnapshot,
    ConversationState,
    TurnResumed,
    apply,
)
from blockwire.errors import LocalProtocolError
from blockwire.tty.bindings import Bindings
from blockwire.tty.inputevents import Key, Mouse, Pasted
from blockwire.tui import chatinput
from blockwire.tui.intents import (
    AnswerRequest,
    Attach,
    Cancel,
    CheckTurn,
    Copy,
    Fork,
    ListConversations,
    ListPaths,
    NewConversation,
    Notify,
    OpenConversation,
    Quit,
    RememberInput,
    Repaint,
    Search,
    Submit,
    Suspend,
)
from blockwire.tui.keys import CHAT_KEYS
from blockwire.tui.outage import OUTAGE_SHOWN_S
from blockwire.tui.pastes import PASTE_CHARS_MAX
from blockwire.tui.talk import RESEND_S
from tests.tui.core.typists import Typist, conversation, message, turn

FILE = {
    "id": "b9", "type": "attachment", "name": "chart.png", "media_type": "image/png",
    "size_bytes": 3, "source": {"type": "url", "url": "x"},
}  # fmt: skip
GUARD = chatinput.ANSWER_GUARD_S


@pytest.fixture
def typist() -> Typist:
    return Typist()


@pytest.fixture
def busy(typist: Typist) -> Typist:
    """Return somebody whose first question is being answered."""
    typist.submitted(typist.ask("First?"), "turn_1")
    typist.begin("turn_1", "First?")
    return typist


# questions ------------------------------------------------------------------------------------
def test_enter_sends_what_was_typed_and_remembers_it(typist: Typist) -> None:
    intents = typist.press("'Why? '", "enter")

    assert intents == [RememberInput("Why? "), Submit("key_1", None, "Why?", None, None)]
    assert typist.text == ""
    assert typist.press("enter", "' '", "enter") == []


def test_a_backslash_before_enter_makes_a_new_line(typist: Typist) -> None:
    typist.press("'a\\'", "enter", "'b'", "enter")

    assert typist.last(Submit).content == "a\nb"


@pytest.mark.requirement("chat:questions:one-at-a-time")
def test_questions_are_sent_one_at_a_time_and_in_order(typist: Typist) -> None:
    first = typist.ask("First?")
    typist.press("'Second?'", "enter", "'Third?'", "enter")
    assert typist.all(Submit) == [first]
    assert [row.split(":")[0] for row in typist.rows()[:3]] == [
        "sending", "to be sent", "to be sent",
    ]  # fmt: skip

    typist.submitted(first, "turn_1")
    assert typist.last(Submit) == Submit("key_2", "conv_1", "Second?", None, None)
    typist.submitted(typist.last(Submit), "turn_2", status="queued", durable=False, position=1)
    assert typist.last(Submit).content == "Third?"


@pytest.mark.requirement("chat:queue:place")
def test_a_question_that_waits_shows_its_place_until_it_begins(busy: Typist) -> None:
    busy.queue("Second?", "turn_2", position=2)
    assert busy.rows()[0] == "in line (2): Second?"
    busy.hear_of_line("turn.queued", turn_id="turn_2", position=1)
    assert busy.rows()[0] == "next: Second?"
    busy.hear_of_line("turn.queued", turn_id="turn_2", position="?")
    assert busy.rows()[0] == "in line (?): Second?"
    busy.hear_of_line("turn.queued", turn_id="turn_of_somebody_else", position=1)
    busy.hear_of_line("turn.something", turn_id="turn_2")

    busy.end("turn_1")
    busy.begin("turn_2", "Second?")
    assert len(busy.rows()) == 2


def test_a_question_whose_turn_was_heard_of_first_waits_for_nothing(typist: Typist) -> None:
    intent = typist.ask("First?")
    typist.open()
    typist.begin("turn_1", "First?")
    typist.submitted(intent, "turn_1")

    assert typist.chat.talk.outbox.questions == ()
    assert typist.submitted(intent, "turn_1") == []


@pytest.mark.requirement("chat:cancel:handed-back")
def test_escape_takes_back_what_waits_and_stops_what_runs(busy: Typist) -> None:
    busy.queue("Second?", "turn_2")
    busy.queue("Third?", "turn_3", position=2)
    busy.press("'draft'")

    # One after the other, the one that runs last: so none of them can begin in between.
    assert busy.press("escape") == [Cancel("conv_1", "turn_3")]
    assert busy.press("escape") == []
    assert busy.status.startswith("stopping")
    assert busy.handed_back("turn_3") == [Cancel("conv_1", "turn_2")]
    assert busy.handed_back("turn_2") == [Cancel("conv_1", "turn_1")]
    assert busy.text == "Second?\n\nThird?\n\ndraft"
    busy.cancelled("turn_1")
    busy.end("turn_1", status="cancelled")
    assert busy.chat.talk.turns.turn is None


def test_what_ended_by_itself_is_not_cancelled_any_more(busy: Typist) -> None:
    busy.queue("Second?", "turn_2")
    busy.press("escape")
    busy.end("turn_1")
    busy.begin("turn_2", "Second?")

    # It began before it could be taken out; what was asked is in the conversation now.
    assert busy.cancelled("turn_2", status="cancelled") == []
    assert (busy.text, busy.all(Cancel)) == ("", [Cancel("conv_1", "turn_2")])
    busy.end("turn_2", status="cancelled")
    busy.queue("Third?", "turn_3")
    busy.queue("Fourth?", "turn_4")
    busy.press("escape")
    busy.hear_of_line("turn.dequeued", turn_id="turn_3", reason="cancelled")
    assert busy.handed_back("turn_4") == []
    assert busy.text == "Fourth?\n\nThird?"


def test_what_waits_unsent_comes_back_at_once(typist: Typist) -> None:
    first = typist.ask("First?")
    typist.press("'Second?'", "enter")
    assert typist.press("escape") == []
    assert typist.text == "Second?"

    # The one on its way is cancelled as soon as there is something to cancel.
    assert typist.submitted(first, "turn_1") == [Cancel("conv_1", "turn_1")]
    typist.cancelled("turn_1")
    assert typist.chat.talk.outbox.questions == ()
    assert typist.text == "Second?"


def test_an_unwanted_question_that_was_queued_comes_back(typist: Typist) -> None:
    first = typist.ask("First?")
    typist.press("escape")
    typist.submitted(first, "turn_1", status="queued", durable=False, position=1)
    typist.hear_of_line("turn.dequeued", turn_id="turn_1", reason="cancelled")
    typist.handed_back("turn_1")

    assert typist.text == "First?"
    assert typist.notices() == []


def test_an_unwanted_question_that_is_over_needs_no_cancel(typist: Typist) -> None:
    first = typist.ask("First?")
    typist.press("escape")

    assert typist.submitted(first, "turn_1", status="completed") == []
    assert typist.chat.talk.outbox.questions == ()


def test_an_unwanted_question_that_is_refused_comes_back_without_a_word(typist: Typist) -> None:
    first = typist.ask("First?")
    typist.press("escape")
    typist.failed(first, "engine_not_found", status=404)

    assert (typist.text, typist.notices()) == ("First?", [])


DEQUEUED = [
    # reason,            comes back, is said
    ("cancelled",        True,       "somebody else"),
    ("last_turn_mismatch", True,     "last_turn_mismatch"),
    ("stopping",         False,      None),
]  # fmt: skip


@pytest.mark.parametrize(("reason", "comes_back", "said"), DEQUEUED)
def test_a_question_that_left_the_line(
    busy: Typist, reason: str, comes_back: bool, said: str | None
) -> None:
    busy.queue("Second?", "turn_2")
    busy.hear_of_line("turn.dequeued", turn_id="turn_2", reason=reason)

    assert (busy.text == "Second?") is comes_back
    assert [said in notice for notice in busy.notices()] == ([True] if said else [])  # type: ignore[operator] # not None


@pytest.mark.requirement("chat:questions:refused")
def test_a_refused_question_goes_back_into_the_input(typist: Typist) -> None:
    typist.failed(typist.ask("First?"), "engine_not_found", status=404)

    assert typist.text == "First?"
    assert typist.notices() == ["the question was not taken: because [engine_not_found]"]
    assert typist.failed(Submit("other", None, "x", None, None), "any") == []


@pytest.mark.requirement("chat:questions:again")
def test_a_question_that_may_have_arrived_is_sent_again_under_its_key(typist: Typist) -> None:
    first = typist.ask("First?")
    typist.failed(first, "connection_lost", retryable=True)

    assert typist.notices() == ["the question waits to be sent: because [connection_lost]"]
    assert typist.chat.wake_at_s == typist.now_s + RESEND_S
    assert typist.wait(RESEND_S / 2) == []
    assert typist.wait(RESEND_S / 2) == [first]
    typist.failed(first, "queue_full", retryable=True, status=429, retry_after_s=7.0)
    assert typist.wait(6.9) == []
    assert typist.wait(0.1) == [first]
    assert typist.notices() == []

    # Also if it was taken back meanwhile, and is asked again as it was.
    typist.failed(first, "connection_lost", retryable=True)
    typist.press("escape")
    assert typist.text == "First?"
    assert typist.press("enter") == [first]


def test_another_question_has_another_key(typist: Typist) -> None:
    first = typist.ask("First?")
    typist.failed(first, "connection_lost", retryable=True)
    typist.press("escape", "'!'", "enter")

    assert typist.last(Submit) == Submit("key_2", None, "First?!", None, None)


# stopping and leaving -------------------------------------------------------------------------
@pytest.mark.requirement("chat:interrupt:twice")
def test_ctrl_c_stops_the_answer_and_then_leaves(busy: Typist) -> None:
    busy.press("'draft'")

    assert busy.press("ctrl-c") == [Cancel("conv_1", "turn_1")]
    assert busy.status.startswith("Ctrl-C again leaves")
    assert busy.press("ctrl-c") == [RememberInput("draft"), Quit()]


def test_ctrl_c_clears_the_input_and_then_leaves(typist: Typist) -> None:
    typist.press("'draft'")

    assert typist.press("ctrl-c") == []
    assert typist.text == ""
    assert typist.press("ctrl-c") == [Quit()]
    typist.press("ctrl-_")
    assert typist.text == "draft"


def test_a_late_or_interrupted_second_ctrl_c_is_a_first_one(typist: Typist) -> None:
    assert typist.press("ctrl-c") == []
    assert typist.chat.wake_at_s == typist.now_s + chatinput.QUIT_ARMED_S
    typist.wait(chatinput.QUIT_ARMED_S)
    assert not typist.status.startswith("Ctrl-C")
    assert typist.press("ctrl-c") == []
    assert typist.press("'x'", "ctrl-c") == []
    assert typist.press("ctrl-c") == [Quit()]


def test_ctrl_d_leaves_only_an_empty_input(typist: Typist) -> None:
    typist.press("'ab'", "home")
    assert typist.press("ctrl-d") == []
    assert typist.text == "b"
    assert typist.press("ctrl-d", "ctrl-d") == [Quit()]


def test_keys_for_the_terminal(typist: Typist) -> None:
    assert typist.press("ctrl-l", "ctrl-z") == [Repaint(), Suspend()]
    assert typist.press("f12", "escape") == []
    assert typist.chat.press(
        Mouse("press", 1, 0, 0, frozenset(), b""), now_s=typist.now_s
    ) == []  # fmt: skip
    typist.press("f1")
    assert "/search WORDS" in typist.notices()[0]


CANCELS_FAILED = [
    ("turn_terminal", []),
    ("connection_lost", ["the answer could not be stopped: because [connection_lost]"]),
]


@pytest.mark.parametrize(("code", "said"), CANCELS_FAILED)
def test_a_cancel_that_failed_can_be_tried_again(busy: Typist, code: str, said: list[str]) -> None:
    busy.press("escape")
    busy.failed(busy.last(Cancel), code)

    assert busy.notices() == said
    assert busy.press("escape") == [Cancel("conv_1", "turn_1")]


@pytest.mark.parametrize("code", ["turn_not_found", "turn_handed_back"])
def test_a_cancel_of_what_is_in_no_line_any_more_gives_the_text_back(
    busy: Typist, code: str
) -> None:
    busy.queue("Second?", "turn_2")
    busy.press("escape")
    busy.failed(busy.last(Cancel), code)

    assert (busy.text, busy.notices()) == ("Second?", [])


# what a turn asks -----------------------------------------------------------------------------
@pytest.mark.requirement("chat:answers:guard")
def test_nobody_approves_by_typing_on(busy: Typist) -> None:
    busy.press("'Please do it'")
    busy.suspend("turn_1")
    assert "Delete 3 files?" in busy.rows()
    assert busy.chat.wake_at_s == busy.now_s + GUARD

    busy.now_s += GUARD - 0.1
    assert busy.press("y") == []
    busy.now_s += GUARD - 0.1
    assert busy.press("y") == []
    assert busy.text == "Please do ityy"
    busy.wait(GUARD)
    assert busy.text == ""
    assert busy.press("y") == [AnswerRequest("conv_1", "turn_1", "req_1", True)]
    assert busy.text == "Please do ityy"


@pytest.fixture
def asked(busy: Typist) -> Typist:
    busy.suspend("turn_1")
    busy.wait(GUARD)
    return busy


def choose(asked: Typist, *names: str) -> object:
    asked.press(*names)
    return asked.last(AnswerRequest).answer


APPROVALS = [
    (["y"], True), (["N"], False), (["down", "enter"], True), (["up", "enter"], False),
    (["down", "down", "down", "enter"], True), (["'ok'", "enter"], True),
    (["'false'", "enter"], False),
]  # fmt: skip


@pytest.mark.requirement("chat:answers:given")
@pytest.mark.parametrize(("names", "answer"), APPROVALS)
def test_an_approval_takes_yes_or_no(asked: Typist, names: list[str], answer: bool) -> None:
    assert choose(asked, *names) is answer


def test_nothing_is_chosen_by_enter_alone(asked: Typist) -> None:
    assert asked.press("enter") == []
    assert asked.press("'maybe'", "enter") == []
    assert asked.notices() == ["answer yes or no"] * 2
    assert asked.text == "maybe"
    assert [row for row in asked.rows() if "yes" in row] == ["  y yes"]


OPTIONS: dict[str, object] = {"kind": "question", "prompt": "Which?", "options": ["red", "blue", 3]}
QUESTIONS = [
    (["'2'", "enter"], "blue"), (["down", "enter"], "red"), (["'3'", "enter"], 3),
    (["'4'", "enter"], "4"), (["' green '", "enter"], "green"), (["up", "enter"], 3),
]  # fmt: skip


@pytest.mark.requirement("chat:answers:given")
@pytest.mark.parametrize(("names", "answer"), QUESTIONS)
def test_a_question_takes_an_option_or_a_text(
    busy: Typist, names: list[str], answer: object
) -> None:
    busy.suspend("turn_1", "req_1", **OPTIONS)
    busy.wait(GUARD)

    assert choose(busy, *names) == answer


def test_a_question_without_options_takes_any_text(busy: Typist) -> None:
    busy.suspend("turn_1", kind="question", prompt="What is\nyour name?")
    busy.wait(GUARD)
    assert busy.press("up", "down", "enter") == []
    assert busy.notices() == ["the answer is empty"]
    assert busy.rows()[:2] == ["What is", "your name?"]
    busy.paste("Ada")
    busy.press("enter")
    assert busy.last(AnswerRequest).answer == "Ada"


def test_commands_work_while_a_turn_waits_and_paths_are_answers(busy: Typist) -> None:
    busy.suspend("turn_1", kind="question", prompt="Where?")
    busy.wait(GUARD)

    busy.press("'/reasoning on'", "enter")
    assert busy.chat.with_reasoning
    assert choose(busy, "'/tmp/x'", "enter") == "/tmp/x"
    busy.failed(busy.last(AnswerRequest), "connection_lost")
    busy.wait(GUARD)
    assert choose(busy, "'/nosuch'", "enter") == "/nosuch"


def test_an_answer_is_asked_for_once_and_again_if_it_did_not_arrive(asked: Typist) -> None:
    asked.press("y")
    assert asked.press("y") == []
    assert asked.press("backspace") == []
    asked.failed(asked.last(AnswerRequest), "connection_lost")
    assert asked.notices() == ["the answer did not arrive: because [connection_lost]"]
    asked.wait(GUARD)
    asked.press("n")
    assert asked.last(AnswerRequest).answer is False
    asked.chat.answered(asked.last(AnswerRequest), now_s=asked.now_s)
    asked.hear(TurnResumed(turn_id="turn_1", extra={"request_id": "req_1", "answer": False}))
    assert asked.notices() == []
    assert asked.status.startswith("answering")


@pytest.mark.requirement("chat:answers:elsewhere")
def test_an_answer_from_elsewhere_ends_the_asking(asked: Typist) -> None:
    asked.press("'mayb'")
    asked.hear(TurnResumed(turn_id="turn_1", extra={"request_id": "req_1", "answer": True}))

    assert asked.notices() == ["it waits no more: somebody else answered, or it has ended"]
    assert (asked.text, asked.chat.desk.is_answering) == ("", False)


@pytest.mark.parametrize("code", ["turn_not_suspended", "request_mismatch", "turn_terminal"])
def test_an_answer_may_come_too_late(asked: Typist, code: str) -> None:
    asked.press("y")
    intent = asked.last(AnswerRequest)
    asked.failed(intent, code)

    assert asked.notices() == ["somebody else answered before"]
    assert asked.chat.talk.turns.asked is None
    assert asked.chat.talk.answer(True) == []
    asked.chat.talk.turns.not_answered("another")
    assert asked.chat.talk.turns.asked is None


def test_escape_stops_a_turn_that_waits(asked: Typist) -> None:
    assert asked.press("escape") == [Cancel("conv_1", "turn_1")]
    asked.end("turn_1", status="cancelled")
    assert asked.notices() == []


def test_the_person_is_called_only_when_they_look_elsewhere(busy: Typist) -> None:
    assert busy.suspend("turn_1") == []
    busy.hear(TurnResumed(turn_id="turn_1", extra={"request_id": "req_1", "answer": True}))
    busy.focus(is_in=False)
    assert busy.suspend("turn_1", "req_2") == [Notify("the answer waits for you")]
    busy.hear(TurnResumed(turn_id="turn_1", extra={"request_id": "req_2", "answer": True}))
    assert busy.end("turn_1") == [Notify("the answer is complete")]
    busy.focus(is_in=True)


# connection -----------------------------------------------------------------------------------
def test_a_short_outage_is_nobodys_business(busy: Typist) -> None:
    assert busy.connection("connecting") == []
    assert busy.connection("connected") == []
    busy.connection("waiting", "connection_lost")
    busy.connection("connecting", "connection_lost")
    assert "out of reach" not in busy.status
    assert busy.chat.talk.wake_at_s(busy.now_s) == busy.now_s + OUTAGE_SHOWN_S
    busy.wait(OUTAGE_SHOWN_S)
    assert "out of reach" in busy.status
    assert busy.connection("connected") == []
    assert "out of reach" not in busy.status


@pytest.mark.requirement("chat:queue:forgotten")
def test_what_waited_is_looked_for_after_an_outage_and_asked_again_once(busy: Typist) -> None:
    for number, text in enumerate(("Second?", "Third?", "Fourth?", "Fifth?"), 2):
        busy.queue(text, f"turn_{number}", position=number - 1)
    busy.connection("waiting", "connection_lost")
    busy.hear_of_line("turn.dequeued", turn_id="turn_2", reason="stopping")
    checks = busy.connection("connected")
    assert checks == [CheckTurn("conv_1", f"turn_{number}") for number in (2, 3, 4, 5)]

    assert isinstance(checks[0], CheckTurn)
    again = busy.failed(checks[0], "turn_not_found", status=404)
    assert again == [Submit("key_2", "conv_1", "Second?", None, None)]
    busy.submitted(busy.last(Submit), "turn_8", status="queued", durable=False, position=1)
    busy.failed(checks[1], "turn_handed_back", status=404)
    assert busy.text == "Third?"
    busy.failed(checks[2], "connection_lost", retryable=True)
    assert busy.failed(checks[1], "turn_not_found") == []
    assert [q.turn_id for q in busy.chat.talk.outbox.questions] == ["turn_8", "turn_4", "turn_5"]


CHECKED = [
    # the gateway says,                                      left in line, comes back
    ({"status": "queued", "durable": False, "position": 7},  True,         False),
    ({"status": "cancelled", "durable": False},              False,        True),
    ({"status": "running"},                                  False,        False),
]  # fmt: skip


@pytest.mark.parametrize(("members", "is_left", "comes_back"), CHECKED)
def test_how_a_turn_stands_after_an_outage(
    busy: Typist, members: dict[str, object], is_left: bool, comes_back: bool
) -> None:
    busy.queue("Second?", "turn_2")
    check = CheckTurn("conv_1", "turn_2")
    busy.chat.checked(check, turn("turn_2", **members), now_s=busy.now_s)

    assert bool(busy.chat.talk.outbox.questions) is is_left
    assert (busy.text == "Second?") is comes_back
    busy.chat.checked(CheckTurn("conv_1", "turn_9"), turn("turn_9"), now_s=busy.now_s)


def test_an_outage_before_the_first_conversation_asks_for_nothing(typist: Typist) -> None:
    typist.connection("waiting", "connection_lost")

    assert typist.connection("connected") == []


# conversations --------------------------------------------------------------------------------
@pytest.mark.requirement("chat:conversations:own")
def test_events_of_another_conversation_change_nothing(busy: Typist) -> None:
    late = busy.state
    busy.open("conv_2")
    event = ConversationSnapshot(messages=[], turns=[], open_block_ids=[])

    assert busy.chat.receive(late, event, now_s=busy.now_s) == []
    assert busy.chat.state is None
    assert busy.chat.conversation_id == "conv_2"


def test_a_new_conversation_keeps_what_was_not_sent(busy: Typist) -> None:
    busy.ask("Second?")
    busy.press("'Third?'", "enter")
    busy.chat.attached(Attach("conv_1", "x"), FILE)  # type: ignore[arg-type] # JSON
    busy.press("'/new'")

    assert busy.press("enter") == [RememberInput("/new"), NewConversation()]
    assert (busy.chat.conversation_id, busy.chat.state) == (None, None)
    assert busy.text == "Third?"
    assert busy.notices() == ["attached files stay in the conversation that they were for"]


def test_another_conversation_is_opened_and_forked(busy: Typist) -> None:
    busy.chat.attached(Attach("conv_1", "x"), FILE)  # type: ignore[arg-type] # JSON
    busy.press("'/open conv_2'")
    assert busy.press("enter")[-1] == OpenConversation("conv_2")
    busy.failed(OpenConversation("conv_2"), "conversation_not_found")
    assert busy.notices() == [
        "the conversation could not be opened: because [conversation_not_found]"
    ]
    assert busy.press("'/fork'", "enter")[-1] == Fork("conv_1")
    busy.open("conv_3", "A copy")
    assert busy.status.startswith("A copy")
    assert busy.notices() == ["attached files stay in the conversation that they were for"]
    busy.open("conv_3", "Renamed")
    assert busy.status.startswith("Renamed")


def test_conversations_and_hits_are_listed_and_opened_by_number(typist: Typist) -> None:
    assert typist.press("'/open'", "enter")[-1] == ListConversations(20)
    typist.chat.listed([conversation("conv_7", None), conversation("conv_8", "Eight")])
    assert typist.notices() == [
        "  1  (no title)  conv_7\n  2  Eight  conv_8\n/open NUMBER opens one"
    ]
    assert typist.press("'/open 2'", "enter")[-1] == OpenConversation("conv_8")
    typist.chat.listed([])
    assert typist.notices() == ["there are no conversations yet"]

    assert typist.press("'/search reset'", "enter")[-1] == Search("reset")
    snippet = SearchSnippet(
        text="a\nreset", matches=[SearchMatch(2, 7)], at_start=True, at_end=False
    )
    hits = [
        SearchHit(
            conversation_id=f"conv_{number}", message_id="m", role="user", created_at=1,
            block_id="b", block_type="prose", snippet=snippet, title=title,
        )
        for number, title in ((4, "Four"), (5, None))
    ]  # fmt: skip
    typist.chat.found(Search("reset"), SearchPage(items=hits, next_cursor=None, index="building"))
    assert typist.notices()[0].split("\n")[:2] == ["  1  Four  conv_4", "     user: a reset \u2026"]
    assert typist.press("'/open 2'", "enter")[-1] == OpenConversation("conv_5")
    typist.chat.found(Search("x"), SearchPage(items=[], next_cursor=None))
    assert typist.notices() == ["nothing found"]


def test_the_end_of_a_stream_is_told(busy: Typist) -> None:
    error = LocalProtocolError("conversation_deleted", "it was deleted")
    busy.chat.stream_ended(error, now_s=busy.now_s)

    assert busy.notices() == ["the conversation ends here: it was deleted [conversation_deleted]"]
    assert busy.chat.conversation_id is None


# files ----------------------------------------------------------------------------------------
def test_files_go_with_the_next_question_also_alone(typist: Typist) -> None:
    assert typist.press("'/attach chart.png'", "enter")[-1] == Attach(None, "chart.png")
    assert typist.press("'What?'", "enter") == []
    assert typist.notices() == ["a file is still on its way; Enter again sends it along"]
    typist.chat.attached(typist.last(Attach), FILE)  # type: ignore[arg-type] # JSON
    assert typist.rows()[0] == "with chart.png"
    typist.press("enter")
    assert typist.last(Submit).content == ({"type": "prose", "markdown": "What?"}, FILE)

    typist.submitted(typist.last(Submit), "turn_1")
    typist.chat.attached(typist.last(Attach), FILE)  # type: ignore[arg-type] # JSON
    typist.press("enter")
    assert typist.last(Submit).content == (FILE,)
    typist.failed(typist.last(Submit), "invalid_block", status=400)
    assert (typist.text, typist.chat.choices.files) == ("", [FILE])
    typist.press("backspace")
    assert typist.chat.choices.files == []
    typist.press("'/attach x'", "enter")
    typist.failed(typist.last(Attach), "file_unreadable")
    assert typist.notices()[-1] == "the file could not be attached: because [file_unreadable]"
    typist.press("'Go on'", "enter")
    assert typist.last(Submit).content == "Go on"


def test_ctrl_c_lets_go_of_files(typist: Typist) -> None:
    typist.chat.attached(Attach(None, "x"), FILE)  # type: ignore[arg-type] # JSON
    typist.press("ctrl-c")

    assert typist.chat.choices.files == []


# typing ---------------------------------------------------------------------------------------
def test_a_name_that_is_begun_is_completed_and_run_by_enter(typist: Typist) -> None:
    typist.press("'/he'")
    assert typist.rows()[1].startswith("  /help")
    typist.press("enter")
    assert "/search WORDS" in typist.notices()[0]
    assert typist.text == ""


def test_a_name_that_takes_something_waits_for_it(typist: Typist) -> None:
    typist.press("'/en'", "enter")
    assert typist.text == "/engine "
    typist.press("down", "down", "enter")
    assert typist.notices() == ["other answers from the next question on"]
    typist.press("'/engine'", "enter")
    assert typist.notices() == ["engines: mine, other (answers now)"]


def test_tab_completes_names_arguments_and_paths(typist: Typist) -> None:
    typist.press("'/ex'", "tab", "tab", "tab")
    assert typist.text == "/export markdown"
    typist.press("ctrl-u", "'/engine '", "shift-tab", "tab")
    assert typist.text == "/engine other"
    typist.press("ctrl-u", "'x'", "tab")
    assert typist.text == "x"
    typist.press("ctrl-u", "'/attach s'")
    assert typist.press("tab") == [ListPaths("s")]
    typist.chat.listed_paths(ListPaths("s"), ["src/"])
    assert typist.press("tab") == [ListPaths("src/")]
    assert typist.text == "/attach src/"
    typist.chat.listed_paths(ListPaths("src/"), ["src/a.py", "src/b.py"])
    assert typist.press("down", "tab") == []
    assert typist.text == "/attach src/a.py"
    assert typist.failed(ListPaths("x"), "any") == []
    assert typist.notices() == []


def test_escape_closes_the_menu_before_it_stops_anything(busy: Typist) -> None:
    busy.press("'/he'")
    assert busy.press("escape") == []
    assert busy.press("escape") == [Cancel("conv_1", "turn_1")]


def test_a_wrong_command_stays_in_the_input(typist: Typist) -> None:
    typist.press("'/serch x'", "enter")
    assert (typist.text, typist.notices()) == (
        "/serch x", ["there is no /serch; did you mean /search?"],
    )  # fmt: skip
    typist.press("ctrl-u", "'/open 9'", "enter")
    assert typist.text == "/open 9"
    typist.press("ctrl-u", "'//new'", "enter")
    assert typist.last(Submit).content == "/new"


def test_what_looks_like_a_path_is_asked(typist: Typist) -> None:
    typist.press("'/usr/bin is what?'", "enter")
    assert typist.last(Submit).content == "/usr/bin is what?"
    typist.press("up")
    assert typist.text == "/usr/bin is what?"
    typist.press("down")
    assert typist.text == ""


def test_leaving_by_a_command(typist: Typist) -> None:
    assert typist.press("'/exit'", "enter")[-1] == Quit()


def test_a_copy_says_how_it_went(typist: Typist) -> None:
    typist.chat.told(Copy("x", "the last answer"), "copied")
    typist.failed(Copy("x", "the last answer"), "no_clipboard")

    assert typist.notices() == ["copied", "it could not be copied: because [no_clipboard]"]


@pytest.mark.requirement("chat:history:search")
def test_ctrl_r_searches_the_inputs() -> None:
    typist = Typist(history=["make test", "make lint", "other"])
    typist.press("'dra'", "ctrl-r")
    assert typist.rows()[0] == "> dra"
    typist.press("'mak'")
    assert typist.rows()[0] == "> make lint"
    assert typist.status.startswith("search inputs: mak")
    typist.press("ctrl-r", "ctrl-r")
    assert typist.status.startswith("nothing found: mak")
    typist.press("backspace", "escape")
    assert typist.text == "make lint"
    typist.press("ctrl-r", "'test'", "ctrl-g")
    assert typist.text == "make lint"
    typist.press("ctrl-r", "'zzz'", "ctrl-c")
    assert typist.text == "make lint"
    typist.press("ctrl-r", "'test'", "home")
    assert typist.text == "make test"
    typist.press("ctrl-r", "'oth'", "enter")
    assert typist.last(Submit).content == "other"
    typist.press("ctrl-r", "'mak'")
    typist.paste("!")
    assert typist.text == "make lint!"


def test_a_search_is_not_offered_while_a_turn_asks(busy: Typist) -> None:
    busy.press("ctrl-r")
    busy.suspend("turn_1")
    busy.wait(GUARD)
    busy.press("ctrl-r")

    assert busy.chat.desk.search is None


def test_a_paste_that_is_cut_is_told(typist: Typist) -> None:
    typist.paste("x" * (PASTE_CHARS_MAX + 1))
    assert typist.notices() == ["the paste was cut at 4,194,304 characters"]
    assert typist.paste("") == []
    assert typist.chat.press(Pasted(b"x", is_last=False), now_s=typist.now_s) == []


# status ---------------------------------------------------------------------------------------
def test_the_status_says_what_answers_and_what_it_took(busy: Typist) -> None:
    busy.wait(12.5)
    assert busy.status.startswith("answering 12 s")
    was_active = busy.chat.is_active
    assert busy.chat.wake_at_s == pytest.approx(busy.now_s + 0.5)
    busy.end("turn_1", usage={"input_tokens": 1804, "output_tokens": 51, "x": "?"})
    busy.begin("turn_2", "?", model="big-1")
    busy.end("turn_2", usage={"input_tokens": True, "output_tokens": None})
    assert busy.status.endswith("mine \u00b7 big-1 \u00b7 1.8k in, 51 out \u00b7 0 s")
    assert busy.chat.choices.models == ("big-1",)
    assert (was_active, busy.chat.is_active) == (True, False)
    assert busy.chat.wake_at_s is None


@pytest.mark.requirement("chat:input:bound")
def test_the_status_names_the_keys_that_are_bound() -> None:
    mine = {"cancel": ["f2"], "interrupt": ["ctrl-x"], "submit": ["ctrl-s"]}
    typist = Typist(history=["other"], is_animated=False, bindings=Bindings(CHAT_KEYS, mine))
    typist.press("ctrl-x")
    assert typist.status.startswith("Ctrl-X again leaves")
    typist.press("ctrl-r", "'oth'")
    assert typist.status.startswith("search inputs: oth \u00b7 Ctrl-S sends \u00b7 F2 edits ")
    typist.press("ctrl-g", "'First?'", "ctrl-s")
    assert typist.status.startswith("sending \u00b7 F2 takes it back ")
    typist.submitted(typist.last(Submit), "turn_1")
    typist.begin("turn_1")
    assert typist.status.startswith("answering \u00b7 F2 stops it ")
    typist.suspend("turn_1")
    assert typist.status.startswith("waits for an answer \u00b7 F2 stops the turn ")
    typist.wait(1)
    assert typist.status.startswith("answer, then Ctrl-S \u00b7 F2 stops the turn ")


@pytest.mark.requirement("chat:input:bound")
def test_the_status_names_no_key_that_nothing_is_bound_to() -> None:
    none: dict[str, list[str]] = {"cancel": [], "submit": []}
    typist = Typist(is_animated=False, bindings=Bindings(CHAT_KEYS, none))
    typist.open()
    typist.begin("turn_1")
    assert typist.status.split("  ")[0].strip() == "answering"
    typist.suspend("turn_1")
    typist.wait(1)
    assert typist.status.split("  ")[0].strip() == "waits for an answer"


def test_without_animation_nothing_changes_by_itself() -> None:
    typist = Typist(is_animated=False)
    typist.submitted(typist.ask("First?"), "turn_1")
    typist.begin("turn_1")

    assert typist.status.startswith("answering \u00b7")
    assert typist.chat.wake_at_s is None


def test_a_snapshot_is_counted_anew(busy: Typist) -> None:
    busy.end("turn_1", usage={"input_tokens": 5, "output_tokens": 7})
    said = message("m1", "assistant", "x")
    snapshot = ConversationSnapshot(
        messages=[{**said, "usage": {"input_tokens": 3}}],
        turns=[],
        open_block_ids=[],
    )
    busy.hear(snapshot)

    assert (busy.chat.talk.tokens.input_count, busy.chat.talk.tokens.output_count) == (3, 0)


def test_blocks_of_the_answer_are_state_and_nothing_else(busy: Typist) -> None:
    block = {"id": "b1", "type": "prose", "markdown": "Yes"}
    assert busy.hear(BlockStarted(turn_id="turn_1", block=block)) == []  # type: ignore[arg-type] # JSON
    assert busy.hear(BlockCompleted(turn_id="turn_1", block_id="b1")) == []
    assert busy.chat.state is busy.state


def test_a_hint_stands_in_an_empty_chat(typist: Typist) -> None:
    assert typist.rows()[0] == "> Ask something, or /help"
    typist.press("x")
    assert typist.rows()[0] == "> x"
    assert typist.chat.press(Key("ctrl-g", "", b""), now_s=typist.now_s) == []


@pytest.mark.requirement("chat:conversations:asked-meanwhile")
def test_what_is_asked_while_another_conversation_is_opened_is_asked_there(typist: Typist) -> None:
    typist.open("conv_1")
    typist.press("'/open conv_2'", "enter")
    typist.press("'for the other'", "enter")
    assert typist.all(Submit) == []

    typist.open("conv_2")

    submit = typist.last(Submit)
    assert (submit.conversation_id, submit.content) == ("conv_2", "for the other")
    assert typist.text == ""


@pytest.mark.requirement("chat:conversations:asked-meanwhile")
def test_what_was_asked_of_a_conversation_that_is_not_there_comes_back(typist: Typist) -> None:
    typist.open("conv_1")
    typist.press("'/open conv_2'", "enter")
    typist.press("'for the other'", "enter")

    typist.failed(typist.last(OpenConversation), "conversation_not_found")

    assert (typist.all(Submit), typist.text) == ([], "for the other")
    typist.press("enter")
    assert typist.last(Submit).conversation_id == "conv_1"


def test_files_are_not_sent_to_a_conversation_that_is_being_opened(typist: Typist) -> None:
    typist.open("conv_1")
    typist.chat.choices.files.append({"id": "f", "type": "file", "name": "a.txt"})
    typist.press("'/fork'", "enter", "'look'", "enter")

    assert (typist.all(Submit), typist.text) == ([], "look")
    assert typist.notices() == ["another conversation is being opened; files stay in this one"]


@pytest.mark.requirement("chat:conversations:older")
def test_how_to_see_older_messages_is_told_once(typist: Typist) -> None:
    typist.open("conv_1")
    event = ConversationSnapshot(
        conversation_id="conv_1",
        seq=9,
        messages=[],
        turns=[],
        open_block_ids=[],
        more_before="older",
    )
    state = apply(ConversationState(), event)
    for _time in range(2):
        typist.chat.receive(state, event, now_s=typist.now_s)

    assert typist.notices() == ["older messages are not shown; blockwire show conv_1 prints them"]


@pytest.mark.requirement("chat:questions:no-empty")
def test_a_conversation_is_blank_until_something_is_said(typist: Typist) -> None:
    assert typist.chat.is_blank
    submit = typist.ask("first")
    typist.open("conv_1")
    typist.chat.dropped("conv_2")
    assert (typist.chat.conversation_id, typist.chat.is_blank) == ("conv_1", True)

    typist.chat.dropped("conv_1")
    typist.failed(submit, "engine_not_found", status=422)

    assert (typist.chat.conversation_id, typist.text) == (None, "first")
    typist.press("enter")
    typist.submitted(typist.last(Submit), "turn_1")
    assert not typist.chat.is_blank


@pytest.mark.requirement("chat:questions:one-at-a-time")
def test_what_the_gateway_forgot_is_asked_again_in_order(busy: Typist) -> None:
    busy.queue("two", "turn_2", 1)
    busy.queue("three", "turn_3", 2)
    busy.connection("waiting", "connection_lost")
    checks = [it for it in busy.connection("connected") if isinstance(it, CheckTurn)]

    assert busy.failed(checks[1], "turn_not_found", status=404) == []
    [submit] = busy.failed(checks[0], "turn_not_found", status=404)

    assert isinstance(submit, Submit)
    assert submit.content == "two"
