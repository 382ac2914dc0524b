"""The log of ``serve``: one bounded line for each record, as text or as JSON, without content.

Spec: docs/spec/gateway/operations.md, "Logs"; docs/reference/logs.md lists the members. A line holds ids,
codes, counts and times. What may hold more (what a program wrote to its standard error, what a library
says) is shown at the level ``debug`` alone, and is redacted there; the text of an exception never is.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, Literal, cast

from blockwire.content import Redactor
from blockwire.jsontext import Json, encode_json
from blockwire.text import label_controls

__all__ = ["LINE_CHARS_MAX", "LogFormat", "LogFormatter", "set_up_logging"]

LogFormat = Literal["text", "json"]

LINE_CHARS_MAX: Final = 4_096
"""Characters of one line; a longer one is cut."""

VALUE_CHARS_MAX: Final = 512
"""Characters of one member."""

FRAMES_MAX: Final = 20
"""Places in the code that are told of an exception, innermost first."""

_OURS: Final = "blockwire"
_HANDLER: Final = "blockwire-log"
_NOISY: Final = ("httpx", "httpcore", "uvicorn")


class LogFormatter(logging.Formatter):
    """Formats records; see the module.

    Args:
        form: Of a line.
        shows_texts: Whether texts that may hold content are shown.
    """

    def __init__(self, form: LogFormat = "text", *, shows_texts: bool = False) -> None:
        super().__init__()
        self._form = form
        self._shows_texts = shows_texts
        self._redact = Redactor().redact

    def format(self, record: logging.LogRecord) -> str:
        """Return one line without its end."""
        members = self._members(record)
        return _as_json(members) if self._form == "json" else _as_text(members)

    def _members(self, record: logging.LogRecord) -> dict[str, Json]:
        members: dict[str, Json] = {
            "ts": _time(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._message(record),
        }
        told = getattr(record, "members", None)
        if isinstance(told, dict):
            members.update(cast("dict[str, Json]", told))
        if record.exc_info and record.exc_info[1] is not None:
            members["error"] = " < ".join(_shape(record.exc_info[1]))
        return {name: _bounded(value) for name, value in members.items()}

    def _message(self, record: logging.LogRecord) -> str:
        is_ours = record.name == _OURS or record.name.startswith(f"{_OURS}.")
        if is_ours or self._shows_texts:
            text = record.getMessage()
            return text if is_ours else self._redact(text)
        # A library may quote what it works with.
        return f"a library reports this; --log-level debug shows what ({record.funcName})"


def _shape(error: BaseException) -> Iterator[str]:
    """Yield the types of an exception and its causes, and where it was raised; no word of its text."""
    cause: BaseException | None = error
    seen: set[int] = set()
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield type(cause).__name__
        cause = cause.__cause__ or cause.__context__
    frames = traceback.extract_tb(error.__traceback__)[::-1]
    for frame in frames[:FRAMES_MAX]:
        # From the package on: where it is installed is nobody's business.
        place = frame.filename.replace("\\", "/").rsplit("/site-packages/", 1)[-1]
        place = place[place.rfind(f"{_OURS}/") :] if f"{_OURS}/" in place else place.split("/")[-1]
        yield f"{place}:{frame.lineno}"


def _time(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


def _bounded(value: Json) -> Json:
    if isinstance(value, str) and len(value) > VALUE_CHARS_MAX:
        return value[: VALUE_CHARS_MAX - 1] + "…"
    return value


def _as_json(members: dict[str, Json]) -> str:
    # Each member is bounded, and so are their names and number; what is left over goes.
    while len(text := encode_json(members).decode()) > LINE_CHARS_MAX:
        members.popitem()
    return text


def _as_text(members: dict[str, Json]) -> str:
    ts, level = members.pop("ts"), str(members.pop("level"))
    logger, message = members.pop("logger"), members.pop("message")
    pairs = [f"{name}={_quoted(value)}" for name, value in members.items()]
    line = " ".join([f"{ts} {level.upper()} {logger}: {message}", *pairs])
    line = label_controls(line, breaks="label", tabs="label")
    return line if len(line) <= LINE_CHARS_MAX else line[: LINE_CHARS_MAX - 1] + "…"


def _quoted(value: Json) -> str:
    text = value if isinstance(value, str) else encode_json(value).decode()
    if text and not any(c in text for c in ' "=') and text.isprintable():
        return text
    return encode_json(text).decode()


def set_up_logging(level: str, form: LogFormat = "text") -> None:
    """Send the logs of this process to standard error; called again, it changes how.

    Args:
        level: ``debug``, ``info``, ``warning`` or ``error``.
        form: Of a line.
    """
    root = logging.getLogger()
    handler = next((h for h in root.handlers if h.get_name() == _HANDLER), None)
    if handler is None:
        handler = logging.StreamHandler(sys.stderr)
        handler.set_name(_HANDLER)
        root.addHandler(handler)
    handler.setFormatter(LogFormatter(form, shows_texts=level == "debug"))
    root.setLevel(level.upper())
    for noisy in _NOISY:
        logging.getLogger(noisy).setLevel(logging.WARNING)
