"""The SDK: a gateway as Python sees it, async and blocking, across any network.

Spec: docs/spec/gateway/routes.md; docs/how-to/python-client.md. Below are ``content`` (the same reducer
as the gateway's) and ``sse``; this room does not know how a gateway is built.
"""

from __future__ import annotations

from blockwire.client.access import Share, Token
from blockwire.client.async_client import (
    AskOptions,
    AsyncClient,
    FollowOptions,
    ReadOptions,
    StartAfter,
    StreamOptions,
)
from blockwire.client.attachments import Attachment
from blockwire.client.blocking import Client
from blockwire.client.calls import DEFAULT_URL, ConversationChanges, Order, SubmitOptions, new_key
from blockwire.client.failures import ClientError
from blockwire.client.line import OnQueued
from blockwire.client.reader import ConnectionChange, ConnectionStatus
from blockwire.client.search import (
    SearchFilters,
    SearchHit,
    SearchMatch,
    SearchPage,
    SearchSnippet,
)
from blockwire.client.settings import ClientSettings
from blockwire.client.shapes import Acknowledgement, Capabilities, Conversation, Turn
from blockwire.client.stream import (
    Effect,
    Failed,
    Finished,
    Received,
    Reconnect,
    Reported,
    StreamRequest,
    Subscription,
)
from blockwire.client.timing import SystemTiming, Timing
from blockwire.client.transfers import ExportFormat, ImportedConversation, ImportResult

__all__ = [
    "DEFAULT_URL",
    "Acknowledgement",
    "AskOptions",
    "AsyncClient",
    "Attachment",
    "Capabilities",
    "Client",
    "ClientError",
    "ClientSettings",
    "ConnectionChange",
    "ConnectionStatus",
    "Conversation",
    "ConversationChanges",
    "Effect",
    "ExportFormat",
    "Failed",
    "Finished",
    "FollowOptions",
    "ImportResult",
    "ImportedConversation",
    "OnQueued",
    "Order",
    "ReadOptions",
    "Received",
    "Reconnect",
    "Reported",
    "SearchFilters",
    "SearchHit",
    "SearchMatch",
    "SearchPage",
    "SearchSnippet",
    "Share",
    "StartAfter",
    "StreamOptions",
    "StreamRequest",
    "SubmitOptions",
    "Subscription",
    "SystemTiming",
    "Timing",
    "Token",
    "Turn",
    "new_key",
]
