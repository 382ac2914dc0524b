"""The options of a turn that reach a provider: a list of names, each checked, each with its place.

Spec: docs/spec/gateway/engines.md, "Options". What is not listed is refused by name: an option
that silently did nothing would be worse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, cast

from msgspec import Struct

from blockwire.errors import EngineError, RemoteProtocolError
from blockwire.jsontext import Json, decode_json

__all__ = ["OPTIONS", "HttpApi", "Tool", "place_options", "read_tools"]

HttpApi = Literal["openai-chat", "openai-responses", "anthropic", "gemini", "ollama-chat"]

OptionKind = Literal["number", "count", "boolean", "text", "texts", "tools", "choice"]


class _Option(NamedTuple):
    """What an option holds, and where in the body it goes (nowhere: the body's own matter)."""

    kind: OptionKind
    path: tuple[str, ...] = ()


_TOOLS: Final[dict[str, _Option]] = {"tools": _Option("tools"), "tool_choice": _Option("choice")}


def _options(**members: _Option) -> Mapping[str, _Option]:
    return MappingProxyType({**members, **_TOOLS})


_CONFIG: Final = "generationConfig"

OPTIONS: Final[Mapping[HttpApi, Mapping[str, _Option]]] = MappingProxyType(
    {
        "openai-chat": _options(
            max_tokens=_Option("count", ("max_tokens",)),
            max_completion_tokens=_Option("count", ("max_completion_tokens",)),
            temperature=_Option("number", ("temperature",)),
            top_p=_Option("number", ("top_p",)),
            stop=_Option("texts", ("stop",)),
            seed=_Option("count", ("seed",)),
            presence_penalty=_Option("number", ("presence_penalty",)),
            frequency_penalty=_Option("number", ("frequency_penalty",)),
            reasoning_effort=_Option("text", ("reasoning_effort",)),
            parallel_tool_calls=_Option("boolean", ("parallel_tool_calls",)),
        ),
        "openai-responses": _options(
            max_tokens=_Option("count", ("max_output_tokens",)),
            temperature=_Option("number", ("temperature",)),
            top_p=_Option("number", ("top_p",)),
            reasoning_effort=_Option("text", ("reasoning", "effort")),
            reasoning_summary=_Option("text", ("reasoning", "summary")),
            verbosity=_Option("text", ("text", "verbosity")),
            parallel_tool_calls=_Option("boolean", ("parallel_tool_calls",)),
        ),
        "anthropic": _options(
            max_tokens=_Option("count", ("max_tokens",)),
            temperature=_Option("number", ("temperature",)),
            top_p=_Option("number", ("top_p",)),
            top_k=_Option("count", ("top_k",)),
            stop=_Option("texts", ("stop_sequences",)),
            thinking_tokens=_Option("count", ("thinking", "budget_tokens")),
        ),
        "gemini": _options(
            max_tokens=_Option("count", (_CONFIG, "maxOutputTokens")),
            temperature=_Option("number", (_CONFIG, "temperature")),
            top_p=_Option("number", (_CONFIG, "topP")),
            top_k=_Option("count", (_CONFIG, "topK")),
            stop=_Option("texts", (_CONFIG, "stopSequences")),
            seed=_Option("count", (_CONFIG, "seed")),
            thinking_tokens=_Option("count", (_CONFIG, "thinkingConfig", "thinkingBudget")),
            include_thoughts=_Option("boolean", (_CONFIG, "thinkingConfig", "includeThoughts")),
        ),
        "ollama-chat": _options(
            max_tokens=_Option("count", ("options", "num_predict")),
            temperature=_Option("number", ("options", "temperature")),
            top_p=_Option("number", ("options", "top_p")),
            top_k=_Option("count", ("options", "top_k")),
            stop=_Option("texts", ("options", "stop")),
            seed=_Option("count", ("options", "seed")),
            context_tokens=_Option("count", ("options", "num_ctx")),
            think=_Option("boolean", ("think",)),
            keep_alive=_Option("text", ("keep_alive",)),
        ),
    }
)

_KINDS: Final[Mapping[OptionKind, tuple[Callable[[Json], bool], str]]] = MappingProxyType(
    {
        "number": (lambda v: isinstance(v, int | float) and v is not True and v is not False, "a number"),
        "count": (lambda v: type(v) is int and v >= 0, "an integer that is not negative"),
        "boolean": (lambda v: isinstance(v, bool), "true or false"),
        "text": (lambda v: isinstance(v, str), "a string"),
        "texts": (lambda v: isinstance(v, list) and all(isinstance(i, str) for i in v), "an array of strings"),
        "tools": (lambda v: isinstance(v, list), "an array of tools"),
        "choice": (lambda v: isinstance(v, str), '"auto", "none", "required" or the name of a tool'),
    }
)  # fmt: skip


class Tool(Struct, frozen=True):
    """A tool that the model may call; ``parameters`` is a JSON Schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Json]


def place_options(api: HttpApi, options: Mapping[str, Json], body: dict[str, Json]) -> None:
    """Put the options that have a place into ``body``.

    Raises:
        EngineError: ``invalid_option``, naming the option and what is allowed.
    """
    allowed = OPTIONS[api]
    for name, value in options.items():
        option = allowed.get(name)
        if option is None:
            raise _refuse(f"There is no option {name!r} here; there are {', '.join(allowed)}.")
        test, expected = _KINDS[option.kind]
        if not test(value):
            raise _refuse(f"The option {name} is {expected}.")
        if option.path:
            _put(body, option.path, value)


def _put(body: dict[str, Json], path: Sequence[str], value: Json) -> None:
    *outer, last = path
    for name in outer:
        body = cast("dict[str, Json]", body.setdefault(name, {}))
    body[last] = value


def _refuse(sentence: str) -> EngineError:
    return EngineError("invalid_option", sentence)


def read_tools(options: Mapping[str, Json]) -> list[Tool]:
    """Return the tools of the options, checked by :func:`place_options` already to be an array.

    A tool is ``{name, description?, parameters?}``. A schema whose keys are not snake_case comes
    as text in ``parameters_json`` instead.

    Raises:
        EngineError: ``invalid_option``.
    """
    return [_read_tool(item) for item in cast("list[Json]", options.get("tools", []))]


def _read_tool(item: Json) -> Tool:
    if not isinstance(item, dict) or not isinstance(item.get("name"), str) or not item["name"]:
        raise _refuse("Each of the tools is an object with a name.")
    name = cast("str", item["name"])
    description = item.get("description", "")
    parameters: Json = item.get("parameters", {"type": "object", "properties": {}})
    source = item.get("parameters_json")
    if isinstance(source, str):
        try:
            parameters = decode_json(source.encode())
        except (RemoteProtocolError, UnicodeEncodeError):
            raise _refuse(f"parameters_json of the tool {name} is not JSON.") from None
    if not isinstance(description, str) or not isinstance(parameters, dict):
        raise _refuse(f"The tool {name} has a description in text and parameters in an object.")
    return Tool(name, description, parameters)
