"""The bounds and choices of a gateway, each with its unit.

Spec: docs/spec/gateway/limits.md.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from blockwire.archives import LINE_BYTES_MAX
from blockwire.gateway.turns.accounts import Prices

__all__ = ["EXTERNAL_ENGINE", "EngineProfile", "GatewaySettings"]

EXTERNAL_ENGINE: Final = "external"
"""The engine that is always there: an outside producer posts the events of its turns."""


class EngineProfile(Struct, frozen=True, kw_only=True):
    """What is known of a configured engine without running it.

    Attributes:
        model: Default model, named in ``turn.started`` when the submit names none.
        provider: Named in ``turn.started``.
        system: System prompt of turns whose conversation has none.
        is_external: An outside producer posts the events; nothing runs here.
        is_replay: It plays what was recorded, whatever is asked.
        takes_answers: While it runs, it can go on after its question was answered.
        prices: What its tokens cost; None where nobody said.
    """

    model: str | None = None
    provider: str | None = None
    system: str | None = None
    is_external: bool = False
    is_replay: bool = False
    takes_answers: bool = False
    prices: Prices | None = None


class GatewaySettings(Struct, frozen=True, kw_only=True):
    """What a gateway allows. A refusal by one of these bounds says ``limit_exceeded``.

    Attributes:
        engine_default: Engine of a submit that names none; None takes the first configured one,
            else ``external``.
        body_bytes_max: One request body, also of a message or a submit.
        event_bytes_max: One NDJSON line of an outside producer.
        request_bytes_max: Messages of one engine request; older turns are left out beyond it.
        turn_bytes_max: Events of one turn of an outside producer, encoded.
        inline_body_bytes_max: One request body of a message or a submit with files in it; without
            them ``body_bytes_max`` counts.
        attachment_bytes_max: One attachment.
        attachments_tenant_bytes_max: All attachments of one tenant, and of the conversations without
            one; 0 for no bound.
        attachments_bytes_max: All attachments, each content once; 0 for no bound.
        attachment_unnamed_s_max: An attachment that no message names for so long is removed.
        uploads_max: Uploads of attachments at the same time.
        uploads_tenant_max: Those of one tenant, so that the others have a place.
        turns_in_flight_max: Turns that are running, of all conversations.
        queue_max: Turns that wait for one conversation.
        queue_bytes_max: Bodies of all turns that wait, of all conversations.
        conversations_cached_max: Idle conversations kept in memory.
        page_items_max: Items of one list page.
        page_bytes_max: JSON bytes of one page of conversations, messages or events.
        snapshot_messages_max: Finished messages of one snapshot.
        snapshot_bytes_max: JSON bytes of the finished messages of one snapshot.
        wait_s_max: Longest ``wait=S``.
        batch_events_max: Events of one commit, and events an engine may be ahead of its commits.
        external_idle_s: An outside producer that is silent for longer has its turn ended.
        store_retries_max: Attempts to store the end of a turn when the store fails; after them
            the next request for the conversation tries again.
        store_retry_first_s: Pause before the first such attempt; it doubles.
        store_retry_pause_s_max: Longest such pause.
        import_bytes_max: One archive, all of its lines.
        import_line_bytes_max: One line of an archive.
        import_conversations_max: Conversations of one archive.
        stop_s_max: How long a stop waits for running turns to be ended in the store.
        upkeep_interval_s: Between two rounds of background work; 0 for never.
        keep_events_s: Events of finished turns stay in the log so long, their messages for ever; 0
            for no bound.
        keep_conversation_bytes: Frames of one log, the oldest of finished turns leave; 0 for no
            bound.
        keep_total_bytes: Frames of all logs, the oldest leave; 0 for no bound.
        keep_pairs_s: A cursor inside a merged delta gets exactly what it lacks for so long, then a
            snapshot; 0 for no bound.
    """

    engine_default: str | None = None
    body_bytes_max: int = 1_048_576
    event_bytes_max: int = 1_048_576
    request_bytes_max: int = 4_194_304
    turn_bytes_max: int = 67_108_864
    inline_body_bytes_max: int = 8_388_608
    attachment_bytes_max: int = 67_108_864
    attachments_tenant_bytes_max: int = 10_737_418_240
    attachments_bytes_max: int = 53_687_091_200
    attachment_unnamed_s_max: float = 86_400.0
    uploads_max: int = 16
    uploads_tenant_max: int = 8
    turns_in_flight_max: int = 10_000
    queue_max: int = 16
    queue_bytes_max: int = 67_108_864
    conversations_cached_max: int = 4_096
    page_items_max: int = 200
    page_bytes_max: int = 1_048_576
    snapshot_messages_max: int = 50
    snapshot_bytes_max: int = 65_536
    wait_s_max: float = 300.0
    batch_events_max: int = 1_024
    external_idle_s: float = 3_600.0
    store_retries_max: int = 720
    store_retry_first_s: float = 0.05
    store_retry_pause_s_max: float = 5.0
    import_bytes_max: int = 4_294_967_296
    import_line_bytes_max: int = LINE_BYTES_MAX
    import_conversations_max: int = 10_000
    stop_s_max: float = 10.0
    upkeep_interval_s: float = 60.0
    keep_events_s: float = 0.0
    keep_conversation_bytes: int = 0
    keep_total_bytes: int = 0
    keep_pairs_s: float = 0.0

    def __post_init__(self) -> None:
        assert self.body_bytes_max <= self.request_bytes_max, "a question must fit its request"
