"""Keeping a store small: merging, retention, vacuum, backup.

Spec: docs/spec/gateway/persistence.md, "Keeping it small".

Everything here works in *steps*: each is one small transaction, whole or not at all, that no append
waits long for. Whoever calls repeats a step until it says that there is nothing left; nothing is
lost when that never happens, and a restart goes on where the last step ended.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

__all__ = ["BackupProgress", "RetentionLimits", "RetentionStore"]


class RetentionLimits(Struct, frozen=True, kw_only=True):
    """What of the logs stays; None is no bound. Messages and turns always stay.

    Attributes:
        events_before: Events of finished turns that were stamped before this leave, Unix
            milliseconds.
        conversation_bytes_max: Bytes of frames of one conversation.
        total_bytes_max: The same, of all conversations.
        pairs_before: Of merged deltas that were stamped before this, nobody needs to know any more
            which text came with which number; Unix milliseconds.
    """

    events_before: int | None = None
    conversation_bytes_max: int | None = None
    total_bytes_max: int | None = None
    pairs_before: int | None = None


class BackupProgress(Struct, frozen=True):
    """How far a backup is.

    Attributes:
        stage: ``copy`` or ``check``.
        done_bytes: Written so far, in the stage ``copy``.
        total_bytes: What there will be, about.
    """

    stage: str
    done_bytes: int
    total_bytes: int


class RetentionStore(Protocol):
    """The part of a store that makes its log shorter."""

    async def log_start(self, conversation_id: str) -> int:
        """Return the seq up to which events have left the log; 0 while it is whole.

        Reading from a cursor below it raises StoreError ``cursor_expired``.
        """
        ...

    async def merge_step(self) -> bool:
        """Merge some deltas of completed blocks; return whether there may be more to do.

        Each uninterrupted run of deltas of a completed block becomes one delta, or several where
        it is long. Every cursor goes on reading what it lacks
        (docs/spec/content/merging.md).
        """
        ...

    async def trim_step(self, limits: RetentionLimits) -> bool:
        """Remove some events that ``limits`` do not keep; return whether there may be more to do.

        Only from the beginning of a log, and only of what is finished.
        """
        ...

    async def vacuum_step(self) -> bool:
        """Give some free space back; return whether there may be more to do."""
        ...

    async def backup(
        self, target: str, *, on_progress: Callable[[BackupProgress], None] | None = None
    ) -> None:
        """Write a checked copy of what is committed to the new file ``target``.

        Writers go on meanwhile. Whoever is cancelled leaves nothing behind.

        Args:
            target: Path of a file that must not exist.
            on_progress: Told now and then, from any thread.

        Raises StoreError ``backup_exists``, ``backup_failed``, ``backup_unsupported``.
        """
        ...
