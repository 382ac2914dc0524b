"""Cases played on a connection: which can be, where, and how.

Spec: docs/spec/terminal/tools.md, "How a terminal is judged".
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

from blockwire.conform.algebra import play_algebra
from blockwire.conform.connection import Connection, Mismatch
from blockwire.conform.exchanges import play_exchange
from blockwire.conform.sessions import NotShown, Session
from blockwire.conform.streams import (
    context_ids,
    play_stream,
    request_keys,
    stream_of,
    types_in,
)
from blockwire.conform.vectors import Case

__all__ = ["NOT_ON_THE_WIRE", "NotShown", "needs_fresh", "play", "why_not_shown"]

PLAIN: Final = "text/plain"
KNOWN_TYPES: Final = frozenset({"text/styled", "text/lines"})
"""Optional ones, whose data has a form: it is looked at by whoever advertises them."""
ROW_FORMS: Final = frozenset({"stream_base64", "frames_base64", "data_recipe"})
_KNOWN_OPTIONS: Final = frozenset({"complete_baseline_supported", "optional_content_types"})

# What a person sees at the terminal, or what becomes of Blocks that nobody can ask about any more.
NOT_ON_THE_WIRE: Final = frozenset(
    {
        "terminal:context:close-seals", "terminal:context:end", "terminal:lines:decoration",
        "terminal:lines:every-line-a-row", "terminal:lines:prefix-gives-way",
        "terminal:operation:stream-order", "terminal:plain:breaks", "terminal:plain:copied-as-label",
        "terminal:plain:empty-row", "terminal:plain:final-break", "terminal:plain:labels",
        "terminal:plain:no-other-break", "terminal:plain:one-projection",
        "terminal:plain:tab-copied", "terminal:plain:tab-stops", "terminal:plain:whole-clusters",
        "terminal:scan:transparent", "terminal:styled:cut-keeps-style",
        "terminal:styled:normal-form",
    }
)  # fmt: skip


def why_not_shown(case: Case, connection: Connection) -> str | None:
    """Return why a case cannot be judged with this terminal."""
    row, optional_types = case.row, connection.optional_types
    if optional_types is None:
        return f"the terminal answers {connection.answered}"
    return None if "exchange" in row else _why_row_not_shown(row, optional_types)


def _why_row_not_shown(row: Mapping[str, Any], optional_types: Sequence[str]) -> str | None:
    if "code" in row:
        return _missing({row["type"]} - {PLAIN}, optional_types)
    if "final_contexts" in row:
        return _why_session_not_shown(row, optional_types)
    if not ROW_FORMS & row.keys():
        return "it shows nothing on the wire of a terminal"
    if not row.get("probe_appended", {}).get("decodes_probe", True):
        return "it hides what is asked after it"
    return _missing(types_in(stream_of(row)) & KNOWN_TYPES, optional_types)


def _why_session_not_shown(row: Mapping[str, Any], optional_types: Sequence[str]) -> str | None:
    options = row.get("options", {})
    if not options.get("complete_baseline_supported", True):
        return "it needs a terminal that answers unsupported"
    if options.keys() - _KNOWN_OPTIONS:
        return "it needs a host that decides or is limited as the case says"
    if any("host" in step for step in row["steps"]):
        return "it needs a host that does something"
    missing = _missing(set(options.get("optional_content_types", ())), optional_types)
    if missing:
        return missing
    for step in row["steps"]:
        if _expects_unsupported(step) and _content_types(step) & set(optional_types):
            return "the terminal advertises the type"
    return None


def _missing(needed: AbstractSet[str], optional_types: Sequence[str]) -> str | None:
    missing = sorted(needed - set(optional_types))
    return f"the terminal does not advertise {', '.join(missing)}" if missing else None


def _expects_unsupported(step: Mapping[str, Any]) -> bool:
    return any(
        reply["body"].get("code") == "unsupported_content_type" for reply in step.get("out", ())
    )


def _content_types(step: Mapping[str, Any]) -> set[str]:
    return types_in(base64.b64decode(step["bytes_base64"])) if "bytes_base64" in step else set()


def needs_fresh(case: Case, connection: Connection) -> bool:
    """Return whether a case wants a program that has heard nothing yet."""
    if "code" in case.row or "exchange" in case.row:
        return False
    if "final_contexts" in case.row:
        return any(set(step.get("send", {})) != {"message"} for step in case.row["steps"])
    used = connection.request_ids
    is_used = any(used.get(name, key) != key for name, key in request_keys(case.row))
    return is_used or bool(context_ids(case.row) & connection.given)


def play(case: Case, connection: Connection, tag: str) -> None:
    """Play a case.

    Args:
        case: One that is shown; see :func:`why_not_shown`.
        connection: Where; see :func:`needs_fresh`.
        tag: Unique on the connection.

    Raises:
        Mismatch: The terminal did something else.
        NotShown: The case cannot be judged after all.
    """
    if "exchange" in case.row:
        play_exchange(case.row["exchange"], connection, tag)
    elif "code" in case.row:
        play_algebra(case.row, connection, tag)
    elif "final_contexts" in case.row:
        Session(case.row, connection, tag).play()
    else:
        _play_stream(case.row, connection)


def _play_stream(row: Mapping[str, Any], connection: Connection) -> None:
    try:
        play_stream(row, connection)
    except Mismatch:
        if context_ids(row) & connection.given:
            raise NotShown("it names a Context as the terminal has named one") from None
        raise
