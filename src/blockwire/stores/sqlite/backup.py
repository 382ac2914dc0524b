"""A copy of a store, made beside whoever writes to it, and checked as a store.

Spec: docs/spec/gateway/persistence.md, "Backup".
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from blockwire.errors import StoreError
from blockwire.ports import BackupProgress
from blockwire.stores.sqlite.check import OUTDATED, check_store
from blockwire.stores.sqlite.copying import copy_store

__all__ = ["backup_store"]


def backup_store(
    path: Path,
    target: Path,
    *,
    on_progress: Callable[[BackupProgress], None] | None = None,
    stopping: threading.Event | None = None,
) -> None:
    """Write a checked copy of the store at ``path`` to ``target``, which must not exist.

    The copy holds everything that was acknowledged before this was called, also while a gateway is
    writing. A plain copy of the file would not: the last commits are in the WAL. Blocks; call it in
    a thread.

    Args:
        path: The store.
        target: The copy; its folder must exist.
        on_progress: Told now and then.
        stopping: Set to give up; nothing is left behind.

    Raises:
        StoreError: As of any reading of a store; ``backup_exists`` if ``target`` is there;
            ``backup_failed`` if the copy is not sound, or was given up.
    """
    stopping = stopping if stopping is not None else threading.Event()
    total_bytes = 0

    def tell(stage: str, done_bytes: int) -> None:
        if on_progress is not None:
            on_progress(BackupProgress(stage, done_bytes, max(total_bytes, done_bytes)))

    def tell_copied(done_bytes: int, used_bytes: int) -> None:
        nonlocal total_bytes
        total_bytes = used_bytes
        tell("copy", done_bytes)

    def check(part: Path) -> None:
        tell("check", part.stat().st_size)
        _check(part, stopping)

    copy_store(path, target, check=check, on_copied=tell_copied, stopping=stopping)


def _check(part: Path, stopping: threading.Event) -> None:
    """Refuse a copy that is not sound; what is found once it was given up says nothing of it."""
    # The store of an older release is kept as it is: that is what one goes back to.
    problems = [
        problem for problem in check_store(part, stopping=stopping) if problem.code != OUTDATED
    ]
    if problems and not stopping.is_set():
        first = problems[0]
        raise StoreError(
            "backup_failed",
            f"the copy is not sound, and was not kept: {first.where}: {first.code}; run "
            "blockwire check, the store itself may be damaged",
        )
