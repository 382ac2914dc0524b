"""Searching in the file: candidates from the index, blocks from the messages.

Spec: docs/spec/gateway/search.md.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, Final

from blockwire.content import Message, searchable_block, searchable_blocks
from blockwire.ports import (
    CheckProblem,
    ConversationRow,
    IndexState,
    SearchPage,
    SearchRequest,
)
from blockwire.stores.searching import BLOCK_BITS, Candidate, document_no, find_page
from blockwire.stores.sqlite.base import SqliteBase
from blockwire.stores.sqlite.documents import (
    ALL_DOCUMENTS,
    WORDS_VERSION,
    document_rows,
    match_expression,
    word_expression,
)
from blockwire.stores.sqlite.errors import damaged
from blockwire.stores.sqlite.ledger import Ledger
from blockwire.stores.sqlite.queries import SQL
from blockwire.stores.sqlite.reader import load_conversation, snapshot
from blockwire.stores.sqlite.rows import message_from_row

__all__ = ["SqliteSearch", "index_problems"]

# Above every number and every time; SQLite's largest integer.
_INTEGER_MAX: Final = 2**63 - 1
_INTEGER_MIN: Final = -(2**63)

# Messages whose words a check looks up, evenly spread.
_SAMPLE_COUNT: Final = 500


class SqliteSearch(SqliteBase):
    """The part of :class:`~blockwire.stores.sqlite.store.SqliteStore` that finds words."""

    async def search(self, request: SearchRequest) -> SearchPage:
        """Return a page of blocks that match."""
        return await self._open_readers().run(_search, request)

    async def rebuild_index(self) -> IndexState:
        """Empty the index; the writer fills it again when it has time."""
        return await self._open_writer().perform(_start_again)

    async def index_state(self) -> IndexState:
        """Return how many messages wait to be indexed."""
        return await self._open_readers().run(_index_state)


def _start_again(ledger: Ledger) -> IndexState:
    ledger.indexer.start_again()
    return _index_state(ledger.connection)


def _index_state(connection: sqlite3.Connection) -> IndexState:
    (count,) = connection.execute(SQL["count_waiting"]).fetchone()
    return IndexState(count)


def _search(connection: sqlite3.Connection, request: SearchRequest) -> SearchPage:
    with snapshot(connection):
        waiting_no, _, _ = connection.execute(SQL["load_search_state"]).fetchone()
        return find_page(request, _Index(connection, request), is_building=waiting_no > 0)


class _Index:
    """Implements :class:`~blockwire.stores.searching.SearchIndex` on one snapshot."""

    def __init__(self, connection: sqlite3.Connection, request: SearchRequest) -> None:
        self._connection = connection
        self._request = request
        self._conversation_no: int | None = None
        self._is_empty = False
        if request.conversation_id is not None:
            keys = {"id": request.conversation_id}
            found = connection.execute(SQL["find_number"], keys).fetchone()
            if found is None:
                self._is_empty = True
            else:
                (self._conversation_no,) = found
        self._parameters = {
            "since": _INTEGER_MIN if request.since is None else request.since,
            "until": _INTEGER_MAX if request.until is None else request.until,
            "tenant": request.tenant,
            "tag": request.tag,
        }
        self._conversations: dict[str, ConversationRow] = {}
        self._loaded: tuple[int, str, Message] | None = None

    def list_documents(self, *, is_strong: bool, before: int | None, limit: int) -> Sequence[int]:
        """Return the highest numbers below ``before`` of matching documents, highest first."""
        if self._is_empty:
            return []
        expression = match_expression(self._request, self._conversation_no, is_strong=is_strong)
        parameters: dict[str, Any] = {
            **self._parameters,
            "expression": expression,
            "before": _INTEGER_MAX if before is None else before,
            "limit": limit,
        }
        return [
            document for (document,) in self._connection.execute(SQL["list_documents"], parameters)
        ]

    def load(self, document: int) -> Candidate:
        """Return a document that was listed."""
        conversation_id, message = self._load_message(document >> BLOCK_BITS)
        block = searchable_block(message, document & (1 << BLOCK_BITS) - 1)
        conversation = self._load_conversation(conversation_id)
        if block is None or conversation is None:
            raise damaged()
        return Candidate(conversation, message, block)

    def _load_message(self, message_no: int) -> tuple[str, Message]:
        # Blocks of one message come one after the other.
        if self._loaded is None or self._loaded[0] != message_no:
            keys = {"no": message_no}
            conversation_id, *row = self._connection.execute(SQL["load_document"], keys).fetchone()
            self._loaded = message_no, conversation_id, message_from_row(row).message
        return self._loaded[1:]

    def _load_conversation(self, conversation_id: str) -> ConversationRow | None:
        row = self._conversations.get(conversation_id)
        if row is None:
            row = load_conversation(self._connection, conversation_id)
            if row is not None:
                self._conversations[conversation_id] = row
        return row

    def find(self, place: tuple[str, str, str]) -> int | None:
        """Return the number of the document at ``place``, or None when it is gone."""
        conversation_id, message_id, block_id = place
        keys = {
            "conversation_id": conversation_id,
            "id": message_id,
            "tenant": self._request.tenant,
        }
        found = self._connection.execute(SQL["find_message_number"], keys).fetchone()
        if found is None:
            return None
        _, message = self._load_message(found[0])
        for index, block in searchable_blocks(message):
            if block["id"] == block_id:
                return document_no(found[0], index)
        return None


# check ---------------------------------------------------------------------------------------
def index_problems(connection: sqlite3.Connection) -> Iterator[CheckProblem]:
    """Yield what tells that the index does not hold what is stored: counts, and words of some."""
    waiting_no, version, _ = connection.execute(SQL["load_search_state"]).fetchone()
    if version != WORDS_VERSION:
        # It is made again at the next start.
        return
    (message_count,) = connection.execute(SQL["count_all_messages"]).fetchone()
    stride = max(message_count // _SAMPLE_COUNT, 1)
    document_count = 0
    number = waiting_no
    for place in range(message_count):
        row = connection.execute(SQL["next_message"], {"no": number}).fetchone()
        if row is None:
            break
        number, conversation_no, conversation_id, tenant, *message_row = row
        message = message_from_row(message_row).message
        document_count += sum(1 for _ in searchable_blocks(message))
        if place % stride == 0:
            rows = list(document_rows(number, conversation_no, tenant, message))
            if not all(_is_indexed(connection, number, message, found) for found in rows):
                yield CheckProblem(
                    conversation_id,
                    "index_differs",
                    "words of a message are not in the search index; blockwire search --rebuild",
                )
    keys = {"expression": ALL_DOCUMENTS}
    (indexed_count,) = connection.execute(SQL["count_documents"], keys).fetchone()
    if indexed_count != document_count:
        yield CheckProblem(
            "index",
            "index_differs",
            f"the search index has {indexed_count} blocks and should have {document_count}; "
            "blockwire search --rebuild",
        )


def _is_indexed(
    connection: sqlite3.Connection,
    message_no: int,
    message: Message,
    row: tuple[int, str, str, str],
) -> bool:
    indexed = connection.execute(SQL["has_indexed_message"], {"no": message_no}).fetchone()
    document, words, _, scope = row
    expressions = [word_expression("scope", word) for word in scope.split()]
    expressions += [word_expression("words", word) for word in words.split()[:1]]
    return indexed == (message["created_at"],) and all(
        connection.execute(
            SQL["has_document"], {"expression": expression, "document": document}
        ).fetchone()
        for expression in expressions
    )
