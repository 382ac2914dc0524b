"""``multipart/form-data`` with one file in it, as it arrives (RFC 7578).

Spec: docs/spec/gateway/attachments.md, "Upload". No I/O: bytes in, bytes of the file out. Whatever is
held back is shorter than a boundary.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from blockwire.errors import RemoteProtocolError
from blockwire.gateway.http.dispositions import parameters_of, read_file_name

__all__ = ["FormFile", "read_boundary"]

HEAD_BYTES_MAX: Final = 8_192
"""Headers of the part that is the file."""

_BOUNDARY: Final = re.compile(r"[A-Za-z0-9'()+_,./:=? -]{0,69}[A-Za-z0-9'()+_,./:=?-]\Z")
_CRLF: Final = b"\r\n"


def _refused(detail: str) -> RemoteProtocolError:
    return RemoteProtocolError("invalid_multipart", detail)


def read_boundary(content_type: str) -> bytes:
    """Return the boundary that a ``Content-Type`` names.

    Raises:
        RemoteProtocolError: ``invalid_multipart``.
    """
    boundary = parameters_of(content_type).get("boundary", "")
    if not _BOUNDARY.match(boundary):
        raise _refused("the content type names no boundary")
    return boundary.encode()


class FormFile:
    """The only file of a form.

    Attributes:
        file_name: As the form gives it, once its head was read.
        media_type: As the form claims it, once its head was read.
        has_head: Whether it was.
    """

    def __init__(self, boundary: bytes) -> None:
        self.file_name: str | None = None
        self.media_type: str | None = None
        self.has_head = False
        self._delimiter = _CRLF + b"--" + boundary
        # The first boundary has no line before it.
        self._held = _CRLF
        self._state: Literal["start", "head", "content", "end", "over"] = "start"

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes of the body; return those of the file.

        Raises:
            RemoteProtocolError: ``invalid_multipart``.
        """
        if self._state == "over":
            return b""
        self._held += data
        if self._state == "start":
            self._read_start()
        if self._state == "head":
            self._read_head()
        content = self._read_content() if self._state == "content" else b""
        if self._state == "end":
            self._read_end()
        return content

    def finish(self) -> None:
        """Take the end of the body.

        Raises:
            RemoteProtocolError: ``invalid_multipart`` where the form is not over.
        """
        if self._state != "over":
            raise _refused("the form ends before its last boundary")

    def _read_start(self) -> None:
        expected = self._delimiter + _CRLF
        start = self._held.removeprefix(_CRLF) if self._held.startswith(_CRLF * 2) else self._held
        if not expected.startswith(start[: len(expected)]):
            raise _refused("the form does not begin with its boundary")
        if len(start) >= len(expected):
            self._held = start[len(expected) :]
            self._state = "head"

    def _read_head(self) -> None:
        head, end, rest = self._held.partition(_CRLF * 2)
        if len(head) > HEAD_BYTES_MAX:
            raise _refused("the head of the file is too large")
        if not end:
            return
        headers = dict(map(_header, head.split(_CRLF)))
        place = headers.get("content-disposition", "")
        self.file_name = read_file_name(place)
        if not place.lower().startswith("form-data") or self.file_name is None:
            raise _refused("the form has one part, a file; name it with ?name=")
        self.media_type = headers.get("content-type")
        self.has_head = True
        self._held = rest
        self._state = "content"

    def _read_content(self) -> bytes:
        content, found, rest = self._held.partition(self._delimiter)
        if found:
            self._held = rest
            self._state = "end"
            return content
        # The boundary may have begun.
        cut = max(len(self._held) - len(self._delimiter) + 1, 0)
        content, self._held = self._held[:cut], self._held[cut:]
        return content

    def _read_end(self) -> None:
        if len(self._held) < 2:
            return
        if not self._held.startswith(b"--"):
            raise _refused("the form has one part, a file")
        # What follows says nothing.
        self._held = b""
        self._state = "over"


def _header(line: bytes) -> tuple[str, str]:
    name, _, value = line.decode("utf-8", "replace").partition(":")
    return name.strip().lower(), value.strip()
