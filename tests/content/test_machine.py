"""The reducer against a model that keeps plain dictionaries and remembers nothing."""

from copy import deepcopy
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from blockwire.content import (
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    BlockUpdated,
    ConversationState,
    StreamEvent,
    TurnEnded,
    TurnResumed,
    TurnStarted,
    TurnSuspended,
    advance,
)
from blockwire.content.vocabulary import TerminalStatus
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import equal_json

# Mostly the turn that was started last, else one before it, over or not.
TURNS = st.sampled_from((0, 0, 0, 0, 1))
BLOCKS = st.sampled_from(("a", "a", "b"))
STATUSES = ("pending", "running", "completed", "failed", "cancelled")
RANK = {"pending": 0, "running": 1, "completed": 2, "failed": 2, "cancelled": 2}
TEXT_FIELDS = {"prose": "markdown", "reasoning": "text"}
KINDS = st.sampled_from(("prose", "prose", "reasoning", "acme"))
FIELDS = st.sampled_from(("markdown", "markdown", "text"))

ENDS: st.SearchStrategy[TerminalStatus] = st.sampled_from(("completed", "failed", "cancelled"))


class ReducerComparison(RuleBasedStateMachine):
    """``advance`` must agree with messages and sets that are simply changed in place.

    The events are as likely to be wrong as right: what the model refuses the reducer must refuse,
    and the other way round.
    """

    def __init__(self) -> None:
        super().__init__()
        self.state = ConversationState()
        self.messages: dict[str, dict[str, Any]] = {}
        self.open: set[tuple[str, str]] = set()
        # An older state, with all that could be seen of it, may be branched from at any time.
        self.kept = (self.state, self.snapshot())
        self.number = 0
        self.start_next_turn()

    def name_of(self, back: int) -> str:
        return f"turn_{self.number - back}"

    def snapshot(self) -> Any:
        return deepcopy((self.messages, self.open))

    def send(self, event: StreamEvent, *, is_allowed: bool) -> bool:
        before = self.state
        try:
            self.state = advance(before, event)
        except RemoteProtocolError:
            assert not is_allowed
            assert self.state is before
        else:
            assert is_allowed
        return is_allowed

    def runs(self, turn: str) -> bool:
        return self.messages.get(turn, {}).get("status") in {"streaming", "suspended"}

    def block(self, turn: str, name: str) -> dict[str, Any]:
        return next((b for b in self.messages[turn]["content"] if b["id"] == name), {})

    def is_open(self, turn: str, name: str) -> bool:
        return self.runs(turn) and (turn, name) in self.open

    @rule()
    def start_next_turn(self) -> None:
        self.number += 1
        self.start_turn(0)

    @rule(back=TURNS)
    def start_turn(self, back: int) -> None:
        turn = self.name_of(back)
        event = TurnStarted(turn, "assistant", 7)
        if self.send(event, is_allowed=turn not in self.messages):
            self.messages[turn] = {
                "id": turn,
                "role": "assistant",
                "status": "streaming",
                "content": [],
                "created_at": 7,
            }

    @rule(back=TURNS, name=BLOCKS, kind=KINDS)
    def start_text(self, back: int, name: str, kind: str) -> None:
        turn = self.name_of(back)
        block: dict[str, Any] = {"id": name, "type": kind, TEXT_FIELDS.get(kind, "x"): "|"}
        self.start(turn, block)

    @rule(back=TURNS, name=BLOCKS, status=st.sampled_from(STATUSES))
    def start_tool(self, back: int, name: str, status: str) -> None:
        turn = self.name_of(back)
        self.start(turn, {"id": name, "type": "tool", "tool": "ls", "status": status})

    def start(self, turn: str, block: dict[str, Any]) -> None:
        is_allowed = self.runs(turn) and not self.block(turn, block["id"])
        if self.send(BlockStarted(turn, block), is_allowed=is_allowed):
            self.messages[turn]["content"].append(dict(block))
            self.open.add((turn, block["id"]))

    @rule(back=TURNS, name=BLOCKS, field=FIELDS, text=st.text())
    def add_text(self, back: int, name: str, field: str, text: str) -> None:
        turn = self.name_of(back)
        is_allowed = (
            self.is_open(turn, name) and TEXT_FIELDS.get(self.block(turn, name)["type"]) == field
        )
        if self.send(BlockDelta(turn, name, field, text), is_allowed=is_allowed):
            self.block(turn, name)[field] += text

    @rule(back=TURNS, name=BLOCKS, status=st.sampled_from(STATUSES), output=st.integers())
    def update_tool(self, back: int, name: str, status: str, output: int) -> None:
        turn = self.name_of(back)
        is_allowed = self.is_open(turn, name) and self.block(turn, name)["type"] == "tool"
        if is_allowed:
            old = self.block(turn, name)["status"]
            is_allowed = status == old or RANK[status] > RANK[old]
        event = BlockUpdated(turn, name, {"status": status, "output": output})
        if self.send(event, is_allowed=is_allowed):
            self.block(turn, name).update(status=status, output=output)

    @rule(back=TURNS, name=BLOCKS)
    def complete_block(self, back: int, name: str) -> None:
        turn = self.name_of(back)
        is_allowed = self.is_open(turn, name) and self.block(turn, name).get("status") != "running"
        if self.send(BlockCompleted(turn, name), is_allowed=is_allowed):
            self.open.remove((turn, name))

    @rule(back=TURNS)
    def wait(self, back: int) -> None:
        turn = self.name_of(back)
        is_allowed = self.runs(turn) and self.messages[turn]["status"] == "streaming"
        event = TurnSuspended(turn, {"id": "r", "kind": "question", "prompt": "?"})
        if self.send(event, is_allowed=is_allowed):
            self.messages[turn]["status"] = "suspended"

    @rule(back=TURNS)
    def go_on(self, back: int) -> None:
        turn = self.name_of(back)
        is_allowed = self.runs(turn) and self.messages[turn]["status"] == "suspended"
        if self.send(TurnResumed(turn), is_allowed=is_allowed):
            self.messages[turn]["status"] = "streaming"

    @rule(back=TURNS, status=ENDS)
    def end_turn(self, back: int, status: TerminalStatus) -> None:
        turn = self.name_of(back)
        is_allowed = (
            self.runs(turn)
            and all(owner != turn for owner, _name in self.open)
            and (status != "completed" or self.messages[turn]["status"] != "suspended")
        )
        if self.send(TurnEnded(turn, status), is_allowed=is_allowed):
            self.messages[turn]["status"] = status

    @rule()
    def keep(self) -> None:
        self.kept = (self.state, self.snapshot())

    @rule()
    def go_back(self) -> None:
        self.state = self.kept[0]
        self.messages, self.open = deepcopy(self.kept[1])

    @invariant()
    def messages_agree(self) -> None:
        assert equal_json(list(self.state.messages), list(self.messages.values()))

    @invariant()
    def open_blocks_agree(self) -> None:
        found = {
            (turn.turn_id, block.id)
            for turn in self.state.running.values()
            for block in turn.open_blocks
        }
        assert found == self.open


TestReducerComparison = ReducerComparison.TestCase
