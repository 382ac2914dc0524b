"""Content blocks: messages, blocks, streaming events and the one reducer.

Spec: docs/spec/content/. Above are renderers, provider decoders, stores, gateway and client; below
are ``jsontext`` and ``errors``. This room knows nothing of HTTP, SSE, time or terminals.
"""

from __future__ import annotations

from blockwire.content.appendlog import AppendLog
from blockwire.content.codec import (
    check_event,
    decode_event,
    encode_event,
    event_members,
    event_type,
)
from blockwire.content.convert import convert_record, source_member, tool_source, tool_value
from blockwire.content.diagnostics import redact_event, redact_message
from blockwire.content.events import (
    ENVELOPE_MEMBERS,
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    BlockUpdated,
    ConversationSnapshot,
    MessageCreated,
    StreamEvent,
    TurnEnded,
    TurnResumed,
    TurnStarted,
    TurnSuspended,
    UnknownEvent,
)
from blockwire.content.ids import ID_PREFIXES, IdKind
from blockwire.content.json_schema import SCHEMA_EXCEPTIONS, content_schemas
from blockwire.content.keys import SOURCE_MEMBERS, check_keys, convert_key, convert_keys, is_key
from blockwire.content.lines import decode_delta_line
from blockwire.content.merging import (
    Merged,
    MergePairs,
    cut_merged,
    merge_deltas,
    merge_entries,
)
from blockwire.content.redact import REDACTED, Redactor, environment_secrets
from blockwire.content.reducer import advance, apply, with_turn_of
from blockwire.content.searchable import block_parts, searchable_block, searchable_blocks
from blockwire.content.settle import end_turn, interrupt_turn, settle_blocks
from blockwire.content.snapshot import load_snapshot, make_snapshot
from blockwire.content.state import BlockState, ConversationState, TurnState
from blockwire.content.validate import (
    check_block,
    check_complete_message,
    check_members,
    check_message,
)
from blockwire.content.visibility import (
    HIDDEN_MEMBERS,
    visible,
    visible_block,
    visible_event,
    visible_message,
    visible_request,
)
from blockwire.content.vocabulary import (
    DELTA_FIELDS,
    NAME_CHARS_MAX,
    OWNER_ROLES,
    ROLES,
    TERMINAL_STATUSES,
    TIME_MAX,
    TOOL_FINISHED,
    TURN_TERMINAL_STATUSES,
    Block,
    Message,
    MessageStatus,
    Role,
    ToolStatus,
    TurnStatus,
    View,
)
from blockwire.content.writer import BlockWriter

__all__ = [
    "DELTA_FIELDS",
    "ENVELOPE_MEMBERS",
    "HIDDEN_MEMBERS",
    "ID_PREFIXES",
    "NAME_CHARS_MAX",
    "OWNER_ROLES",
    "REDACTED",
    "ROLES",
    "SCHEMA_EXCEPTIONS",
    "SOURCE_MEMBERS",
    "TERMINAL_STATUSES",
    "TIME_MAX",
    "TOOL_FINISHED",
    "TURN_TERMINAL_STATUSES",
    "AppendLog",
    "Block",
    "BlockCompleted",
    "BlockDelta",
    "BlockStarted",
    "BlockState",
    "BlockUpdated",
    "BlockWriter",
    "ConversationSnapshot",
    "ConversationState",
    "IdKind",
    "MergePairs",
    "Merged",
    "Message",
    "MessageCreated",
    "MessageStatus",
    "Redactor",
    "Role",
    "StreamEvent",
    "ToolStatus",
    "TurnEnded",
    "TurnResumed",
    "TurnStarted",
    "TurnState",
    "TurnStatus",
    "TurnSuspended",
    "UnknownEvent",
    "View",
    "advance",
    "apply",
    "block_parts",
    "check_block",
    "check_complete_message",
    "check_event",
    "check_keys",
    "check_members",
    "check_message",
    "content_schemas",
    "convert_key",
    "convert_keys",
    "convert_record",
    "cut_merged",
    "decode_delta_line",
    "decode_event",
    "encode_event",
    "end_turn",
    "environment_secrets",
    "event_members",
    "event_type",
    "interrupt_turn",
    "is_key",
    "load_snapshot",
    "make_snapshot",
    "merge_deltas",
    "merge_entries",
    "redact_event",
    "redact_message",
    "searchable_block",
    "searchable_blocks",
    "settle_blocks",
    "source_member",
    "tool_source",
    "tool_value",
    "visible",
    "visible_block",
    "visible_event",
    "visible_message",
    "visible_request",
    "with_turn_of",
]
