"""People at the keyboard: keys by their names, and editors and chats to type into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import TypeVar

import msgspec

from blockwire.client import Capabilities, ClientError, ConnectionChange, Conversation, Turn
from blockwire.content import (
    ConversationState,
    MessageCreated,
    StreamEvent,
    TurnEnded,
    TurnStarted,
    TurnSuspended,
    UnknownEvent,
    apply,
)
from blockwire.jsontext import Json
from blockwire.tty.bindings import Bindings
from blockwire.tty.inputevents import Focus, Key, Pasted
from blockwire.tui.chat import Chat
from blockwire.tui.editor import Editor
from blockwire.tui.inputhistory import InputHistory
from blockwire.tui.intents import Cancel, Intent, Submit
from blockwire.tui.promptrows import PromptRow

T = TypeVar("T")

_TYPED = {"space": " "}


def key(name: str) -> Key:
    """Return the key of this name; a single character types itself."""
    return Key(name, name if len(name) == 1 else _TYPED.get(name, ""), b"")


def keys(*names: str) -> Iterator[Key]:
    """Yield keys; a name with a blank in it, or in quotes, is a text that is typed."""
    for name in names:
        if name.startswith("'"):
            yield from (key("space" if letter == " " else letter) for letter in name[1:-1])
        else:
            yield key(name)


def press(editor: Editor, *names: str) -> Editor:
    """Press keys in an editor."""
    for pressed in keys(*names):
        editor.press(pressed)
    return editor


def typed(text: str, *, history: Iterable[str] = ()) -> Editor:
    """Return an editor in which ``text`` was typed."""
    editor = Editor(InputHistory(history))
    for letter in text:
        editor.type(letter)
    return editor


def with_cursor(editor: Editor) -> str:
    """Return the text with ``|`` at the cursor."""
    before = editor.text_before_cursor
    return f"{before}|{editor.text[len(before) :]}"


def row_text(row: PromptRow) -> str:
    """Return what stands in a row."""
    return "".join(span.text for span in row)


class Typist:
    """Somebody who uses a chat, with a clock of their own.

    Attributes:
        chat: The chat.
        now_s: The time.
        state: Of the conversation, as the events made it.
        intents: All that the chat wanted, in order.
    """

    def __init__(
        self,
        *,
        history: Sequence[str] = (),
        is_animated: bool = True,
        bindings: Bindings | None = None,
    ) -> None:
        numbers = count(1)
        self.chat = Chat(
            new_key=lambda: f"key_{next(numbers)}",
            history=InputHistory(history),
            is_animated=is_animated,
            bindings=bindings,
        )
        self.chat.started(Capabilities(protocol=1, version="1", engines=["mine", "other"]))
        self.now_s = 100.0
        self.state = ConversationState()
        self.intents: list[Intent] = []
        self._seq = 0

    def _took(self, intents: list[Intent]) -> list[Intent]:
        self.intents += intents
        return intents

    def press(self, *names: str) -> list[Intent]:
        """Press keys; see :func:`keys`."""
        pressed = [self.chat.press(one, now_s=self.now_s) for one in keys(*names)]
        return self._took([intent for intents in pressed for intent in intents])

    def ask(self, text: str) -> Submit:
        """Type a question, press Enter, and return what is sent."""
        self.press(f"'{text}'", "enter")
        return self.last(Submit)

    def paste(self, text: str) -> list[Intent]:
        """Paste a text."""
        pasted = Pasted(text.encode(), is_last=True)
        return self._took(self.chat.press(pasted, now_s=self.now_s))

    def focus(self, *, is_in: bool) -> None:
        """Look at the window, or elsewhere."""
        assert self.chat.press(Focus(is_in), now_s=self.now_s) == []

    def wait(self, duration_s: float) -> list[Intent]:
        """Let time pass, and the chat do what is due."""
        self.now_s += duration_s
        return self._took(self.chat.tick(now_s=self.now_s))

    def last(self, kind: type[T]) -> T:
        """Return the last intent of this kind."""
        found = [intent for intent in self.intents if isinstance(intent, kind)]
        assert found, f"no {kind.__name__} among {self.intents}"
        return found[-1]

    def all(self, kind: type[T]) -> list[T]:
        """Return the intents of this kind."""
        return [intent for intent in self.intents if isinstance(intent, kind)]

    # the gateway --------------------------------------------------------------------------
    def open(self, conversation_id: str = "conv_1", title: str | None = "Tests") -> None:
        """Show a conversation."""
        self._seq = 0
        self.state = ConversationState()
        self._took(self.chat.opened(conversation(conversation_id, title), now_s=self.now_s))

    def hear(self, event: StreamEvent) -> list[Intent]:
        """Receive an event of the conversation that is shown."""
        stamped = msgspec.structs.replace(
            event,
            conversation_id=self.chat.conversation_id,
            seq=self._seq + 1,
            prev_seq=self._seq,
        )
        self._seq += 1
        self.state = apply(self.state, stamped)
        return self._took(self.chat.receive(self.state, stamped, now_s=self.now_s))

    def hear_of_line(self, kind: str, **members: object) -> list[Intent]:
        """Receive a notice of the line, which has no number."""
        event = UnknownEvent(type=kind, members=dict(members))  # type: ignore[arg-type] # JSON
        return self._took(self.chat.receive(self.state, event, now_s=self.now_s))

    def begin(self, turn_id: str, question: str = "?", model: str | None = None) -> None:
        """Receive the question and the start of a turn."""
        self.hear(MessageCreated(message=message(f"ask_{turn_id}", "user", question, turn_id)))
        self.hear(TurnStarted(turn_id=turn_id, role="assistant", created_at=1, model=model))

    def end(self, turn_id: str, **members: object) -> list[Intent]:
        """Receive the end of a turn."""
        return self.hear(TurnEnded(turn_id=turn_id, **{"status": "completed", **members}))  # type: ignore[arg-type] # JSON

    def suspend(self, turn_id: str, request_id: str = "req_1", **members: object) -> list[Intent]:
        """Receive that a turn waits for an answer."""
        request = {"id": request_id, "kind": "approval", "prompt": "Delete 3 files?", **members}
        return self.hear(TurnSuspended(turn_id=turn_id, request=request))  # type: ignore[arg-type] # JSON

    def submitted(self, intent: Submit, turn_id: str, **members: object) -> list[Intent]:
        """Receive what became of a question."""
        if self.chat.conversation_id is None:
            self.open()
        answer = self.chat.submitted(intent, turn(turn_id, **members), now_s=self.now_s)
        return self._took(answer)

    def queue(self, text: str, turn_id: str, position: int = 1) -> Submit:
        """Ask a question that has to wait in line."""
        intent = self.ask(text)
        self.submitted(intent, turn_id, status="queued", durable=False, position=position)
        return intent

    def cancelled(self, turn_id: str, **members: object) -> list[Intent]:
        """Receive what became of a turn that was to end."""
        intent = next(one for one in self.all(Cancel) if one.turn_id == turn_id)
        answer = self.chat.cancelled(intent, turn(turn_id, **members), now_s=self.now_s)
        return self._took(answer)

    def handed_back(self, turn_id: str) -> list[Intent]:
        """Receive that a turn was taken out of the line."""
        return self.cancelled(turn_id, status="cancelled", durable=False)

    def failed(self, intent: Intent, code: str, **members: object) -> list[Intent]:
        """Receive that an intent was not done."""
        error = ClientError(code, "because", **members)  # type: ignore[arg-type] # of the test
        return self._took(self.chat.failed(intent, error, now_s=self.now_s))  # type: ignore[arg-type] # of the test

    def connection(self, status: str, code: str | None = None) -> list[Intent]:
        """Receive what the connection does."""
        error = None if code is None else ClientError(code, "because", retryable=True)
        change = ConnectionChange(status=status, error=error)  # type: ignore[arg-type] # of the test
        return self._took(self.chat.connection_changed(change, now_s=self.now_s))

    # what is seen -------------------------------------------------------------------------
    @property
    def text(self) -> str:
        """What stands in the input."""
        return self.chat.desk.editor.text

    def notices(self) -> list[str]:
        """Return what was said since the last call."""
        return [notice.text for notice in self.chat.take_notices()]

    def rows(self, columns: int = 60, rows_max: int = 20) -> list[str]:
        """Return the rows of the prompt."""
        prompt = self.chat.prompt(columns=columns, rows_max=rows_max, now_s=self.now_s)
        return [row_text(row) for row in prompt.rows]

    @property
    def status(self) -> str:
        """The status row."""
        return self.rows()[-1]


def conversation(conversation_id: str, title: str | None = None) -> Conversation:
    """Return a conversation."""
    return Conversation(
        id=conversation_id, tags=[], created_at=1, updated_at=1, head_seq=0, title=title
    )


def turn(turn_id: str, **members: object) -> Turn:
    """Return a turn that runs, unless ``members`` say otherwise."""
    values = {
        "conversation_id": "conv_1", "status": "running", "engine": "mine", "created_at": 1,
        "request_message_id": "m", "seq": 1, "durable": True, **members,
    }  # fmt: skip
    return Turn(id=turn_id, **values)  # type: ignore[arg-type] # of the test


def message(message_id: str, role: str, text: str, turn_id: str | None = None) -> dict[str, Json]:
    """Return a message with one block of prose."""
    named: dict[str, Json] = {} if turn_id is None else {"turn_id": turn_id}
    return {
        "id": message_id, "role": role, "status": "completed", "created_at": 1, **named,
        "content": [{"id": f"{message_id}_b", "type": "prose", "markdown": text}],
    }  # fmt: skip
