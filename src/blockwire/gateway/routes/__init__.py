"""The routes of the gateway, one module for each subject, and the table of them all."""

from __future__ import annotations

from blockwire.gateway.http.operation import Operation
from blockwire.gateway.routes.access import ACCESS_OPERATIONS
from blockwire.gateway.routes.attachments import ATTACHMENT_OPERATIONS
from blockwire.gateway.routes.conversations import CONVERSATION_OPERATIONS
from blockwire.gateway.routes.events import EVENT_OPERATIONS
from blockwire.gateway.routes.exports import EXPORT_OPERATIONS
from blockwire.gateway.routes.messages import MESSAGE_OPERATIONS
from blockwire.gateway.routes.meta import META_OPERATIONS
from blockwire.gateway.routes.page import PAGE_OPERATIONS
from blockwire.gateway.routes.previews import PREVIEW_OPERATIONS
from blockwire.gateway.routes.search import SEARCH_OPERATIONS
from blockwire.gateway.routes.turns import TURN_OPERATIONS

__all__ = ["OPERATIONS"]

OPERATIONS: tuple[Operation, ...] = (
    *META_OPERATIONS,
    *PAGE_OPERATIONS,
    *CONVERSATION_OPERATIONS,
    *TURN_OPERATIONS,
    *EVENT_OPERATIONS,
    *MESSAGE_OPERATIONS,
    *ATTACHMENT_OPERATIONS,
    *PREVIEW_OPERATIONS,
    *ACCESS_OPERATIONS,
    *EXPORT_OPERATIONS,
    *SEARCH_OPERATIONS,
)
