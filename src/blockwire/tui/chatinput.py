"""What keys do in the chat.

Spec: docs/spec/chat/input.md, "Keys". The half of the chat that faces the person;
:class:`~blockwire.tui.chat.Chat` adds the half that faces the gateway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from blockwire.content.answers import read_answer
from blockwire.errors import LocalProtocolError
from blockwire.text import AmbiguousWidth
from blockwire.tty.bindings import Bindings
from blockwire.tty.inputevents import Focus, InputEvent, Key, Pasted
from blockwire.tui.asked import Asked
from blockwire.tui.choices import Choices
from blockwire.tui.commanding import CommandPlace, run_command
from blockwire.tui.commands import parse_command, question_of
from blockwire.tui.completion import path_prefix
from blockwire.tui.desk import Desk
from blockwire.tui.inputhistory import InputHistory
from blockwire.tui.intents import (
    Attach,
    Fork,
    Intent,
    ListPaths,
    NewConversation,
    Notice,
    Notify,
    OpenConversation,
    Quit,
    RememberInput,
    Repaint,
    Suspend,
)
from blockwire.tui.keys import CHAT_KEYS
from blockwire.tui.pastes import PASTE_CHARS_MAX
from blockwire.tui.talk import Talk

__all__ = ["ANSWER_GUARD_S", "QUIT_ARMED_S", "ChatInput"]

ANSWER_GUARD_S: Final = 0.5
"""A question takes the keys only after so long without one: nobody approves by typing on."""

QUIT_ARMED_S: Final = 3.0
"""Within this time of the first Ctrl-C the second one leaves."""


class ChatInput:
    """The input of a chat, and what follows from it.

    Args:
        new_key: Returns a fresh idempotency key.
        choices: Engine, model, reasoning; changed by commands.
        history: Earlier inputs.
        bindings: What keys do; their defaults are those of ``CHAT_KEYS``.
        ambiguous_width: Cells of a character of ambiguous width.
        is_animated: Whether the status may change by itself, as seconds do.

    Attributes:
        choices: As they are now.
        talk: The conversation.
        desk: The input.
    """

    def __init__(  # noqa: PLR0913 - what a person may configure
        self,
        *,
        new_key: Callable[[], str],
        choices: Choices | None = None,
        history: InputHistory | None = None,
        bindings: Bindings | None = None,
        ambiguous_width: AmbiguousWidth = 1,
        is_animated: bool = True,
    ) -> None:
        self.choices = Choices() if choices is None else choices
        self._bindings = Bindings(CHAT_KEYS) if bindings is None else bindings
        self.talk = Talk(new_key=new_key, say=self._say)
        self.desk = Desk(
            InputHistory() if history is None else history,
            lookup=self._bindings.lookup,
            ambiguous_width=ambiguous_width,
            known=lambda: self.choices.known,
        )
        self._notices: list[Notice] = []
        self._ambiguous_width: AmbiguousWidth = ambiguous_width
        self._is_animated = is_animated
        self._now_s = self._last_key_s = 0.0
        self._asked_since: tuple[str, float] | None = None
        self._choice: int | None = None
        self._quit_armed_s: float | None = None
        self._attaching_count = 0
        self._has_focus = True
        self._actions: Mapping[str, Callable[[], list[Intent]]] = {
            "submit": self._enter,
            "cancel": self._escape,
            "abort": self._escape,
            "interrupt": self._interrupt,
            "end-input": self._end_input,
            "complete": lambda: self._complete(1),
            "complete-back": lambda: self._complete(-1),
            "search-history": self._search_history,
            "up": lambda: self._go_vertically(-1),
            "down": lambda: self._go_vertically(1),
            "repaint": lambda: [Repaint()],
            "suspend": lambda: [Suspend()],
            "help": lambda: self._run("/help"),
        }

    def _settled(self, intents: Iterable[Intent], now_s: float) -> list[Intent]:
        """Return ``intents`` and what follows from the new state of things."""
        self._now_s = now_s
        wanted = [*intents, *self.talk.due(now_s)]
        for question in reversed(self.talk.take_returned()):
            self.desk.hand_back(question.text)
            self.choices.files[:0] = question.files
        self._follow_asked(self.talk.turns.asked, now_s)
        if self._quit_armed_s is not None and not self._is_quit_armed(now_s):
            self._quit_armed_s = None
        return [i for i in wanted if not (self._has_focus and isinstance(i, Notify))]

    def _follow_asked(self, asked: Asked | None, now_s: float) -> None:
        asked_id = None if asked is None else asked.request_id
        if asked_id != (self._asked_since and self._asked_since[0]):
            self._asked_since = None if asked_id is None else (asked_id, now_s)
            self._choice = None
            if self.desk.is_answering:
                self.desk.end_answer()
        if self._asked_since is None or self.desk.is_answering:
            return
        if now_s - max(self._asked_since[1], self._last_key_s) >= ANSWER_GUARD_S:
            self.desk.begin_answer()

    def _is_quit_armed(self, now_s: float) -> bool:
        return self._quit_armed_s is not None and now_s - self._quit_armed_s < QUIT_ARMED_S

    # keys -----------------------------------------------------------------
    def press(self, event: InputEvent, *, now_s: float) -> list[Intent]:
        """Take a key, a piece of a paste, or a change of focus; other events do nothing."""
        intents = self._settled([], now_s)
        if isinstance(event, Focus):
            self._has_focus = event.is_in
        elif isinstance(event, Pasted):
            self._last_key_s = now_s
            if self.desk.paste(event):
                self._say(Notice("warning", f"the paste was cut at {PASTE_CHARS_MAX:,} characters"))
        elif isinstance(event, Key):
            intents += self._press_key(event)
            self._last_key_s = now_s
        return self._settled(intents, now_s)

    def _press_key(self, key: Key) -> list[Intent]:
        action = self._bindings.lookup(key.name)
        if action != "interrupt":
            self._quit_armed_s = None
        if self.desk.press_search(key, action):
            return []
        asked = self.talk.turns.asked
        if asked is not None and self.desk.is_answering and self.desk.editor.is_empty:
            for choice in asked.choices:
                if choice.key and choice.key == key.text.lower():
                    return self.talk.answer(choice.answer)
        if action is not None and action in self._actions:
            return self._actions[action]()
        if action == "delete-left" and self.desk.editor.is_empty and self.choices.files:
            self.choices.files.pop()
        else:
            self.desk.press(key)
        return []

    def _go_vertically(self, step: int) -> list[Intent]:
        asked = self.talk.turns.asked
        if self.desk.menu.is_open:
            self.desk.menu.go(step)
        elif self.desk.is_answering and asked is not None and self.desk.editor.is_empty:
            count = len(asked.choices)
            start = self._choice if self._choice is not None else (-1 if step > 0 else 0)
            self._choice = (start + step) % count if count else None
        else:
            self.desk.do("up" if step < 0 else "down")
        return []

    def _complete(self, step: int) -> list[Intent]:
        menu, editor = self.desk.menu, self.desk.editor
        if not menu.is_open:
            prefix = path_prefix(editor.text_before_cursor)
            return [] if prefix is None else [ListPaths(prefix)]
        # A name is taken at once; among arguments the next one is shown, and Enter takes it.
        if menu.selected is None and len(menu.candidates) > 1:
            menu.go(step)
        else:
            self.desk.complete()
            prefix = path_prefix(editor.text_before_cursor)
            if prefix is not None and prefix.endswith("/"):
                return [ListPaths(prefix)]
        return []

    def _search_history(self) -> list[Intent]:
        self.desk.begin_search()
        return []

    def _escape(self) -> list[Intent]:
        if self.desk.menu.is_open:
            self.desk.menu.close(self.desk.editor)
            return []
        self.talk.cancel()
        return []

    def _interrupt(self) -> list[Intent]:
        if self._is_quit_armed(self._now_s):
            return self._quit()
        self._quit_armed_s = self._now_s
        if self.talk.is_busy:
            self.talk.cancel()
            return []
        if not self.desk.editor.is_empty:
            self.desk.editor.set_text("")
            self.desk.refresh()
        self.choices.files.clear()
        return []

    def _end_input(self) -> list[Intent]:
        if self.desk.editor.is_empty:
            return self._quit()
        self.desk.do("delete-right")
        return []

    def _quit(self) -> list[Intent]:
        return [*self._remember(self.desk.draft.text), Quit()]

    def _enter(self) -> list[Intent]:
        menu = self.desk.menu
        if menu.completion is not None and menu.selected is not None:
            typed = menu.completion.word
            candidate = self.desk.complete()
            if candidate is not None and candidate.goes_on and candidate.text != typed:
                return []
        if self.desk.continue_line():
            return []
        return self._answer() if self.desk.is_answering else self._ask()

    def _answer(self) -> list[Intent]:
        asked, text = self.talk.turns.asked, self.desk.answer.text
        assert asked is not None, "an answer is typed only while one is asked for"
        if self._is_command(text):
            return self._run(text)
        try:
            if self._choice is not None and not text:
                return self.talk.answer(asked.choices[self._choice].answer)
            return self.talk.answer(read_answer(asked.request, text))
        except LocalProtocolError as error:
            self._say(Notice("error", error.detail))
            return []

    def _ask(self) -> list[Intent]:
        text = self.desk.draft.text
        if text.startswith("/") and question_of(text) == text:
            try:
                is_command = parse_command(text) is not None
            except LocalProtocolError as error:
                self._say(Notice("error", error.detail))
                return []
            if is_command:
                return self._run(text)
        if self._attaching_count:
            self._say(Notice("info", "a file is still on its way; Enter again sends it along"))
            return []
        if self.choices.files and self.talk.is_opening:
            self._say(
                Notice("info", "another conversation is being opened; files stay in this one")
            )
            return []
        question = question_of(text).rstrip().lstrip("\n")
        if not question and not self.choices.files:
            return []
        files, self.choices.files[:] = tuple(self.choices.files), []
        self.talk.ask(question, files, engine=self.choices.engine, model=self.choices.model)
        self.desk.draft.take()
        self.desk.refresh()
        return self._remember(text)

    def _is_command(self, text: str) -> bool:
        try:
            return parse_command(text) is not None
        except LocalProtocolError:
            return False

    def _run(self, text: str) -> list[Intent]:
        """Run a command; its text is taken if it was done."""
        command = parse_command(text)
        assert command is not None, "the caller looked"
        place = CommandPlace(
            self.choices,
            self._say,
            self.talk.conversation_id,
            self.talk.state,
            self._bindings.describe,
        )
        try:
            intents = run_command(command, place)
        except LocalProtocolError as error:
            self._say(Notice("error", error.detail))
            return []
        remembered: list[Intent] = []
        if self.desk.editor.text == text:
            self.desk.editor.take()
            self.desk.refresh()
            remembered = self._remember(text)
        for intent in intents:
            if isinstance(intent, NewConversation):
                self._leave()
            if isinstance(intent, OpenConversation | Fork):
                self.talk.is_opening = True
            if isinstance(intent, Attach):
                self._attaching_count += 1
        return [*remembered, *intents]

    def _remember(self, text: str) -> list[Intent]:
        return [RememberInput(text)] if self.desk.draft.history.add(text) else []

    def _say(self, notice: Notice) -> None:
        self._notices.append(notice)

    def _leave(self) -> None:
        self.talk.leave()
        self._drop_files()

    def _drop_files(self) -> None:
        if self.choices.files:
            self.choices.files.clear()
            self._say(Notice("info", "attached files stay in the conversation that they were for"))
