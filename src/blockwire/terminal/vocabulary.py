"""The closed words of the protocol, and the tables that say what may stand where.

Spec: docs/spec/terminal/messages.md. A test compares each table with the one of that page.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, get_args

RequestKind: TypeAlias = Literal["capability.query", "context.open", "context.close"]
ResponseKind: TypeAlias = Literal[
    "capability.response", "context.open.response", "context.close.response"
]
OperationKind: TypeAlias = Literal[
    "block.append", "block.update", "block.extend", "block.replace_suffix", "block.seal"
]
WireKind: TypeAlias = RequestKind | ResponseKind | OperationKind | Literal["protocol.error"]

REQUEST_KINDS: Final[tuple[RequestKind, ...]] = get_args(RequestKind)
RESPONSE_KINDS: Final[tuple[ResponseKind, ...]] = get_args(ResponseKind)
OPERATION_KINDS: Final[tuple[OperationKind, ...]] = get_args(OperationKind)

Presence: TypeAlias = Literal["required", "absent", "success only"]

# kind -> (request_id, operation_id, context_id)
ENVELOPE_FIELDS: Final[Mapping[WireKind, tuple[Presence, Presence, Presence]]] = MappingProxyType(
    {
        "capability.query": ("required", "absent", "absent"),
        "capability.response": ("required", "absent", "absent"),
        "context.open": ("required", "absent", "absent"),
        "context.open.response": ("required", "absent", "success only"),
        "context.close": ("required", "absent", "required"),
        "context.close.response": ("required", "absent", "required"),
        "block.append": ("absent", "required", "required"),
        "block.update": ("absent", "required", "required"),
        "block.extend": ("absent", "required", "required"),
        "block.replace_suffix": ("absent", "required", "required"),
        "block.seal": ("absent", "required", "required"),
        "protocol.error": ("absent", "required", "required"),
    }
)

WIRE_KINDS: Final[tuple[WireKind, ...]] = tuple(ENVELOPE_FIELDS)

TO_TERMINAL: Final[frozenset[WireKind]] = frozenset({*REQUEST_KINDS, *OPERATION_KINDS})
"""What an application sends; all else is sent by a terminal."""

SharedErrorCode: TypeAlias = Literal[
    "invalid_message", "context_not_open", "resource_exhausted", "internal_error"
]
ControlErrorCode: TypeAlias = SharedErrorCode | Literal["request_id_conflict"]
OperationErrorCode: TypeAlias = (
    SharedErrorCode
    | Literal[
        "operation_id_reused",
        "block_id_reused",
        "block_not_found",
        "block_sealed",
        "unsupported_content_type",
        "invalid_content",
        "content_state_mismatch",
        "invalid_content_boundary",
    ]
)

# code -> (in a control response, in protocol.error)
ERROR_PATHS: Final[Mapping[ControlErrorCode | OperationErrorCode, tuple[bool, bool]]] = (
    MappingProxyType(
        {
            "invalid_message": (True, True),
            "context_not_open": (True, True),
            "resource_exhausted": (True, True),
            "internal_error": (True, True),
            "request_id_conflict": (True, False),
            "operation_id_reused": (False, True),
            "block_id_reused": (False, True),
            "block_not_found": (False, True),
            "block_sealed": (False, True),
            "unsupported_content_type": (False, True),
            "invalid_content": (False, True),
            "content_state_mismatch": (False, True),
            "invalid_content_boundary": (False, True),
        }
    )
)

Lifecycle: TypeAlias = Literal["mutable", "sealed"]
LIFECYCLES: Final[tuple[Lifecycle, ...]] = get_args(Lifecycle)

ContextState: TypeAlias = Literal["open", "closed", "invalidated"]
"""Of a Context that has come into being."""

PLAIN: Final = "text/plain"
"""The content type of the baseline; it is never listed."""
STYLED: Final = "text/styled"
LINES: Final = "text/lines"
