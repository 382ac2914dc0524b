"""Sessions of Claude Code: one JSON object a line, linked by ``parentUuid``.

Spec: docs/spec/gateway/exports.md, "Histories of other programs". As written by versions 1.0 to 2.1; there is no
published schema. What follows one question, up to the next, becomes one message, with the results
of tools in their calls. What subagents said beside it becomes conversations of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from blockwire.archives.drafting import ConversationDraft, History, MessageDraft
from blockwire.archives.parts import Calls, add_part
from blockwire.archives.readers import LinesReader
from blockwire.archives.report import Report
from blockwire.archives.trees import branches
from blockwire.archives.values import iso_ms, rest_of
from blockwire.jsontext import Json
from blockwire.providers.members import add_counts, record_of, text_of

__all__ = ["ClaudeCodeReader"]

SOURCE: Final = "claude_code"

# Lines that say nothing that was said.
_QUIET: Final = frozenset(
    {
        "file-history-snapshot",
        "last-prompt",
        "progress",
        "queue-operation",
        "permission-mode",
        "agent-name",
        "custom-title",
        "ai-title",
    }
)
_USAGE: Final = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cached_input_tokens": "cache_read_input_tokens",
    "cache_write_tokens": "cache_creation_input_tokens",
}

Record = Mapping[str, Json]


class ClaudeCodeReader(LinesReader):
    """Reads the lines of one session."""

    def __init__(self, report: Report, *, item_bytes_max: int, with_branches: bool = True) -> None:
        super().__init__(report, item_bytes_max=item_bytes_max, with_branches=with_branches)
        self._records: dict[str, tuple[str, Record]] = {}
        self._parents: dict[str, str | None] = {}
        self._before: str | None = None
        self._title: Json = None
        self._session_id: Json = None
        self._started_at: int | None = None

    def _finish(self) -> Iterator[History]:
        main = {name: parent for name, parent in self._parents.items() if not self._is_side(name)}
        side = {name: parent for name, parent in self._parents.items() if self._is_side(name)}
        for number, path in self._taken(branches(main, None, self.report, ""), ""):
            yield from self._read_path(path, "branch", number)
        for number, path in enumerate(branches(side, None, self.report, ""), 2):
            if self._with_branches:
                self.report.add("kept", "subagents, as conversations of their own", "")
                yield from self._read_path(path, "subagent", number)
            else:
                self.report.add("left_out", "subagents", "")

    def _take(self, record: dict[str, Json], place: str) -> None:
        kind = text_of(record, "type")
        if kind == "summary":
            self._title = record.get("summary")
            return
        if kind in _QUIET:
            self.report.add("left_out", f"lines of type {kind}", place)
            return
        self._session_id = self._session_id or record.get("sessionId")
        if self._started_at is None:
            self._started_at = iso_ms(record.get("timestamp"))
        name = text_of(record, "uuid") or place
        if name in self._records:
            self.report.add("repaired", "lines with the id of another", place)
            name = place
        self._records[name] = (place, record)
        is_side = record.get("isSidechain") is True
        parent = record.get("parentUuid") or record.get("logicalParentUuid")
        if not isinstance(parent, str):
            parent = None if is_side else self._before
        self._parents[name] = parent
        if not is_side:
            self._before = name

    def _is_side(self, name: str) -> bool:
        return self._records[name][1].get("isSidechain") is True

    def _read_path(self, path: list[str], what: str, number: int) -> Iterator[History]:
        draft = ConversationDraft(
            SOURCE,
            self._session_id,
            self._started_at,
            self.report,
            "",
            title=self._title,
            tags=(what,) if number > 1 else (),
        )
        turn = _Turn(draft)
        for name in path:
            turn.take(*self._records[name])
        history = draft.finish(suffix=f" ({what} {number})" if number > 1 else "")
        if history is not None:
            yield history


class _Turn:
    """Puts what follows one question into one message."""

    def __init__(self, draft: ConversationDraft) -> None:
        self._draft = draft
        self._answer: MessageDraft | None = None
        self._calls = Calls()
        self._counted: set[str] = set()

    def take(self, place: str, record: Record) -> None:
        kind = text_of(record, "type")
        message = record_of(record, "message")
        at = iso_ms(record.get("timestamp"))
        parts = message.get("content")
        match kind:
            case "assistant":
                self._take_answer(record, message, at, place)
            case "user" if self._answer is not None and _is_result(parts):
                self._add_parts(self._answer, parts, place)
            case "user":
                self._answer = None
                is_hidden = record.get("isMeta") is True or record.get("isCompactSummary") is True
                asked = self._draft.open(
                    "system" if is_hidden else "user",
                    source_id=record.get("uuid"),
                    at=at,
                    rest=rest_of(record, "message", "uuid", "timestamp", "type", "parentUuid"),
                )
                self._add_parts(asked, parts, place)
            case _:
                told = self._draft.open("system", source_id=record.get("uuid"), at=at)
                if kind == "system" and isinstance(record.get("content"), str):
                    told.prose(record.get("content"), rest_of(record, "content", "uuid"))
                else:
                    told.unknown(kind or "line", dict(record), place)

    def _take_answer(self, record: Record, message: Record, at: int | None, place: str) -> None:
        if self._answer is None:
            self._answer = self._draft.open("assistant", source_id=record.get("uuid"), at=at)
        answer = self._answer
        model = message.get("model")
        if isinstance(model, str) and model and model != "<synthetic>":
            answer.members.setdefault("model", model)
        if at is not None:
            answer.members["completed_at"] = max(at, answer.at)
        name = text_of(message, "id")
        if name not in self._counted:
            # The lines of one answer of the model repeat its counts.
            self._counted.add(name)
            self._count(answer, record_of(message, "usage"))
        self._add_parts(answer, message.get("content"), place)

    def _count(self, answer: MessageDraft, usage: Record) -> None:
        more: dict[str, Json] = {}
        add_counts(more, usage, _USAGE)
        known = record_of(answer.members, "usage")
        total = {name: _sum(known.get(name), count) for name, count in more.items()}
        if total:
            answer.members["usage"] = {**known, **total}

    def _add_parts(self, message: MessageDraft, parts: Json, place: str) -> None:
        if isinstance(parts, list):
            for index, part in enumerate(parts):
                add_part(message, part, self._calls, f"{place}, /message/content/{index}")
        else:
            message.prose(parts)


def _is_result(parts: Json) -> bool:
    return isinstance(parts, list) and any(
        isinstance(part, dict) and text_of(part, "type").endswith("tool_result") for part in parts
    )


def _sum(known: Json, more: Json) -> Json:
    return (known if isinstance(known, int) else 0) + (more if isinstance(more, int) else 0)
