"""Sessions of opencode, as ``opencode export`` writes them: ``{info, messages: [{info, parts}]}``.

Spec: docs/spec/gateway/exports.md, "Histories of other programs". As of versions 0.5 to 1.1, where each message has
parts; there is no published schema. The files of its storage are put into the same shape before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from blockwire.archives.drafting import ConversationDraft, History, MessageDraft
from blockwire.archives.readers import ItemsReader
from blockwire.archives.report import Report
from blockwire.archives.values import rest_of, tool_members, whole_ms
from blockwire.jsontext import Json
from blockwire.providers.members import add_counts, record_of, text_of

__all__ = ["OpencodeReader", "opencode_session"]

SOURCE: Final = "opencode"

_STATUSES: Final = {
    "pending": "pending", "running": "running", "completed": "completed", "error": "failed",
}  # fmt: skip
# Marks of the program's own course.
_QUIET: Final = frozenset({"step-start", "step-finish", "snapshot", "patch"})
_USAGE: Final[dict[str, str | tuple[str, str]]] = {
    "input_tokens": "input",
    "output_tokens": "output",
    "reasoning_tokens": "reasoning",
    "cached_input_tokens": ("cache", "read"),
    "cache_write_tokens": ("cache", "write"),
}

Record = Mapping[str, Json]


class OpencodeReader(ItemsReader):
    """Reads exported sessions: one, or an array of them."""

    def _read(self, value: Json, place: str) -> Iterator[History]:
        history = opencode_session(value, self.report, place)
        if history is not None:
            yield history


def opencode_session(value: Json, report: Report, place: str) -> History | None:
    """Return one session; None where there is nothing to show.

    Args:
        value: ``{info, messages}``.
        report: Where to tell what was met.
        place: Of it in the file, or of its file.
    """
    messages = value.get("messages") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(messages, list):
        report.add("unreadable", "sessions without messages", place)
        return None
    info = record_of(value, "info")
    draft = ConversationDraft(
        SOURCE,
        info.get("id"),
        whole_ms(record_of(info, "time").get("created")),
        report,
        place,
        title=info.get("title"),
        tags=("subagent",) if info.get("parentID") else (),
    )
    for index, record in enumerate(messages):
        if isinstance(record, dict):
            _add_message(draft, record, f"{place}/messages/{index}")
        else:
            report.add("left_out", "messages that are no objects", place)
    return draft.finish()


def _add_message(draft: ConversationDraft, record: Record, place: str) -> None:
    info = record_of(record, "info")
    role = text_of(info, "role")
    if role not in {"user", "assistant"}:
        draft.report.add("kept", f"role {role}", place)
    times = record_of(info, "time")
    message = draft.open(
        role if role in {"user", "assistant"} else "system",
        source_id=info.get("id"),
        at=whole_ms(times.get("created")),
        rest=rest_of(info, "id", "sessionID", "role", "time", "modelID", "tokens", "error"),
    )
    if role == "assistant":
        _add_envelope(message, info)
    parts = record.get("parts")
    for index, part in enumerate(parts if isinstance(parts, list) else []):
        _add_part(message, part, f"{place}/parts/{index}")
    failure = record_of(info, "error")
    if failure:
        name = text_of(failure, "name")
        is_stopped = name == "MessageAbortedError"
        message.status = "cancelled" if is_stopped else "failed"
        text = text_of(record_of(failure, "data"), "message") or name or "The program failed."
        if is_stopped:
            message.notice("turn_cancelled", "Stopped.", failure)
        else:
            message.error("engine_failed", text, failure)


def _add_envelope(message: MessageDraft, info: Record) -> None:
    model = info.get("modelID")
    if isinstance(model, str) and model:
        message.members["model"] = model
    completed_at = whole_ms(record_of(info, "time").get("completed"))
    if completed_at is not None:
        message.members["completed_at"] = completed_at
    usage: dict[str, Json] = {}
    add_counts(usage, record_of(info, "tokens"), _USAGE)
    if usage:
        message.members["usage"] = usage


def _add_part(message: MessageDraft, part: Json, place: str) -> None:
    if not isinstance(part, dict):
        message.unknown("part", part, place)
        return
    kind = text_of(part, "type")
    rest = rest_of(part, "id", "sessionID", "messageID", "type", "text", "time")
    match kind:
        case "text" if part.get("synthetic") is True or part.get("ignored") is True:
            # The program's own words in the name of the person.
            message.reasoning(part.get("text"), rest)
        case "text":
            message.prose(part.get("text"), rest)
        case "reasoning":
            message.reasoning(part.get("text"), rest)
        case "tool":
            _add_tool(message, part, place)
        case "file":
            _add_file(message, part, place)
        case _ if kind in _QUIET:
            message.mark(kind, part, place)
        case _:
            message.unknown(kind or "part", part, place)


def _add_tool(message: MessageDraft, part: Record, place: str) -> None:
    state = record_of(part, "state")
    status = _STATUSES.get(text_of(state, "status"))
    if status is None:
        message.report("repaired", f"tools of status {text_of(state, 'status')}", place)
    times = record_of(state, "time")
    members: dict[str, Json] = {}
    if "input" in state:
        members |= tool_members(state["input"], "input")
    for ours, theirs in (("started_at", "start"), ("completed_at", "end")):
        at = whole_ms(times.get(theirs))
        if at is not None:
            members[ours] = at
    for name in ("output", "error"):
        if name in state:
            members |= tool_members(state[name], name)
    # What had not ended when the session was exported never will, here.
    is_over = status in {"completed", "failed"}
    rest = {
        **rest_of(part, "id", "sessionID", "messageID", "type", "tool", "state"),
        **rest_of(state, "status", "input", "output", "error", "time", "attachments"),
    }
    shown = status if is_over and status is not None else "cancelled"
    block = message.tool(part.get("tool"), shown, rest, **members)
    attachments = state.get("attachments")
    files = attachments if isinstance(attachments, list) else []
    named: list[Json] = []
    for index, file in enumerate(files):
        named += _kept(message, file, f"{place}/state/attachments/{index}")
    if named:
        block["attachments"] = named


def _add_file(message: MessageDraft, part: Record, place: str) -> None:
    file = {"type": "input_file", "file_data": part.get("url"), "filename": part.get("filename")}
    _content, files = message.take_files([file], place)
    for kept in files:
        message.show(kept)
    if not files:
        name = text_of(part, "filename")
        message.unknown("file", dict(part), place, f"(file {name}, which is not in the history)")


def _kept(message: MessageDraft, file: Json, place: str) -> list[Json]:
    record = file if isinstance(file, dict) else {}
    content = {
        "type": "input_file",
        "file_data": record.get("url"),
        "filename": record.get("filename"),
    }
    _content, files = message.take_files([content], place)
    if not files:
        message.unknown("file", file, place)
    return [kept.attachment_id for kept in files]
