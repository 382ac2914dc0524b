"""Parameters of a query: each known, each given once.

Spec: docs/spec/gateway/routes.md, "Bodies".
"""

from __future__ import annotations

from urllib.parse import parse_qsl

from blockwire.errors import RemoteProtocolError

__all__ = ["read_query"]


def read_query(query_string: bytes, known: frozenset[str], *, bytes_max: int) -> dict[str, str]:
    """Return the parameters of a query.

    Raises:
        RemoteProtocolError: ``query_too_large``, ``invalid_parameter``, ``unknown_parameter``.
    """
    if len(query_string) > bytes_max:
        raise RemoteProtocolError("query_too_large", f"a query has at most {bytes_max} bytes")
    try:
        pairs = parse_qsl(query_string.decode("ascii"), keep_blank_values=True, errors="strict")
    except ValueError:
        raise RemoteProtocolError("invalid_parameter", "the query is not UTF-8") from None
    query: dict[str, str] = {}
    for name, value in pairs:
        if name not in known:
            names = ", ".join(sorted(known)) or "none"
            raise RemoteProtocolError("unknown_parameter", f"parameters here: {names}")
        if name in query:
            raise RemoteProtocolError("invalid_parameter", f"{name} is given twice")
        query[name] = value
    return query
