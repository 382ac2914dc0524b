"""The built page as answers: read once, checked against its manifest, packed once.

Spec: docs/spec/page/index.md, "Serving". Below is ``web``, which says what there is. Whatever is
asked for is looked up by name in the manifest; no path is ever made of what a request says.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

import anyio
from msgspec import Struct

from blockwire.errors import BlockwireError, LocalProtocolError, RemoteProtocolError
from blockwire.gateway.http.answer import Answer
from blockwire.web import (
    ASSET_HEADERS,
    INDEX_NAME,
    MANIFEST_NAME,
    PAGE_HEADERS,
    STATIC_FOLDER,
    Manifest,
    media_type_of,
    read_manifest,
)

__all__ = ["ASSET_BYTES_MAX", "BuiltPage", "accepts_gzip", "accepts_html"]

ASSET_BYTES_MAX: Final = 4_194_304
"""One file of the page: all of them are kept in memory, as they are and packed."""

_GZIP_LEVEL: Final = 9
_QUALITY: Final = re.compile(r"q=(0(?:\.0{0,3})?)\Z")


class _Stored(Struct, frozen=True):
    """One file, as it is and packed."""

    plain: bytes
    packed: bytes


class BuiltPage:
    """Serves the files that ``web/`` was built into.

    Args:
        folder: Where they lie; without it, inside of the installed package.
    """

    def __init__(self, folder: Traversable | None = None) -> None:
        self._folder = folder
        self._stored: dict[str, _Stored] = {}

    async def index(self, accept_encoding: str) -> Answer:
        """Return the page.

        Args:
            accept_encoding: Value of ``Accept-Encoding``.

        Raises:
            LocalProtocolError: ``page_unreadable``: it was not built, or not all of it is there.
        """
        return await self._answer(INDEX_NAME, accept_encoding, PAGE_HEADERS)

    async def asset(self, name: str, accept_encoding: str) -> Answer:
        """Return a file that the page loads.

        Args:
            name: Without its folder.
            accept_encoding: Value of ``Accept-Encoding``.

        Raises:
            RemoteProtocolError: ``not_found``.
            LocalProtocolError: ``page_unreadable``.
        """
        return await self._answer(f"assets/{name}", accept_encoding, ASSET_HEADERS)

    async def _answer(
        self, name: str, accept_encoding: str, headers: tuple[tuple[str, str], ...]
    ) -> Answer:
        stored = self._stored.get(name)
        if stored is None:
            # Packing takes a while; no stream has to wait for it.
            stored = self._stored[name] = await anyio.to_thread.run_sync(self._load, name)
        is_packed = len(stored.packed) < len(stored.plain) and accepts_gzip(accept_encoding)
        encoding = (("content-encoding", "gzip"),) if is_packed else ()
        return Answer(
            body=stored.packed if is_packed else stored.plain,
            media_type=media_type_of(name),
            headers=(*headers, *encoding, ("vary", "accept-encoding")),
            has_etag=True,
        )

    @cached_property
    def manifest(self) -> Manifest:
        """What there is."""
        return read_manifest(self._read(MANIFEST_NAME))

    def _load(self, name: str) -> _Stored:
        try:
            asset = self.manifest.assets.get(name)
        except LocalProtocolError:
            raise
        except BlockwireError as error:
            raise _unreadable(f"{MANIFEST_NAME} is no JSON: {error.detail}") from error
        if asset is None:
            raise RemoteProtocolError("not_found", "the page has no such file")
        content = self._read(name)
        if hashlib.sha256(content).hexdigest() != asset.sha256:
            raise _unreadable(f"{name} is not the file that was built")
        return _Stored(content, gzip.compress(content, _GZIP_LEVEL, mtime=0))

    def _read(self, name: str) -> bytes:
        folder = (
            self._folder if self._folder is not None else files("blockwire.web") / STATIC_FOLDER
        )
        try:
            with folder.joinpath(*name.split("/")).open("rb") as file:
                content: bytes = file.read(ASSET_BYTES_MAX + 1)
        except OSError as error:
            raise _unreadable(f"{name} is not there") from error
        if len(content) > ASSET_BYTES_MAX:
            raise _unreadable(f"{name} has more than {ASSET_BYTES_MAX} bytes")
        return content


def _unreadable(why: str) -> LocalProtocolError:
    return LocalProtocolError(
        "page_unreadable", f"the page is not there as it was built: {why}; `make web` builds it"
    )


def accepts_gzip(accept_encoding: str) -> bool:
    """Return whether an ``Accept-Encoding`` takes gzip; to refuse it, it is named with ``q=0``."""
    for item in accept_encoding.lower().split(","):
        name, _, parameter = item.partition(";")
        if name.strip() in {"gzip", "x-gzip"}:
            return _QUALITY.match(parameter.strip()) is None
    return False


def accepts_html(accept: str) -> bool:
    """Return whether an ``Accept`` asks for a page by name, as browsers do and curl does not."""
    types = {item.partition(";")[0].strip().lower() for item in accept.split(",")}
    return not types.isdisjoint({"text/html", "application/xhtml+xml"})
