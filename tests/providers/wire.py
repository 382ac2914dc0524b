"""Bodies as the providers write them, from the objects in them."""

from typing import Any

from blockwire.jsontext import encode_json


def sse(*objects: Any, done: bool = False) -> bytes:
    """Return an event stream without event names, as Chat Completions and Gemini have it."""
    data = [encode_json(item) for item in objects] + [b"[DONE]"] * done
    return b"".join(b"data: " + text + b"\n\n" for text in data)


def named(*objects: dict[str, Any]) -> bytes:
    """Return an event stream whose event names are the types, as Responses and Messages have it."""
    return b"".join(
        b"event: " + str(item["type"]).encode() + b"\ndata: " + encode_json(item) + b"\n\n"
        for item in objects
    )


def lines(*objects: Any) -> bytes:
    """Return one object per line."""
    return b"".join(encode_json(item) + b"\n" for item in objects)


def chat(delta: Any = None, finish: str | None = None, **members: Any) -> dict[str, Any]:
    """Return a chunk of Chat Completions."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return {"id": "c1", "model": "m", "choices": [choice], **members}


def call(index: int | None = 0, arguments: Any = None, **members: Any) -> dict[str, Any]:
    """Return a delta of Chat Completions with one piece of a tool call; ``name`` goes inside."""
    function = {
        name: value
        for name, value in (("name", members.pop("name", None)), ("arguments", arguments))
        if value is not None
    }
    piece = {"index": index, **members, "function": function}
    return {"tool_calls": [{k: v for k, v in piece.items() if v is not None}]}


def start(index: int, block_type: str, **members: Any) -> dict[str, Any]:
    """Return the start of a block of Anthropic Messages."""
    block = {"type": block_type, **members}
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, delta_type: str, **members: Any) -> dict[str, Any]:
    """Return a delta of Anthropic Messages."""
    body = {"type": delta_type, **members}
    return {"type": "content_block_delta", "index": index, "delta": body}


def stop(index: int) -> dict[str, Any]:
    """Return the end of a block of Anthropic Messages."""
    return {"type": "content_block_stop", "index": index}


def message(message_id: str = "msg_1") -> dict[str, Any]:
    """Return the start of a message of Anthropic Messages."""
    usage = {"input_tokens": 7, "output_tokens": 1}
    body = {"id": message_id, "role": "assistant", "model": "m", "content": [], "usage": usage}
    return {"type": "message_start", "message": body}


def ended(stop_reason: str | None, **details: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the two events that end a message of Anthropic Messages."""
    body = {"stop_reason": stop_reason, **details}
    return (
        {"type": "message_delta", "delta": body, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    )


def item(index: int, item_type: str, *, done: bool = False, **members: Any) -> dict[str, Any]:
    """Return the start or the end of an output item of a response."""
    name = "response.output_item.done" if done else "response.output_item.added"
    return {"type": name, "output_index": index, "item": {"type": item_type, **members}}


def response(status: str, *output: Any, **members: Any) -> dict[str, Any]:
    """Return the event that ends a response."""
    body = {"id": "r", "model": "m", "status": status, "output": list(output), **members}
    return {"type": f"response.{status}", "response": body}


def parts(*items: Any, finish: str | None = None, **members: Any) -> dict[str, Any]:
    """Return a chunk of Gemini."""
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(items)}}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "modelVersion": "m", **members}


def ollama(*, done: bool = False, **members: Any) -> dict[str, Any]:
    """Return a line of ``/api/chat``; what is not a message member goes beside it."""
    inside = {k: members.pop(k) for k in ("content", "thinking", "tool_calls") if k in members}
    return {"model": "m", "message": {"role": "assistant", **inside}, "done": done, **members}
