"""Who owns a store: a lock file beside it.

Spec: docs/spec/gateway/persistence.md, "One machine and many".

The operating system holds the lock and frees it when its owner dies, however it dies; the file only
tells others who that is: ``{"pid": 123, "url": "http://127.0.0.1:7890"}``. It is never removed,
because a lock on a removed file excludes nobody. Its owner alone can read it: it also holds a key,
another one each time, with which commands of the same user call the gateway. On Windows, which has no ``flock``, one byte far
beyond the text is locked.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from blockwire.errors import RemoteProtocolError, StoreError
from blockwire.jsontext import Json, decode_json, encode_json

__all__ = ["StoreLock", "StoreOwner", "read_owner"]

FILE_MODE: Final = 0o600
"""Of the lock file."""

# The text has some hundred; whatever is longer is not ours.
_OWNER_BYTES_MAX: Final = 4096

# A look at the owner holds the lock for an instant, which must not pass for an owner.
_ATTEMPT_COUNT: Final = 5
_ATTEMPT_PAUSE_S: Final = 0.02

# The reason for `no cover` here: coverage runs on one platform.
if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    _LOCKED_BYTE: Final = 1 << 30

    def _try_lock(fd: int) -> bool:
        os.lseek(fd, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(fd: int) -> None:
        os.lseek(fd, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _try_lock(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _unlock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_UN)


class StoreOwner(Struct, frozen=True):
    """The process that has a store open.

    Attributes:
        pid: Its id.
        url: Where it serves the store; None until it does.
        key: Lets in whoever may read the lock file; no log and no error repeats it.
    """

    pid: int
    url: str | None
    key: str | None = None

    def __repr__(self) -> str:
        """Return everything but the key."""
        return f"StoreOwner(pid={self.pid}, url={self.url!r})"


class StoreLock:
    """Held by the owner of a store; made by :meth:`acquire`."""

    def __init__(self, fd: int) -> None:
        self._fd: int | None = fd

    @classmethod
    def acquire(cls, path: Path) -> StoreLock:
        """Return the lock of the store at ``path``; takes at most some 100 ms.

        Raises:
            StoreError: ``store_locked`` when another process, or another part of this one, owns it.
            OSError: The lock file cannot be written.
        """
        fd = os.open(_lock_path(path), os.O_RDWR | os.O_CREAT, FILE_MODE)
        try:
            _insist(fd, path)
            _make_private(fd)
            lock = cls(fd)
            lock._write(StoreOwner(os.getpid(), None))
        except BaseException:
            os.close(fd)
            raise
        return lock

    def write_url(self, url: str, key: str | None = None) -> None:
        """Tell others where the owner of the store serves it, and the same user with which key."""
        assert self._fd is not None, "the lock is held"
        self._write(StoreOwner(os.getpid(), url, key if _is_private(self._fd) else None))

    def _write(self, owner: StoreOwner) -> None:
        assert self._fd is not None, "the lock is held"
        members: dict[str, Json] = {"pid": owner.pid, "url": owner.url}
        if owner.key is not None:
            members["key"] = owner.key
        text = encode_json(members) + b"\n"
        os.lseek(self._fd, 0, os.SEEK_SET)
        os.write(self._fd, text)
        os.ftruncate(self._fd, len(text))

    def release(self) -> None:
        """Let others own the store. Harmless when repeated."""
        if self._fd is not None:
            fd, self._fd = self._fd, None
            os.ftruncate(fd, 0)
            _unlock(fd)
            os.close(fd)


def _insist(fd: int, path: Path) -> None:
    for attempt in range(_ATTEMPT_COUNT):
        if attempt:
            time.sleep(_ATTEMPT_PAUSE_S)
        if _try_lock(fd):
            return
    raise _locked(path, _read_text(fd))


def read_owner(path: Path) -> StoreOwner | None:
    """Return who owns the store at ``path`` now, or None.

    Asks the lock, not the process id: ids are used again.
    """
    try:
        fd = os.open(_lock_path(path), os.O_RDWR)
    except OSError:
        return None
    try:
        owner = _read_text(fd)
        if owner is None or not _try_lock(fd):
            return owner
        _unlock(fd)
        return None
    finally:
        os.close(fd)


def _make_private(fd: int) -> None:
    """Take the file from all others; one of another user stays as it is, and gets no key."""
    # There is none on Windows, where the folders of a user are private by themselves.
    if hasattr(os, "fchmod"):
        with suppress(OSError):
            os.fchmod(fd, FILE_MODE)


def _is_private(fd: int) -> bool:
    return sys.platform == "win32" or not os.fstat(fd).st_mode & 0o077


def _lock_path(path: Path) -> Path:
    # Two names of one file are one store.
    real = path.resolve()
    return real.with_name(real.name + ".lock")


def _read_text(fd: int) -> StoreOwner | None:
    os.lseek(fd, 0, os.SEEK_SET)
    try:
        value = decode_json(os.read(fd, _OWNER_BYTES_MAX))
    except RemoteProtocolError:
        return None
    match value:
        case {"pid": int(pid), "url": None | str() as url, **more}:
            key = more.get("key")
            return StoreOwner(pid, url, key if isinstance(key, str) else None)
        case _:
            return None


def _locked(path: Path, owner: StoreOwner | None) -> StoreError:
    who = "another process" if owner is None else f"process {owner.pid}"
    where = "" if owner is None or owner.url is None else f" and serves it at {owner.url}"
    return StoreError(
        "store_locked",
        f"{who} owns the store {path.name}{where}: use that one, stop it first, "
        "or give this one another store",
    )
