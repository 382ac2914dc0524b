"""How an engine's failure reads in the message: a code, a sentence, what the reader can do.

Spec: docs/spec/gateway/engines.md, "Failures".
"""

from __future__ import annotations

from blockwire.errors import EngineError

__all__ = ["ProviderError", "find_engine_error"]


class ProviderError(EngineError):
    """A provider refused or failed.

    Attributes:
        retry_after_s: How long the provider asks to be left alone, where it said so.
    """

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        retryable: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(code, detail, retryable=retryable)
        self.retry_after_s = retry_after_s


def find_engine_error(error: BaseException) -> EngineError | None:
    """Return ``error`` if it is an EngineError, or the first one in a group; else None."""
    if isinstance(error, EngineError):
        return error
    if isinstance(error, BaseExceptionGroup):
        found = (find_engine_error(inner) for inner in error.exceptions)
        return next((inner for inner in found if inner is not None), None)
    return None
