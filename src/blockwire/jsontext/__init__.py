"""Strict JSON text to values and back; knows no protocol key.

Spec: docs/spec/content/json.md.

Below are :mod:`blockwire.errors` and nothing else; everything that reads or writes JSON is above.
"""

from blockwire.jsontext.codec import decode_json, encode_json, equal_json
from blockwire.jsontext.source import member_source, pointer
from blockwire.jsontext.values import (
    DEPTH_MAX,
    ENVELOPED_DEPTH_MAX,
    INTEGER_DIGITS_MAX,
    SAFE_INTEGER_MAX,
    Json,
    check_json_value,
)

__all__ = [
    "DEPTH_MAX",
    "ENVELOPED_DEPTH_MAX",
    "INTEGER_DIGITS_MAX",
    "SAFE_INTEGER_MAX",
    "Json",
    "check_json_value",
    "decode_json",
    "encode_json",
    "equal_json",
    "member_source",
    "pointer",
]
