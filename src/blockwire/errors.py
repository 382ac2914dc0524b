"""The exceptions of blockwire: a tree, a stable code, a throw-away sentence.

Spec: docs/spec/error-codes.md.

* BlockwireError
    * LocalProtocolError - you broke the protocol: fix the caller
    * RemoteProtocolError - the peer broke the protocol: answer with ``code``
    * EngineError - the provider or the agent failed
    * StoreError, BusError - the backend failed; ``__cause__`` has the driver's error
"""

from __future__ import annotations

__all__ = [
    "BlockwireError",
    "BusError",
    "EngineError",
    "LocalProtocolError",
    "RemoteProtocolError",
    "StoreError",
]


class BlockwireError(Exception):
    """Something that blockwire refuses or cannot do.

    Attributes:
        code: Stable snake_case machine code, safe to send to a peer (docs/spec/error-codes.md).
        detail: One sentence for people. Never part of the contract, never a secret.
        retryable: Whether the same call may work later without a change.
        pointer: JSON Pointer (RFC 6901) to the offending value, where one is known.
    """

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        retryable: bool = False,
        pointer: str | None = None,
    ) -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail
        self.retryable = retryable
        self.pointer = pointer

    def __str__(self) -> str:
        where = f" at {self.pointer or '/'}" if self.pointer is not None else ""
        return f"{self.code}{where}: {self.detail}"


class LocalProtocolError(BlockwireError):
    """The caller broke the protocol; nothing changed."""


class RemoteProtocolError(BlockwireError):
    """The peer sent something that the protocol forbids; nothing changed."""


class EngineError(BlockwireError):
    """The provider or the agent behind an engine failed."""


class StoreError(BlockwireError):
    """The store failed or refused; what was acknowledged before is safe."""


class BusError(BlockwireError):
    """The bus failed; readers fall back to the log."""
