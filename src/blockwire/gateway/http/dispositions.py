"""``Content-Disposition``: names of files in a header, both ways (RFC 6266, RFC 8187).

Spec: docs/spec/gateway/attachments.md, "Upload" and "Download". Pure.
"""

from __future__ import annotations

import re
from typing import Final, Literal
from urllib.parse import quote, unquote_to_bytes

__all__ = ["disposition", "parameters_of", "read_file_name"]

_PARAMETER: Final = re.compile(
    r";\s*(?P<name>[A-Za-z0-9!#$&+.^_`|~-]+\*?)\s*=\s*"
    r"(?:\"(?P<quoted>(?:[^\"\\]|\\.)*)\"|(?P<plain>[^;\s]*))"
)
_ESCAPED: Final = re.compile(r"\\([\\\"])")
_EXTENDED: Final = re.compile(r"utf-8'[^']*'(?P<value>.*)\Z", re.IGNORECASE)

# What the quoted form of a name may hold; what it may not becomes an underscore there.
_NOT_PLAIN: Final = re.compile(r"[^ !#$&-\[\]-~]")


def disposition(kind: Literal["attachment", "inline"], file_name: str) -> str:
    """Return a header that has a file saved, or shown, under its name."""
    plain = _NOT_PLAIN.sub("_", file_name)
    if plain == file_name:
        return f'{kind}; filename="{file_name}"'
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(file_name, safe='')}"


def parameters_of(header: str) -> dict[str, str]:
    """Return the parameters of a header, names in lower case; the first of a name counts.

    Args:
        header: Text of it, UTF-8 decoded.
    """
    found: dict[str, str] = {}
    for match in _PARAMETER.finditer(header):
        quoted = match["quoted"]
        value = match["plain"] if quoted is None else _ESCAPED.sub(r"\1", quoted)
        found.setdefault(match["name"].lower(), value)
    return found


def read_file_name(header: str) -> str | None:
    """Return the name of a file that a header gives, as it came, or None.

    The encoded form wins. Browsers write a quotation mark as ``%22``.
    """
    parameters = parameters_of(header)
    extended = _EXTENDED.match(parameters.get("filename*", ""))
    if extended is not None:
        return unquote_to_bytes(extended["value"]).decode("utf-8", "replace")
    name = parameters.get("filename")
    return None if name is None else name.replace("%22", '"')
