"""How much one connection may make a terminal keep; all of it is answered ``resource_exhausted``.

Spec: docs/spec/terminal/limits.md. A test compares that page's table with the defaults here.
"""

from __future__ import annotations

from msgspec import Struct


class Limits(Struct, frozen=True, kw_only=True):
    """The bounds of a :class:`~blockwire.terminal.session.TerminalSession`.

    An id that was not recorded for want of room is never accepted later: what is full stays full.

    Attributes:
        id_chars_max: Scalars of one request, operation or Block id that is recorded.
        requests_max: Requests whose outcome is kept, a connection.
        request_id_chars_max: Scalars of the ids in them together, Context ids of closes too.
        contexts_open_max: Contexts open at once, a connection.
        operation_ids_max: Operation ids of one Context.
        context_id_chars_max: Scalars of the operation and Block ids of one Context together.
        connection_operation_ids_max: Operation ids of all open Contexts together.
        connection_id_chars_max: Scalars of the ids of all Contexts together, without the operation ids
            of those that are not open.
        blocks_max: Blocks of one Context, trimmed ones included.
        connection_blocks_max: Blocks of all Contexts, without trimmed ones of closed Contexts.
        block_bytes_max: ``cost_bytes`` of the content of one Block.
        context_bytes_max: Of all Blocks of a Context that are not trimmed.
        connection_bytes_max: Of all Blocks of the connection that are not trimmed.
    """

    id_chars_max: int = 1_024
    requests_max: int = 131_072
    request_id_chars_max: int = 33_554_432
    contexts_open_max: int = 256
    operation_ids_max: int = 1_048_576
    context_id_chars_max: int = 67_108_864
    connection_operation_ids_max: int = 4_194_304
    connection_id_chars_max: int = 134_217_728
    blocks_max: int = 262_144
    connection_blocks_max: int = 1_048_576
    block_bytes_max: int = 16_777_216
    context_bytes_max: int = 268_435_456
    connection_bytes_max: int = 536_870_912
