"""Calls among the output items of an OpenAI response: who runs them, and what they are told.

Spec: docs/spec/providers.md, "OpenAI Responses". Above is ``responses_items``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from blockwire.jsontext import Json, encode_json, member_source
from blockwire.providers.members import text_of

__all__ = [
    "APPROVAL",
    "CLIENT_CALLS",
    "PROGRAM",
    "SENT_BACK",
    "call_name",
    "client_input",
    "is_call",
    "is_client_call",
    "output_member",
    "server_input",
]

# Calls that the client is to run, and the members that hold their input. Every other ``*_call``
# is run by the server; handing one out would run it twice.
CLIENT_CALLS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "function_call": ("arguments",),
        "custom_tool_call": ("input",),
        "computer_call": ("action", "actions"),
        "local_shell_call": ("action",),
        "shell_call": ("action",),
        "apply_patch_call": ("operation",),
        "tool_search_call": ("arguments",),
    }
)
APPROVAL: Final = "mcp_approval_request"
PROGRAM: Final = "program"
# These have the name of what they call, which may come with their end; the others that of their
# type.
_NAMED: Final = frozenset({"function_call", "custom_tool_call", "mcp_call", APPROVAL})
# Members of a call without which a result of it, or the call itself, cannot go back.
SENT_BACK: Final = (
    "approval_request_id",
    "caller",
    "container_id",
    "environment",
    "fingerprint",
    "namespace",
    "pending_safety_checks",
    "server_label",
)
# With its tools, of which this is one, xAI tells what it runs itself as custom calls. A client's
# custom tools are declared, by themselves or in a namespace.
_X_SEARCH: Final = "x_search"
_CUSTOM_TOOLS: Final = frozenset({"custom", "namespace"})
# Where calls that the server runs have their input and their result; the first that is there.
_SERVER_INPUTS: Final = ("action", "arguments", "input")
_SERVER_OUTPUTS: Final = ("output", "outputs", "results", "result")
_SERVER_OBJECT_INPUTS: Final = ("queries", "code", "prompt")


def is_call(item_type: str) -> bool:
    """Return whether items of this type call a tool, whoever runs it."""
    return item_type.endswith("_call") or item_type in {APPROVAL, PROGRAM}


def call_name(item: Mapping[str, Json]) -> str:
    """Return the name of the tool that an item calls; empty where that is not told yet."""
    item_type = text_of(item, "type")
    name = text_of(item, "name")
    return name if name or item_type in _NAMED else item_type.removesuffix("_call")


def is_client_call(item: Mapping[str, Json], tools: Sequence[Json]) -> bool:
    """Return whether the client runs a call; some that it usually runs a server may run.

    Args:
        item: The call.
        tools: What the response says may be called; nothing where it does not say.
    """
    item_type = text_of(item, "type")
    if item_type == "tool_search_call":
        return text_of(item, "execution") == "client"
    if item_type == "shell_call":
        place = item.get("environment")
        return not (isinstance(place, dict) and text_of(place, "type").startswith("container"))
    if item_type == "custom_tool_call":
        known = [tool for tool in tools if isinstance(tool, dict)]
        if any(text_of(tool, "name") == text_of(item, "name") for tool in known):
            return True
        types = {text_of(tool, "type") for tool in known}
        return not types or (_X_SEARCH not in types and not types.isdisjoint(_CUSTOM_TOOLS))
    return item_type in CLIENT_CALLS


def client_input(item_type: str, item: Mapping[str, Json], source: bytes) -> str:
    """Return the input of a call for the client as its text; empty where the item has none."""
    names = CLIENT_CALLS[item_type]
    name = next((name for name in names if item.get(name) is not None), names[0])
    whole = item.get(name)
    if whole is None or isinstance(whole, str):
        return whole or ""
    text = (member_source(source, [name]) or b"").decode()
    # An input is an object: several actions at once are a member of one.
    return text if isinstance(whole, dict) else f'{{"{name}":{text}}}'


def server_input(item: Mapping[str, Json], source: bytes, so_far: str) -> str:
    """Return the input of a call that the server ran, as JSON text where it is JSON.

    Args:
        item: The call as it ended.
        source: Its text.
        so_far: What came of the input in pieces; taken where the item does not repeat it.
    """
    for name in _SERVER_INPUTS:
        value = item.get(name)
        if isinstance(value, str) and value:
            return value
        if value is not None and not isinstance(value, str):
            return (member_source(source, [name]) or b"").decode()
    named: dict[str, Json] = {
        name: item[name] for name in _SERVER_OBJECT_INPUTS if item.get(name) is not None
    }
    if not named and so_far and text_of(item, "type") == "code_interpreter_call":
        named = {"code": so_far}
    return encode_json(named).decode() if named else so_far


def output_member(item: Mapping[str, Json]) -> str:
    """Return the name of the member that holds the result; empty where there is none."""
    return next((name for name in _SERVER_OUTPUTS if item.get(name) is not None), "")
