"""Searching in memory: looks at every block, newest first.

Spec: docs/spec/gateway/search.md. What another store's index finds has to be what this finds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from blockwire.content import block_parts, searchable_block, searchable_blocks
from blockwire.ports import IndexState, MessageRow, SearchPage, SearchRequest
from blockwire.stores.memory.forks import MemoryForks
from blockwire.stores.memory.state import MemoryConversation
from blockwire.stores.searching import BLOCK_BITS, Candidate, document_no, find_page
from blockwire.text import TextWords

__all__ = ["MemorySearch"]


class MemorySearch(MemoryForks):
    """The part of the memory store that finds words; nothing deleted is left in an index of it."""

    def __init__(self) -> None:
        super().__init__()
        # Messages of all conversations in the order in which they were finished.
        self._finished: dict[int, tuple[MemoryConversation, MessageRow]] = {}
        self._next_number = 1

    def _keep_finished(
        self, conversation: MemoryConversation, messages: Sequence[MessageRow]
    ) -> None:
        for row in messages:
            self._finished[self._next_number] = conversation, row
            self._next_number += 1

    def _forget_finished(self, conversation_id: str) -> None:
        self._finished = {
            number: pair
            for number, pair in self._finished.items()
            if pair[0].row.id != conversation_id
        }

    async def search(self, request: SearchRequest) -> SearchPage:
        """Return a page of blocks that match."""
        self._check_open()
        seen = {
            number: (conversation, row)
            for number, (conversation, row) in self._finished.items()
            if conversation.row.id not in self._hidden
            and (request.tenant is None or conversation.row.tenant == request.tenant)
        }
        return find_page(request, _Index(request, seen), is_building=False)

    async def rebuild_index(self) -> IndexState:
        """Do nothing: there is none."""
        return await self.index_state()

    async def index_state(self) -> IndexState:
        """Return that nothing waits."""
        self._check_open()
        return IndexState(0)


class _Index:
    """Implements :class:`~blockwire.stores.searching.SearchIndex` by looking at everything."""

    def __init__(
        self, request: SearchRequest, seen: dict[int, tuple[MemoryConversation, MessageRow]]
    ) -> None:
        self._request = request
        self._seen = seen

    def list_documents(self, *, is_strong: bool, before: int | None, limit: int) -> Sequence[int]:
        """Return the highest numbers below ``before`` of matching documents, highest first."""
        documents: list[int] = []
        for document in self._matching(is_strong=is_strong):
            if len(documents) == limit:
                break
            if before is None or document < before:
                documents.append(document)
        return documents

    def _matching(self, *, is_strong: bool) -> Iterator[int]:
        query = self._request.query
        for number in sorted(self._seen, reverse=True):
            conversation, row = self._seen[number]
            if not self._is_wanted(conversation, row):
                continue
            for index, block in reversed(list(searchable_blocks(row.message))):
                words = TextWords(block_parts(block))
                if (
                    self._request.block_type in {None, block["type"]}
                    and words.matches(query)
                    and words.is_strong(query) == is_strong
                ):
                    yield document_no(number, index)

    def _is_wanted(self, conversation: MemoryConversation, row: MessageRow) -> bool:
        request = self._request
        created_at = row.message["created_at"]
        assert isinstance(created_at, int), "a valid message"
        return (
            request.conversation_id in {None, conversation.row.id}
            and request.role in {None, row.message["role"]}
            and (request.since is None or created_at >= request.since)
            and (request.until is None or created_at < request.until)
            and (request.tag is None or request.tag in conversation.row.tags)
        )

    def load(self, document: int) -> Candidate:
        """Return a document that was listed."""
        conversation, row = self._seen[document >> BLOCK_BITS]
        block = searchable_block(row.message, document & (1 << BLOCK_BITS) - 1)
        assert block is not None, "it was listed"
        return Candidate(conversation.row, row.message, block)

    def find(self, place: tuple[str, str, str]) -> int | None:
        """Return the number of the document at ``place``, or None when it is gone."""
        conversation_id, message_id, block_id = place
        for number, (conversation, row) in self._seen.items():
            if conversation.row.id == conversation_id and row.message["id"] == message_id:
                for index, block in searchable_blocks(row.message):
                    if block["id"] == block_id:
                        return document_no(number, index)
        return None
