"""Files for programs without an event loop.

Spec: docs/spec/gateway/attachments.md.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

from blockwire.client.attachments import Attachment, FileSource
from blockwire.client.blocking_transfers import BlockingTransferCalls
from blockwire.content import View

__all__ = ["BlockingAttachmentCalls"]


class BlockingAttachmentCalls(BlockingTransferCalls):
    """The part of :class:`~blockwire.client.Client` that uploads and downloads files."""

    def upload(
        self,
        conversation_id: str,
        source: FileSource,
        *,
        name: str | None = None,
        media_type: str | None = None,
    ) -> Attachment:
        """See :meth:`AsyncClient.upload`; pieces are taken in the loop's thread."""
        return self._run(
            lambda: self._client.upload(conversation_id, source, name=name, media_type=media_type)
        )

    def download(
        self, attachment_id: str, *, view: View | None = None, start: int = 0
    ) -> Generator[bytes, None, None]:
        """See :meth:`AsyncClient.download`."""
        return self._iterate(self._client.download(attachment_id, view=view, start=start))

    def download_file(
        self, attachment_id: str, path: str | Path, *, view: View | None = None
    ) -> int:
        """See :meth:`AsyncClient.download_file`."""
        return self._run(lambda: self._client.download_file(attachment_id, path, view=view))
