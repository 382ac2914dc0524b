"""Files to import: what lies behind the names on a command line, and of which kind it is.

Spec: docs/spec/gateway/exports.md, "Histories of other programs".
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from blockwire.archives.drafting import History
from blockwire.archives.histories import HEAD_BYTES, FileFormat, detect_format
from blockwire.archives.opencode import opencode_session
from blockwire.archives.report import HistoryError, Report
from blockwire.archives.values import decode_item
from blockwire.cli.documents import PIECE_BYTES, read_pieces
from blockwire.errors import LocalProtocolError
from blockwire.jsontext import Json

__all__ = ["HistoryFile", "find_files", "read_storage"]

_MEMBER: Final = re.compile(r"(?:.*/)?conversations(?:-\d+)?\.json")
_STORAGE: Final = ("session", "message", "part")
_FILES_MAX: Final = 100_000
"""Files of one folder that are looked at."""


class HistoryFile(NamedTuple):
    """One file to import.

    Attributes:
        name: For people.
        size_bytes: None where nobody knows.
        open: Returns its bytes, from the beginning each time; None for a folder of opencode.
        path: Of the file or folder; None where it can be read once only.
    """

    name: str
    size_bytes: int | None
    open: Callable[[], Iterator[bytes]] | None
    path: Path | None

    def detect(self, wanted: str) -> tuple[FileFormat, Iterator[bytes]]:
        """Return what the file is, and its bytes from the beginning.

        Args:
            wanted: What it is said to be; ``auto`` looks at it.

        Raises:
            LocalProtocolError: ``history_unknown``, ``file_unreadable``.
        """
        assert self.open is not None, "a folder is known by its shape"
        pieces = self.open()
        head = b""
        for piece in pieces:
            head += piece
            if len(head) >= HEAD_BYTES:
                break
        found = detect_format(head)
        # Both are of the same house, and people say the same name to them.
        is_known = wanted in {"auto", found} or (wanted == "claude" and found == "claude_code")
        file_format = found if is_known else wanted
        if file_format is None:
            detail = f"{self.name}: neither an archive nor a history that is known; --from says what it is"
            raise LocalProtocolError("history_unknown", detail)
        return _FORMATS[file_format], _chained(head, pieces)


_FORMATS: Final[dict[str, FileFormat]] = {
    "blockwire": "blockwire",
    "chatgpt": "chatgpt",
    "claude": "claude",
    "claude_code": "claude_code",
    "codex": "codex",
    "opencode": "opencode",
}


def _chained(head: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from rest


def find_files(name: str) -> Iterator[HistoryFile]:
    """Yield what lies behind a name: a file, the files of a ZIP or a folder, standard input.

    Raises:
        LocalProtocolError: ``file_unreadable``.
    """
    path = Path(name)
    if name == "-":
        yield HistoryFile("standard input", None, lambda: read_pieces("-"), None)
    elif path.is_dir():
        yield from _in_folder(path)
    elif path.is_file() and zipfile.is_zipfile(path):
        yield from _in_zip(path)
    else:
        yield _plain(path)


def _plain(path: Path) -> HistoryFile:
    try:
        size_bytes = path.stat().st_size if path.is_file() else None
    except OSError:
        size_bytes = None
    name = str(path)
    can_repeat = path if path.is_file() else None
    return HistoryFile(name, size_bytes, lambda: read_pieces(name), can_repeat)


def _in_zip(path: Path) -> Iterator[HistoryFile]:
    with _readable(path), zipfile.ZipFile(path) as archive:
        members = [info for info in archive.infolist() if _MEMBER.fullmatch(info.filename)]
    if not members:
        detail = f"{path} holds no conversations.json"
        raise LocalProtocolError("file_unreadable", detail)
    for info in members:

        def pieces(info: zipfile.ZipInfo = info) -> Iterator[bytes]:
            with _readable(path), zipfile.ZipFile(path) as archive, archive.open(info) as member:
                while piece := member.read(PIECE_BYTES):
                    yield piece

        yield HistoryFile(f"{path}/{info.filename}", info.file_size, pieces, None)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise LocalProtocolError("file_unreadable", f"cannot read {path}: {reason}") from None


def _in_folder(folder: Path) -> Iterator[HistoryFile]:
    for storage in (folder, folder / "storage"):
        if all((storage / part).is_dir() for part in _STORAGE[:2]):
            yield HistoryFile(str(storage), None, None, storage)
            return
    with _readable(folder):
        found = _matching(folder, "conversations*.json") or _matching(folder, "*.jsonl")
    if not found:
        detail = f"{folder} holds no history that is known here"
        raise LocalProtocolError("file_unreadable", detail)
    for path in found:
        yield _plain(path)


def _matching(folder: Path, pattern: str) -> list[Path]:
    found = [path for path in folder.rglob(pattern) if path.is_file()]
    return sorted(found)[:_FILES_MAX]


# the storage of opencode -----------------------------------------------------------------
def read_storage(folder: Path, report: Report) -> Iterator[History]:
    """Yield the sessions of opencode's storage: ``session/*/S.json``, ``message/S/``, ``part/M/``.

    Args:
        folder: ``storage``.
        report: Where to tell what was met.
    """
    for path in _matching(folder / "session", "*.json"):
        info = _read(path, report)
        session = path.stem
        messages: list[Json] = []
        for message in _matching(folder / "message" / session, "*.json"):
            value = _read(message, report)
            parts = [
                _read(part, report) for part in _matching(folder / "part" / message.stem, "*.json")
            ]
            messages.append({"info": value, "parts": parts})
        messages.sort(key=_created)
        place = f"/{session}"
        history = opencode_session({"info": info, "messages": messages}, report, place)
        if history is not None:
            yield history


def _created(message: Json) -> float:
    match message:
        case {"info": {"time": {"created": int(at) | float(at)}}}:
            return at
        case _:
            return 0


def _read(path: Path, report: Report) -> Json:
    try:
        return decode_item(path.read_bytes(), report, path.name)
    except (HistoryError, OSError) as error:
        code = error.code if isinstance(error, HistoryError) else "file_unreadable"
        report.add("unreadable", f"files ({code})", path.name)
        return None
