"""Files that commands make: whole under their name, or not there.

Spec: docs/reference/cli.md. What is written goes into a file of another name in the same folder, which gets
its own name when it is whole; nothing that is there is replaced unless somebody asked for it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from blockwire.errors import LocalProtocolError

__all__ = ["check_new", "new_file"]

PART_SUFFIX: Final = ".part"


def check_new(path: Path, *, force: bool) -> None:
    """Check that a file may be made at ``path``.

    Raises:
        LocalProtocolError: ``file_exists``, ``file_unwritable``.
    """
    if path.is_dir():
        raise LocalProtocolError("file_unwritable", f"{path} is a folder; name a file in it")
    if path.is_file() and not force:
        raise LocalProtocolError("file_exists", f"{path} is there already; --force replaces it")


@contextmanager
def new_file(path: Path, *, force: bool) -> Iterator[Callable[[bytes], None]]:
    """Yield what takes the bytes of a new file; it is there, whole, when the block ends well.

    However else the block ends, nothing of it stays. Only its owner may read it. What is no
    regular file (a device, a pipe) is written to as it is.

    Args:
        path: Where it goes; its folder must exist.
        force: Whether a file that is there is replaced.

    Raises:
        LocalProtocolError: ``file_exists``, ``file_unwritable``.
    """
    check_new(path, force=force)
    with _told(path):
        if path.exists() and not path.is_file():
            with path.open("wb") as device:
                yield _writer(device, path)
            return
        descriptor, name = tempfile.mkstemp(
            prefix=f".{path.name[:64]}.", suffix=PART_SUFFIX, dir=path.parent
        )
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield _writer(file, path)
            with _told(path):
                file.flush()
                os.fsync(file.fileno())
        with _told(path):
            _place(part, path, force=force)
    finally:
        with suppress(OSError):
            part.unlink()


def _writer(file: BinaryIO, path: Path) -> Callable[[bytes], None]:
    def write(data: bytes) -> None:
        with _told(path):
            file.write(data)

    return write


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        detail = f"{path} is there already; --force replaces it"
        raise LocalProtocolError("file_exists", detail) from None
    except OSError as error:
        raise LocalProtocolError(
            "file_unwritable", f"cannot write {path}: {error.strerror}"
        ) from None


def _place(part: Path, path: Path, *, force: bool) -> None:
    if force:
        part.replace(path)
        return
    try:
        # Unlike a renaming, a link never replaces what somebody made meanwhile.
        path.hardlink_to(part)
    except FileExistsError:
        raise
    except OSError:
        # A file system without links.
        if path.exists():
            raise FileExistsError from None
        part.replace(path)
