"""What the core asks of the world: engines, stores, buses, clocks, ids. Protocols only."""

from __future__ import annotations

from blockwire.ports.access import LoginRow, ShareRow, TokenRow
from blockwire.ports.attachments import AttachmentQuota, AttachmentRow, AttachmentUsage
from blockwire.ports.bus import Bus, BusNotice, Committed, ControlNotice
from blockwire.ports.clock import Clock
from blockwire.ports.engine import (
    REQUEST_PROTOCOL,
    Answer,
    Answers,
    Engine,
    EngineFiles,
    EngineRequest,
)
from blockwire.ports.faults import FaultPoint, Faults
from blockwire.ports.ids import IdFactory
from blockwire.ports.retention import BackupProgress, RetentionLimits
from blockwire.ports.search import IndexState, SearchHit, SearchPage, SearchRequest
from blockwire.ports.store import (
    Append,
    Appended,
    CheckProblem,
    ConversationRow,
    Draft,
    Entry,
    FramePage,
    MessageRow,
    Page,
    Store,
    TurnRow,
)

__all__ = [
    "REQUEST_PROTOCOL",
    "Answer",
    "Answers",
    "Append",
    "Appended",
    "AttachmentQuota",
    "AttachmentRow",
    "AttachmentUsage",
    "BackupProgress",
    "Bus",
    "BusNotice",
    "CheckProblem",
    "Clock",
    "Committed",
    "ControlNotice",
    "ConversationRow",
    "Draft",
    "Engine",
    "EngineFiles",
    "EngineRequest",
    "Entry",
    "FaultPoint",
    "Faults",
    "FramePage",
    "IdFactory",
    "IndexState",
    "LoginRow",
    "MessageRow",
    "Page",
    "RetentionLimits",
    "SearchHit",
    "SearchPage",
    "SearchRequest",
    "ShareRow",
    "Store",
    "TokenRow",
    "TurnRow",
]
