"""Bodies of requests: what they may hold, and what they become.

Spec: docs/spec/gateway/turns.md, "Submit". The doors refuse: an unknown member outside messages, blocks
and metadata is ``unknown_field``, a key that breaks the key rule ``invalid_key``; both with the
JSON Pointer of the first one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, cast

from blockwire.content import (
    NAME_CHARS_MAX,
    Block,
    IdKind,
    Message,
    check_block,
    check_complete_message,
    check_keys,
    check_members,
)
from blockwire.content.fields import Field, is_name
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import Json, pointer

__all__ = [
    "TAGS_MAX",
    "ConversationBody",
    "ForkBody",
    "ResumeBody",
    "SubmitBody",
    "check_idempotency_key",
    "checked_body",
    "read_conversation_body",
    "read_fork_body",
    "read_login_body",
    "read_message_body",
    "read_resume_body",
    "read_retry_body",
    "read_submit_body",
]

TAGS_MAX: Final = 64
"""Tags of one conversation."""

_NewId = Callable[[IdKind], str]

SUBMIT_FIELDS: Final[Mapping[str, Field]] = {
    "content": Field("value", required=True),
    "engine": Field("name"),
    "model": Field("name"),
    "options": Field("object"),
    "if_last_turn": Field("value"),
}
CONVERSATION_FIELDS: Final[Mapping[str, Field]] = {
    "title": Field("value"),
    "tags": Field("value"),
    "system": Field("value"),
    "metadata": Field("value"),
}
RETRY_FIELDS: Final[Mapping[str, Field]] = {
    name: field for name, field in SUBMIT_FIELDS.items() if name != "content"
}
FORK_FIELDS: Final[Mapping[str, Field]] = {"turn_id": Field("id"), "title": Field("value")}
LOGIN_FIELDS: Final[Mapping[str, Field]] = {"token": Field("value", required=True)}
RESUME_FIELDS: Final[Mapping[str, Field]] = {
    "request_id": Field("id", required=True),
    "answer": Field("value", required=True),
}


class SubmitBody(NamedTuple):
    """What a submit asks for; ``if_last_turn`` only counts when ``has_condition``."""

    content: list[Block]
    engine: str | None
    model: str | None
    options: dict[str, Json] | None
    has_condition: bool
    if_last_turn: str | None


class ConversationBody(NamedTuple):
    """Members of a conversation that a client sets; ``names`` are those that it named."""

    names: frozenset[str]
    title: str | None
    tags: tuple[str, ...]
    system: str | None
    metadata: dict[str, Json] | None


class ForkBody(NamedTuple):
    """Where a fork ends, and its title where it ``has_title`` of its own."""

    turn_id: str | None
    has_title: bool
    title: str | None


class ResumeBody(NamedTuple):
    """An answer to a suspended turn."""

    request_id: str
    answer: Json


def check_idempotency_key(key: str) -> str:
    """Return ``key`` if it may be one.

    Raises:
        RemoteProtocolError: ``invalid_idempotency_key``.
    """
    if not key.strip() or not is_name(key):
        raise RemoteProtocolError(
            "invalid_idempotency_key",
            f"an idempotency key has 1 to {NAME_CHARS_MAX} characters and no controls",
        )
    return key


def checked_body(body: Json, fields: Mapping[str, Field]) -> dict[str, Json]:
    """Return the members of a body that has no others than ``fields``.

    Raises:
        RemoteProtocolError: ``unknown_field``, ``missing_member``, ``invalid_member``,
            ``invalid_name``, ``invalid_key``.
    """
    if not isinstance(body, dict):
        raise RemoteProtocolError("invalid_member", "the body is an object", pointer="")
    for name in body:
        if name not in fields:
            # The key rule comes first: it says more about what is wrong.
            check_keys(body)
            raise RemoteProtocolError(
                "unknown_field", f"the body has {', '.join(fields)}", pointer=pointer([name])
            )
    check_keys(body)
    check_members(body, fields, "")
    return body


def read_submit_body(body: Json, new_id: _NewId) -> SubmitBody:
    """Return what ``body`` asks for; blocks without an id get one.

    Raises:
        RemoteProtocolError: ``unknown_field``, ``missing_member``, ``invalid_member``,
            ``invalid_name``, ``invalid_enum``, ``invalid_key``, ``block_exists``.
    """
    members = checked_body(body, SUBMIT_FIELDS)
    return _read_options(members, _read_content(members["content"], new_id))


def read_retry_body(body: Json, content: list[Block]) -> SubmitBody:
    """Return the submit that asks ``content`` again, in the way that ``body`` says.

    Raises:
        RemoteProtocolError: ``unknown_field``, ``invalid_member``, ``invalid_name``,
            ``invalid_key``.
    """
    return _read_options(checked_body(body, RETRY_FIELDS), content)


def _read_options(members: Mapping[str, Json], content: list[Block]) -> SubmitBody:
    condition = members.get("if_last_turn")
    if condition is not None and not isinstance(condition, str):
        raise RemoteProtocolError("invalid_member", "a turn id or null", pointer="/if_last_turn")
    return SubmitBody(
        content=content,
        engine=cast("str | None", members.get("engine")),
        model=cast("str | None", members.get("model")),
        options=cast("dict[str, Json] | None", members.get("options")),
        has_condition="if_last_turn" in members,
        if_last_turn=condition,
    )


def _read_content(content: Json, new_id: _NewId) -> list[Block]:
    if isinstance(content, str):
        return [{"id": new_id("block"), "type": "prose", "markdown": content}]
    if not isinstance(content, list):
        raise RemoteProtocolError("invalid_member", "text or blocks", pointer="/content")
    blocks: list[Block] = []
    seen: set[Json] = set()
    for index, item in enumerate(content):
        place = pointer(["content", index])
        block = check_block(_named(item, new_id), place)
        if block["id"] in seen:
            raise RemoteProtocolError(
                "block_exists", "block ids are unique in their message", pointer=f"{place}/id"
            )
        seen.add(block["id"])
        blocks.append(block)
    return blocks


def _named(block: Json, new_id: _NewId) -> Json:
    if isinstance(block, dict) and "id" not in block:
        return {"id": new_id("block"), **block}
    return block


def read_conversation_body(body: Json) -> ConversationBody:
    """Return what a client says of a conversation; null takes a member back.

    Raises:
        RemoteProtocolError: ``unknown_field``, ``invalid_member``, ``invalid_name``,
            ``invalid_key``.
    """
    members = checked_body(body, CONVERSATION_FIELDS)
    system, metadata = members.get("system"), members.get("metadata")
    title = _read_title(members.get("title"))
    if system is not None and not isinstance(system, str):
        raise RemoteProtocolError("invalid_member", "a string or null", pointer="/system")
    if metadata is not None and not isinstance(metadata, dict):
        raise RemoteProtocolError("invalid_member", "an object or null", pointer="/metadata")
    return ConversationBody(
        frozenset(members),
        title,
        _read_tags(members.get("tags")),
        system,
        metadata,
    )


def _read_title(title: Json) -> str | None:
    if title is not None and not is_name(title):
        raise RemoteProtocolError("invalid_name", "a name without controls", pointer="/title")
    return cast("str | None", title)


def read_fork_body(body: Json) -> ForkBody:
    """Return what a fork is to be.

    Raises:
        RemoteProtocolError: ``unknown_field``, ``invalid_name``, ``invalid_key``.
    """
    members = checked_body(body, FORK_FIELDS)
    turn_id = cast("str | None", members.get("turn_id"))
    return ForkBody(turn_id, "title" in members, _read_title(members.get("title")))


def _read_tags(tags: Json) -> tuple[str, ...]:
    if tags is None:
        return ()
    if not isinstance(tags, list) or len(tags) > TAGS_MAX:
        raise RemoteProtocolError(
            "invalid_member", f"an array of at most {TAGS_MAX} tags", pointer="/tags"
        )
    for index, tag in enumerate(tags):
        if not is_name(tag) or not cast("str", tag).strip():
            raise RemoteProtocolError(
                "invalid_name", "a name without controls, not blank", pointer=f"/tags/{index}"
            )
    return tuple(cast("list[str]", tags))


def read_message_body(body: Json, *, conversation_id: str, now_ms: int, new_id: _NewId) -> Message:
    """Return a complete message; ``id``, ``status``, ``created_at`` and block ids may be missing.

    Raises:
        RemoteProtocolError: The codes of :func:`~blockwire.content.check_complete_message`,
            ``invalid_key``, and ``invalid_member`` for a message of another conversation.
    """
    if not isinstance(body, dict):
        raise RemoteProtocolError("invalid_member", "a message is an object", pointer="")
    check_keys(body)
    if body.get("conversation_id", conversation_id) != conversation_id:
        raise RemoteProtocolError(
            "invalid_member", "a message of another conversation", pointer="/conversation_id"
        )
    message: Message = dict(body)
    if "id" not in message:
        message = {"id": new_id("message"), **message}
    message.setdefault("status", "completed")
    message.setdefault("created_at", now_ms)
    content = message.get("content")
    if isinstance(content, str | list):
        message["content"] = cast("Json", _read_content(content, new_id))
    return check_complete_message(message)


def read_resume_body(body: Json) -> ResumeBody:
    """Return the answer in ``body``.

    Raises:
        RemoteProtocolError: ``unknown_field``, ``missing_member``, ``invalid_name``,
            ``invalid_key``.
    """
    members = checked_body(body, RESUME_FIELDS)
    return ResumeBody(cast("str", members["request_id"]), members["answer"])


def read_login_body(body: Json) -> str:
    """Return the token in ``body``; no refusal repeats it.

    Raises:
        RemoteProtocolError: ``unknown_field``, ``missing_member``, ``invalid_member``,
            ``invalid_key``.
    """
    token = checked_body(body, LOGIN_FIELDS)["token"]
    if not isinstance(token, str):
        raise RemoteProtocolError("invalid_member", "a token is a string", pointer="/token")
    return token
