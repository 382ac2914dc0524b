"""The two things an answer is made of: text that grows, and calls of tools.

Spec: docs/spec/providers.md, "Blocks" and "Tool calls". Above is ``answer``; below is ``draft``.
"""

from __future__ import annotations

from typing import Final, Literal

from blockwire.content import tool_value
from blockwire.errors import EngineError
from blockwire.jsontext import Json
from blockwire.providers.draft import Draft
from blockwire.providers.members import clean_name, is_shallow

__all__ = ["Runner", "TextKind", "TextPart", "ToolCall", "protocol_error"]

TextKind = Literal["prose", "reasoning"]
Runner = Literal["client", "provider"]

# Unicode scalars of the arguments of one call, docs/spec/providers.md, "Bounds".
ARGUMENTS_CHARS_MAX: Final = 4 * 1024 * 1024

# Data for which reasoning without text is kept: the provider wants it back.
_SIGNED: Final = frozenset(
    {"encrypted_content", "reasoning_details", "redacted_data", "signature", "thought_signature"}
)

_NO_NAME: Final = "unnamed"


def protocol_error(detail: str) -> EngineError:
    """Return the error for a provider that breaks its own protocol; the same request may work."""
    return EngineError("provider_protocol_error", detail, retryable=True)


class TextPart:
    """Prose or reasoning that grows; the block starts with its first character.

    Attributes:
        kind: Type of the block.
        data: ``provider_data`` of the block; what is added after the start is told at its end.
    """

    __slots__ = ("_draft", "_is_closed", "_told", "block_id", "data", "kind")

    def __init__(self, draft: Draft, kind: TextKind, data: dict[str, Json]) -> None:
        self._draft = draft
        self._is_closed = False
        self._told: dict[str, Json] = {}
        self.kind = kind
        self.data = data
        self.block_id = ""

    def append(self, text: str) -> None:
        """Add text as it is; an empty one starts no block.

        Raises:
            EngineError: ``provider_protocol_error`` when the part is closed.
        """
        if not text:
            return
        if self._is_closed:
            raise protocol_error("The provider added text to a part that it had ended.")
        if not self.block_id:
            self._start()
        self._draft.append(self.block_id, text)

    def repair(self, whole: str, *, is_lossless: bool = False) -> None:
        """Add what is missing of ``whole``, which the provider says the text is.

        Args:
            whole: The text.
            is_lossless: All that the provider sent of it has come, so another text is its own
                doing, and what was shown stays.

        Raises:
            EngineError: ``provider_protocol_error`` when another text has been shown already.
        """
        shown = self._draft.text(self.block_id) if self.block_id else ""
        if whole.startswith(shown):
            self.append(whole[len(shown) :])
        elif not is_lossless and shown.strip() != whole.strip():
            # Some servers trim the text that they repeat; anything else is a loss in the middle.
            raise protocol_error("The provider's whole text is not the one that it streamed.")

    def close(self) -> None:
        """Complete the block. Reasoning without text, but with data to send back, becomes one."""
        if self._is_closed:
            return
        self._is_closed = True
        if not self.block_id:
            if self.kind == "prose" or _SIGNED.isdisjoint(self.data):
                return
            self._start()
        is_told = self._told == self.data
        self._draft.complete(self.block_id, None if is_told else dict(self.data))

    def _start(self) -> None:
        members: dict[str, Json]
        if self.kind == "prose":
            members = {"markdown": ""}
        else:
            members = {"text": "", "visibility": "private"}
        self._told = dict(self.data)
        # The provider's name alone is not worth telling.
        if len(self.data) > 1:
            members["provider_data"] = dict(self.data)
        self.block_id = self._draft.start(self.kind, members)


class ToolCall:
    """One call of a tool: its block starts with its name, its input comes whole or not at all.

    Attributes:
        runner: Who runs it. A call for the client stays pending and open until the turn ends.
        data: ``provider_data`` of the block.
        is_free_text: The input is text for people or a grammar, not JSON.
        is_ready: The input is whole and valid, and the call may be run.
        is_closed: The block is complete.
    """

    __slots__ = (
        "_chars",
        "_draft",
        "_name",
        "_pieces",
        "block_id",
        "data",
        "is_closed",
        "is_free_text",
        "is_ready",
        "runner",
    )

    def __init__(self, draft: Draft, runner: Runner, data: dict[str, Json]) -> None:
        self._draft = draft
        self._name = ""
        self._pieces: list[str] = []
        self._chars = 0
        self.runner = runner
        self.data = data
        self.is_free_text = False
        self.is_ready = False
        self.is_closed = False
        self.block_id = ""

    @property
    def arguments(self) -> str:
        """The text of the arguments so far."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def set_name(self, name: str) -> None:
        """Give the call its name; a repetition is fine, a change of mind fails the call."""
        if not name or self.is_closed:
            return
        if not self.block_id:
            self._name = name
            self._start()
        elif name != self._name:
            self.fail("invalid_tool_call", "The provider changed the name of the call.")

    def add_name(self, piece: str) -> None:
        """Add what may be a piece of the name, or the name again; :meth:`show` ends it."""
        if not piece or self.is_closed or self.block_id:
            self.set_name(piece)
        elif piece.startswith(self._name):
            self._name = piece
        else:
            self._draft.spend(len(piece))
            self._name += piece

    def show(self) -> None:
        """Start the block if the name is there: no more of it comes."""
        if self._name and not self.block_id:
            self._start()

    def _start(self) -> None:
        name = self._name or _NO_NAME
        members: dict[str, Json] = {"tool": clean_name(name), "status": "pending"}
        if len(self.data) > 1:
            members["provider_data"] = dict(self.data)
        self.block_id = self._draft.start("tool", members)

    def add_arguments(self, piece: str) -> None:
        """Add a piece of the arguments.

        Raises:
            EngineError: ``answer_too_large``.
        """
        if piece and not self.is_ready and not self.is_closed:
            self.spend(len(piece))
            self._pieces.append(piece)

    def set_arguments(self, whole: str) -> None:
        """Replace what came in pieces by what the provider says is the whole.

        Raises:
            EngineError: ``answer_too_large``.
        """
        if not self.is_ready and not self.is_closed:
            self.spend(len(whole))
            self._pieces = [whole]

    def spend(self, chars: int) -> None:
        """Count characters of the arguments that are kept.

        Raises:
            EngineError: ``answer_too_large``.
        """
        self._draft.spend(chars)
        self._chars += chars
        if self._chars > ARGUMENTS_CHARS_MAX:
            raise EngineError("answer_too_large", "The arguments of a call are too large.")

    def has_whole_arguments(self) -> bool:
        """Return whether the arguments so far are one JSON object."""
        return self.arguments.rstrip().endswith("}") and self._input_members() is not None

    def end_arguments(self) -> None:
        """Take the arguments as whole: the input is set, or the call fails and is never run."""
        if self.is_ready or self.is_closed:
            return
        self.show()
        if not self.block_id:
            self.fail("invalid_tool_call", "The provider gave the call no name.")
            return
        members = self._input_members()
        if members is None and self.runner == "client":
            self.fail("invalid_tool_call", "The arguments are not one whole JSON object.")
            return
        # What the provider runs it has understood, whatever it showed us of it.
        changes = {"input_json": self.arguments} if members is None else members
        if self.runner == "provider":
            changes["status"] = "running"
        self._draft.update(self.block_id, changes)
        self.is_ready = True

    def _input_members(self) -> dict[str, Json] | None:
        source = self.arguments
        if self.is_free_text:
            return {"input": source}
        if source.strip() in {"", "null"}:
            return {"input": {}}
        members = tool_value(source)
        value = members["input"]
        return members if isinstance(value, dict) and is_shallow(value) else None

    def set_output(self, source: bytes, *, is_error: bool = False) -> None:
        """Complete a call that the provider ran, with its result as JSON text."""
        if self.is_closed:
            return
        if not self.block_id:
            self._start()
        name = "error" if is_error else "output"
        members = tool_value(source, name)
        if not is_shallow(members[name]):
            members = {f"{name}_json": source.decode(errors="replace")}
        self._draft.spend(len(source))
        self._close({**members, "status": "failed" if is_error else "completed"})

    def end_run(self) -> None:
        """Complete a call that the provider ran and whose result it keeps to itself."""
        if not self.is_closed:
            self._close({"status": "completed"})

    def fail(self, code: str, message: str) -> None:
        """Complete the call as failed; what came of its arguments is kept as text."""
        if self.is_closed:
            return
        if not self.block_id:
            self._start()
        changes: dict[str, Json] = {
            "status": "failed",
            "error": {"code": code, "message": message},
        }
        if not self.is_ready and self.arguments:
            changes["input_json"] = self.arguments
        self._close(changes)

    def hand_out(self) -> None:
        """Complete the call as it stands: pending, for the client to run."""
        self._close({})

    def _close(self, changes: dict[str, Json]) -> None:
        if changes:
            self._draft.update(self.block_id, changes)
        self._draft.complete(self.block_id)
        self.is_closed = True

    def sign(self, name: str, value: Json) -> None:
        """Add to ``provider_data`` what the provider told later, or put right what it told."""
        self.data[name] = value
        if self.block_id and not self.is_closed:
            self._draft.update(self.block_id, {"provider_data": dict(self.data)})
