"""Sessions of the Codex CLI: ``rollout-*.jsonl``, one record a line.

Spec: docs/spec/gateway/exports.md, "Histories of other programs". As written by versions 0.2 (bare items) to 0.80
(``{timestamp, type, payload}``); there is no published schema. What follows one question, up to the
next, becomes one message, with the results of tools in their calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from blockwire.archives.drafting import ConversationDraft, History, MessageDraft
from blockwire.archives.parts import Calls
from blockwire.archives.readers import LinesReader
from blockwire.archives.values import iso_ms, rest_of, tool_members
from blockwire.content import tool_value
from blockwire.jsontext import Json
from blockwire.providers.members import add_counts, opaque, record_of, text_of

__all__ = ["CodexReader"]

SOURCE: Final = "codex"

# Beginnings of what the program itself says in the name of the person.
_CONTEXT: Final = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<turn_aborted>",
    "<skill>",
    "# AGENTS.md instructions",
)
_TEXTS: Final = frozenset({"input_text", "output_text", "text", "summary_text", "reasoning_text"})
# Events that repeat what the items say, or tell of the program's own course.
_REPEATED: Final = frozenset(
    {
        "agent_message",
        "agent_reasoning",
        "agent_reasoning_raw_content",
        "agent_reasoning_section_break",
        "user_message",
        "task_started",
        "task_complete",
        "turn_started",
        "turn_complete",
        "thread_name_updated",
        "exec_command_begin",
        "exec_command_end",
        "mcp_tool_call_begin",
        "mcp_tool_call_end",
        "patch_apply_begin",
        "patch_apply_end",
        "web_search_begin",
        "web_search_end",
        "turn_diff",
        "plan_update",
    }
)
_USAGE: Final = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cached_input_tokens": "cached_input_tokens",
    "reasoning_tokens": "reasoning_output_tokens",
}

Record = Mapping[str, Json]


class CodexReader(LinesReader):
    """Reads the lines of one session, which has one branch."""

    _session: _Session | None = None

    def _take(self, record: dict[str, Json], place: str) -> None:
        if self._session is None:
            meta = record_of(record, "payload") or record
            started_at = iso_ms(meta.get("timestamp") or record.get("timestamp"))
            self._session = _Session(
                ConversationDraft(SOURCE, meta.get("id"), started_at, self.report, "")
            )
        self._session.take(record, place)

    def _finish(self) -> Iterator[History]:
        history = None if self._session is None else self._session.draft.finish()
        if history is not None:
            yield history


class _Session:
    """Puts the records of a session in their places.

    Attributes:
        draft: The conversation.
    """

    def __init__(self, draft: ConversationDraft) -> None:
        self.draft = draft
        self._answer: MessageDraft | None = None
        self._calls = Calls()
        self._model: str | None = None
        self._at: int | None = None

    def take(self, record: Record, place: str) -> None:
        """Take one line."""
        kind, payload = text_of(record, "type"), record_of(record, "payload")
        self._at = iso_ms(record.get("timestamp")) or self._at
        if not payload:
            # Before September 2025 the first line was the session, and all others were items.
            is_item = kind or "record_type" in record
            kind, payload = ("response_item" if is_item else "session_meta"), dict(record)
        match kind:
            case "session_meta":
                self._take_meta(payload, place)
            case "response_item":
                self._take_item(payload, place)
            case "turn_context":
                model = payload.get("model")
                self._model = model if isinstance(model, str) else self._model
            case "event_msg":
                self._take_event(payload, place)
            case "compacted":
                self._open_answer().notice(
                    "history_compacted",
                    "The program went on with a summary of what was said before.",
                    payload,
                )
            case _:
                self._open_answer().unknown(kind, dict(record), place)

    def _take_meta(self, payload: Record, place: str) -> None:
        message = self.draft.open("system", at=self._at)
        instructions = payload.get("instructions") or record_of(payload, "base_instructions").get(
            "text"
        )
        rest = rest_of(payload, "instructions", "base_instructions", "id", "timestamp")
        if isinstance(instructions, str) and instructions.strip():
            message.prose(instructions, rest)
        elif rest:
            message.unknown("session_meta", rest, place)

    def _open_answer(self) -> MessageDraft:
        if self._answer is None:
            self._answer = self.draft.open("assistant", at=self._at)
        answer = self._answer
        if self._model is not None:
            answer.members.setdefault("model", self._model)
        if self._at is not None:
            answer.members["completed_at"] = max(self._at, answer.at)
        return answer

    # items --------------------------------------------------------------------------------
    def _take_item(self, payload: Record, place: str) -> None:
        kind = text_of(payload, "type")
        if kind == "message":
            self._take_message(payload, place)
            return
        take = _ITEMS.get(kind)
        if take is not None:
            take(self, self._open_answer(), payload, place)
        elif kind == "ghost_snapshot":
            self._open_answer().mark(kind, dict(payload), place)
        elif "record_type" in payload:
            self.draft.report.add("left_out", "state of the program", place)
        else:
            self._open_answer().unknown(kind or "item", dict(payload), place)

    def _take_message(self, payload: Record, place: str) -> None:
        role = text_of(payload, "role")
        if role == "assistant":
            self._add_parts(self._open_answer(), payload, place)
            return
        is_said = role == "user" and not _is_context(payload)
        if is_said:
            self._answer = None
        message = self.draft.open(
            "user" if is_said else "system", source_id=payload.get("id"), at=self._at
        )
        self._add_parts(message, payload, place)

    def _add_parts(self, message: MessageDraft, payload: Record, place: str) -> None:
        parts = payload.get("content")
        for index, part in enumerate(parts if isinstance(parts, list) else [parts]):
            where = f"{place}, /payload/content/{index}"
            match part:
                case str(text):
                    message.prose(text)
                case {"type": str(kind), "text": str(text)} if kind in _TEXTS:
                    message.prose(text, rest_of(record_of({"part": part}, "part"), "type", "text"))
                case _:
                    _content, files = message.take_files([part], where)
                    for file in files:
                        message.show(file)
                    if not files:
                        kind = text_of(part, "type") if isinstance(part, dict) else ""
                        message.unknown(kind or "part", part, where)

    def _reasoning(self, message: MessageDraft, payload: Record, _place: str) -> None:
        texts = [*_texts(payload.get("summary")), *_texts(payload.get("content"))]
        rest = rest_of(payload, "type", "summary", "content")
        message.reasoning("\n\n".join(texts), rest)

    def _call(self, message: MessageDraft, payload: Record, _place: str) -> None:
        arguments = payload.get("arguments", payload.get("input"))
        members = tool_value(arguments) if isinstance(arguments, str) else {}
        rest = rest_of(payload, "type", "name", "arguments", "input", "status")
        self._calls.add(
            payload.get("call_id"),
            message.tool(payload.get("name"), "completed", rest, **members),
        )

    def _shell(self, message: MessageDraft, payload: Record, _place: str) -> None:
        rest = rest_of(payload, "type", "action", "status")
        members = tool_members(payload.get("action"), "input")
        name = text_of(payload, "type").removesuffix("_call")
        call_id = payload.get("call_id") or payload.get("id")
        self._calls.add(call_id, message.tool(name, "completed", rest, **members))

    def _output(self, message: MessageDraft, payload: Record, place: str) -> None:
        block = self._calls.take(payload.get("call_id"), None)
        rest = rest_of(payload, "type", "output", "call_id")
        if block is None:
            block = message.tool(None, "completed", rest)
            self.draft.report.add("repaired", "results without a call", place)
        elif rest:
            known = record_of(block, "provider_data")
            block["provider_data"] = {**known, "provider": SOURCE, "result": opaque(rest)}
        output, files = message.take_files(payload.get("output"), f"{place}, /payload/output")
        members = tool_value(output, "output") if isinstance(output, str) else None
        block.update(tool_members(output, "output") if members is None else members)
        if files:
            block["attachments"] = [file.attachment_id for file in files]

    # events -------------------------------------------------------------------------------
    def _take_event(self, payload: Record, place: str) -> None:
        kind = text_of(payload, "type")
        if kind == "token_count":
            usage: dict[str, Json] = {}
            counts = record_of(record_of(payload, "info"), "last_token_usage")
            add_counts(usage, counts, _USAGE)
            if usage and self._answer is not None:
                known = record_of(self._answer.members, "usage")
                self._answer.members["usage"] = {
                    **known,
                    **{name: _sum(known.get(name), count) for name, count in usage.items()},
                }
        elif kind == "turn_aborted":
            answer = self._open_answer()
            answer.notice("turn_cancelled", "Stopped.", rest_of(payload, "type"))
            answer.status = "cancelled"
        elif kind == "error":
            text = text_of(payload, "message") or "The program failed."
            self._open_answer().error("engine_failed", text, rest_of(payload, "type", "message"))
        elif kind in _REPEATED:
            self.draft.report.add("left_out", "events that repeat what the items say", place)
        else:
            self._open_answer().unknown(kind or "event", dict(payload), place)


def _sum(known: Json, more: Json) -> Json:
    return (known if isinstance(known, int) else 0) + (more if isinstance(more, int) else 0)


def _texts(parts: Json) -> list[str]:
    found = []
    for part in parts if isinstance(parts, list) else []:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str) and text:
            found.append(text)
    return found


def _is_context(payload: Record) -> bool:
    texts = _texts(payload.get("content"))
    return bool(texts) and all(text.lstrip().startswith(_CONTEXT) for text in texts)


_Take = Callable[[_Session, MessageDraft, Record, str], None]
_ITEMS: Final[Mapping[str, _Take]] = MappingProxyType(
    {
        "reasoning": _Session._reasoning,  # noqa: SLF001 - a table of its own methods
        "function_call": _Session._call,  # noqa: SLF001
        "custom_tool_call": _Session._call,  # noqa: SLF001
        "local_shell_call": _Session._shell,  # noqa: SLF001
        "web_search_call": _Session._shell,  # noqa: SLF001
        "function_call_output": _Session._output,  # noqa: SLF001
        "custom_tool_call_output": _Session._output,  # noqa: SLF001
        "local_shell_call_output": _Session._output,  # noqa: SLF001
    }
)
