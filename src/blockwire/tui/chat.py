"""The chat without its terminal and its network: keys and answers in, intents and rows out.

Spec: docs/spec/chat/index.md. Its driver owns the clock, the terminal and the client.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from blockwire.client import Capabilities, ConnectionChange, Conversation, SearchPage, Turn
from blockwire.content import Block, ConversationState, StreamEvent
from blockwire.errors import BlockwireError
from blockwire.tui.chatinput import ANSWER_GUARD_S, QUIT_ARMED_S, ChatInput
from blockwire.tui.chatstatus import activity_of, facts_of, quit_words, search_words
from blockwire.tui.choices import conversation_lines, hit_lines
from blockwire.tui.completion import path_prefix
from blockwire.tui.intents import (
    Answerable,
    AnswerRequest,
    Attach,
    Cancel,
    CheckTurn,
    Copy,
    Export,
    Fork,
    Intent,
    ListConversations,
    ListPaths,
    Notice,
    OpenConversation,
    Search,
    Submit,
)
from blockwire.tui.promptrows import Prompt, PromptSpan
from blockwire.tui.promptview import PromptParts, lay_out_prompt

__all__ = ["Chat"]

HINT: Final = "Ask something, or /help"

_FAILURES: Final[Mapping[type, str]] = MappingProxyType(
    {
        OpenConversation: "the conversation could not be opened",
        Fork: "the conversation could not be forked",
        ListConversations: "the conversations could not be listed",
        Attach: "the file could not be attached",
        Copy: "it could not be copied",
        Export: "the conversation could not be exported",
        Search: "the search failed",
    }
)


class Chat(ChatInput):
    """One chat; see :class:`~blockwire.tui.chatinput.ChatInput` for how to make one.

    Time is that of any clock that never goes back. Each call returns the intents that follow, and
    what is shown may be another one after it.
    """

    # what is to be shown ------------------------------------------------------------------
    @property
    def conversation_id(self) -> str | None:
        """The conversation that is shown; None before the first question."""
        return self.talk.conversation_id

    @property
    def state(self) -> ConversationState | None:
        """Its newest state; None where nothing is to be shown."""
        return self.talk.state

    @property
    def with_reasoning(self) -> bool:
        """Whether reasoning is shown."""
        return self.choices.with_reasoning

    @property
    def is_active(self) -> bool:
        """Whether a turn runs, so that a spinner may turn."""
        return self.talk.turns.turn is not None and self.talk.turns.asked is None

    def take_notices(self) -> list[Notice]:
        """Return what is said to the person since the last call."""
        notices, self._notices[:] = list(self._notices), []
        return notices

    def prompt(self, *, columns: int, rows_max: int, now_s: float) -> Prompt:
        """Return the rows below the conversation; see :func:`~.promptview.lay_out_prompt`."""
        desk, asked = self.desk, self.talk.turns.asked
        is_question = not desk.is_answering and desk.search is None
        parts = PromptParts(
            desk.shown,
            mark="? " if desk.is_answering else "> ",
            hint=HINT if is_question and self.state is None else "",
            questions=self.talk.outbox.questions,
            files=[str(block["name"]) for block in self.choices.files],
            asked=asked,
            choice=self._choice,
            candidates=desk.menu.candidates,
            selected=desk.menu.selected,
            activity=self._activity(now_s),
            facts=facts_of(self.talk, self.choices),
        )
        return lay_out_prompt(parts, columns, rows_max, self._ambiguous_width)

    def _activity(self, now_s: float) -> PromptSpan:
        if self._is_quit_armed(now_s):
            return PromptSpan(quit_words(self._bindings.describe), "warning")
        if self.desk.search is not None:
            return PromptSpan(search_words(self.desk.search, self._bindings.describe), "activity")
        return activity_of(
            self.talk,
            self._bindings.describe,
            is_answering=self.desk.is_answering,
            now_s=now_s,
            is_animated=self._is_animated,
        )

    # time ---------------------------------------------------------------------------------
    @property
    def wake_at_s(self) -> float | None:
        """When :meth:`tick` is wanted; None while nothing changes by itself."""
        times = [self.talk.wake_at_s(self._now_s)]
        if self._is_quit_armed(self._now_s) and self._quit_armed_s is not None:
            times.append(self._quit_armed_s + QUIT_ARMED_S)
        if self._asked_since is not None and not self.desk.is_answering:
            times.append(max(self._asked_since[1], self._last_key_s) + ANSWER_GUARD_S)
        if self.is_active and self._is_animated:
            elapsed_s = self.talk.turns.elapsed_s(self._now_s)
            times.append(self._now_s - elapsed_s + int(elapsed_s) + 1)
        return min((time for time in times if time is not None), default=None)

    def tick(self, *, now_s: float) -> list[Intent]:
        """Return what is due."""
        return self._settled([], now_s)

    def open(self, conversation_id: str | None) -> list[Intent]:
        """Return what opens a conversation; None is the newest."""
        self.talk.is_opening = True
        return [OpenConversation(conversation_id)]

    # the gateway --------------------------------------------------------------------------
    def started(self, capabilities: Capabilities) -> None:
        """Take what the gateway can."""
        self.choices.engines = tuple(capabilities.engines)

    def receive(
        self, state: ConversationState, event: StreamEvent, *, now_s: float
    ) -> list[Intent]:
        """Take an event of the stream, with the state after it."""
        intents = self.talk.receive(state, event, now_s=now_s)
        self.choices.models = tuple(reversed(self.talk.tokens.models))
        return self._settled(intents, now_s)

    def connection_changed(self, change: ConnectionChange, *, now_s: float) -> list[Intent]:
        """Take what the connection of the stream does now."""
        return self._settled(self.talk.connection_changed(change, now_s=now_s), now_s)

    def stream_ended(self, error: BlockwireError, *, now_s: float) -> list[Intent]:
        """Take that the stream is over for good: the conversation was deleted, for example."""
        self._say(Notice("error", f"the conversation ends here: {error.detail} [{error.code}]"))
        self._leave()
        return self._settled([], now_s)

    # answers of the driver ----------------------------------------------------------------
    def opened(self, conversation: Conversation, *, now_s: float) -> list[Intent]:
        """Show ``conversation``; its stream is followed from a snapshot on."""
        if self.conversation_id not in {None, conversation.id}:
            self._drop_files()
        self.talk.opened(conversation)
        return self._settled([], now_s)

    def submitted(self, intent: Submit, turn: Turn, *, now_s: float) -> list[Intent]:
        """Take what became of a question."""
        self.talk.submitted(intent, turn)
        return self._settled([], now_s)

    def cancelled(self, intent: Cancel, turn: Turn, *, now_s: float) -> list[Intent]:
        """Take what became of a turn that was to end."""
        self.talk.cancelled(intent, turn)
        return self._settled([], now_s)

    def checked(self, intent: CheckTurn, turn: Turn, *, now_s: float) -> list[Intent]:
        """Take how a turn stands."""
        self.talk.checked(intent, turn)
        return self._settled([], now_s)

    @property
    def is_blank(self) -> bool:
        """Whether nothing was said in the conversation so far, and no file belongs to it."""
        state = self.talk.state
        is_silent = state is None or not (state.messages or state.running)
        return is_silent and not (
            self.talk.outbox.placed or self.choices.files or self._attaching_count
        )

    def dropped(self, conversation_id: str) -> None:
        """Take that a blank conversation was deleted again."""
        self.talk.dropped(conversation_id)

    def answered(self, intent: AnswerRequest, *, now_s: float) -> list[Intent]:
        """Take that an answer was the first: the stream tells what comes of it."""
        self.talk.turns.answered(intent.request_id)
        return self._settled([], now_s)

    def listed(self, conversations: Sequence[Conversation]) -> None:
        """Say which conversations there are; ``/open NUMBER`` opens one."""
        self.choices.conversations = tuple(conversations)
        self.choices.listed_ids = tuple(conversation.id for conversation in conversations)
        lines = conversation_lines(conversations)
        lines.append("/open NUMBER opens one" if lines else "there are no conversations yet")
        self._say(Notice("info", "\n".join(lines)))

    def found(self, _intent: Search, page: SearchPage) -> None:
        """Say what a search found; ``/open NUMBER`` opens the conversation."""
        self.choices.listed_ids = tuple(hit.conversation_id for hit in page.items)
        lines = hit_lines(page.items) or ["nothing found"]
        if page.index == "building":
            lines.append("the index is being made; older messages may be missing")
        self._say(Notice("info", "\n".join(lines)))

    def listed_paths(self, intent: ListPaths, paths: Sequence[str]) -> None:
        """Offer the paths that begin like ``intent.prefix``; the only one is taken."""
        self.choices.paths = tuple(paths)
        self.choices.paths_prefix = intent.prefix
        self.desk.refresh()
        is_wanted = path_prefix(self.desk.editor.text_before_cursor) == intent.prefix
        if is_wanted and self.desk.menu.is_open and len(paths) == 1:
            self.desk.complete()

    def attached(self, _intent: Attach, block: Block) -> None:
        """Send ``block`` with the next question."""
        self._attaching_count = max(self._attaching_count - 1, 0)
        self.choices.files.append(block)

    def told(self, _intent: Copy | Export, sentence: str) -> None:
        """Say how it went."""
        self._say(Notice("info", sentence))

    def failed(self, intent: Answerable, error: BlockwireError, *, now_s: float) -> list[Intent]:
        """Take that an intent was not done."""
        if isinstance(intent, Attach):
            self._attaching_count = max(self._attaching_count - 1, 0)
        if isinstance(intent, OpenConversation | Fork):
            self.talk.not_opened()
        if type(intent) in _FAILURES:
            self._say(Notice("error", f"{_FAILURES[type(intent)]}: {error.detail} [{error.code}]"))
        elif isinstance(intent, Submit | Cancel | CheckTurn | AnswerRequest):
            self.talk.failed(intent, error, now_s=now_s)
        return self._settled([], now_s)
