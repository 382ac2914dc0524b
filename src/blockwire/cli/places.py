"""Where a store lies, and whether one can be there.

Spec: docs/reference/configuration.md. The store itself reports what goes wrong later; here a person
hears what to do before anything is started.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from blockwire.errors import StoreError
from blockwire.stores import SqliteStore, open_store

__all__ = ["prepare_place", "store_path"]

FOLDER_MODE: Final = 0o700
"""Conversations are their owner's business."""


def store_path(url: str) -> Path | None:
    """Return the file of the store that ``url`` names; None for one in memory.

    Raises:
        StoreError: ``invalid_store_url``.
    """
    store = open_store(url)  # opens nothing yet
    return store.path if isinstance(store, SqliteStore) else None


def prepare_place(path: Path, *, makes_store: bool = True) -> None:
    """Make the folder of a store if need be, and check that the store can be used.

    Args:
        path: Of the store's file.
        makes_store: False for commands that only read: a mistyped name is no new store.

    Raises:
        StoreError: ``store_not_found``, ``store_unavailable``, ``store_readonly``; the sentence
            names the path and says what to do.
    """
    if path.is_dir():
        raise StoreError(
            "store_unavailable",
            f"{path} is a folder; name a file in it, such as sqlite:///{path}/conversations.db",
        )
    is_there = path.exists()
    if not is_there and not makes_store:
        raise StoreError(
            "store_not_found", f"there is no store {path}; blockwire ask or serve makes one"
        )
    _prepare_folder(path.parent)
    if is_there and not os.access(path, os.R_OK | os.W_OK):
        raise StoreError(
            "store_readonly",
            f"{path} cannot be written by this user; change its mode, or use a copy of it",
        )


def _prepare_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            "store_unavailable",
            f"the folder {folder} cannot be made: {error.strerror}; give another place with --store",
        ) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StoreError(
            "store_readonly",
            f"the folder {folder} cannot be written by this user, and a store needs more files "
            "beside its own; give another place with --store",
        )
