"""What a gateway tells those who run it: log lines and figures, never content."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from blockwire.content import TurnEnded, TurnStarted
from blockwire.errors import StoreError
from blockwire.gateway.access.auth import Auth, Token, hash_token
from blockwire.gateway.operations.figures import LABEL_SETS_MAX, OTHER, Counts, Figures, Histogram
from blockwire.gateway.operations.metrics import METRICS
from blockwire.gateway.operations.observer import REQUEST_MEMBERS, TURN_MEMBERS
from blockwire.gateway.routes import OPERATIONS
from blockwire.ports import Append, Appended, EngineRequest
from blockwire.stores import MemoryStore
from tests.gateway.core.world import ScriptEngine, prose
from tests.gateway.http.surface import Surface, body, json_of, peers, surface

pytestmark = pytest.mark.anyio

CANARY = "canary-3f1c"
TRACE = "00-" + "ab" * 16 + "-" + "cd" * 8 + "-01"


def lines(caplog: pytest.LogCaptureFixture, name: str) -> list[dict[str, Any]]:
    return [getattr(r, "members", {}) for r in caplog.records if r.name == f"blockwire.{name}"]


async def figures(s: Surface) -> dict[str, dict[tuple[str, ...], float]]:
    """Return the samples of ``/metrics``: name -> values of labels -> value."""
    response = await s.client.get("/metrics")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/plain")
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(response.text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sample.labels.values())] = sample.value
    return found


# log lines --------------------------------------------------------------------------------
@pytest.mark.requirement("gateway:operations:log-route")
async def test_a_request_is_told_by_route_and_ids(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with surface() as s:
        made = await s.client.post("/v1/conversations", **body({"title": CANARY}))
        conversation_id = json_of(made)["id"]
        await s.client.get(f"/v1/conversations/{conversation_id}", headers={"traceparent": TRACE})

    created, read = lines(caplog, "access")
    assert created["route"] == "/v1/conversations"
    assert (created["method"], created["status"], created["caller"]) == ("POST", 201, "local")
    assert created["bytes"] == len(made.content)
    assert created["received_bytes"] == len(body({"title": CANARY})["content"])
    assert read["route"] == "/v1/conversations/{conversation_id}"
    assert read["conversation_id"] == conversation_id
    assert read["trace_id"] == "ab" * 16
    assert {*created, *read} <= REQUEST_MEMBERS.keys()


SECRET_REQUESTS = [
    # method, target, status, code
    ("GET", f"/v1/conversations/{CANARY}", 404, "conversation_not_found"),
    ("GET", f"/v1/conversations/{CANARY}/turns/{CANARY}", 404, "conversation_not_found"),
    ("GET", f"/{CANARY}", 404, "not_found"),
    ("GET", f"/v1/conversations?{CANARY}=1", 400, "unknown_parameter"),
    ("DELETE", "/healthz", 405, "method_not_allowed"),
    (CANARY.upper(), "/healthz", 405, "method_not_allowed"),
]


@pytest.mark.requirement("gateway:operations:log-route")
@pytest.mark.parametrize(("method", "target", "status", "code"), SECRET_REQUESTS)
async def test_a_refused_request_leaves_nothing_of_itself_behind(
    caplog: pytest.LogCaptureFixture, method: str, target: str, status: int, code: str
) -> None:
    caplog.set_level(logging.DEBUG, logger="blockwire")
    async with surface() as s:
        await s.client.request(
            method, target, headers={"authorization": f"Bearer {CANARY}", "x-secret": CANARY}
        )
        told = await s.client.get("/metrics")

    line = lines(caplog, "access")[0]
    assert (line["status"], line["code"]) == (status, code)
    assert CANARY not in repr([r.__dict__ for r in caplog.records if r.name != "httpx"]).lower()
    assert CANARY not in told.text.lower()


async def test_an_answer_that_nobody_waited_for_is_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with surface() as s, peers(s.app) as connect:
        conversation_id = await s.bare_conversation()
        stream = await connect(f"/v1/conversations/{conversation_id}/events")
        await stream.until_type("subscription.ready")
        gone = await connect("/v1/conversations", method="POST", uploads=True)
        stream.leave()
        gone.leave()
        await stream.done.wait()
        await gone.done.wait()

    statuses = {line["route"]: line["status"] for line in lines(caplog, "access")}
    assert statuses == {"/v1/conversations/{conversation_id}/events": 200, "/v1/conversations": 499}


@pytest.mark.requirement("gateway:operations:log-off")
async def test_the_lines_of_requests_can_be_silenced(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with surface() as s:
        s.world.service.observer.logs_requests = False
        await s.client.get("/healthz")
        await s.world.ask(await s.world.conversation())

    assert lines(caplog, "access") == []
    assert len(lines(caplog, "turns")) == 1


async def failing(request: EngineRequest) -> AsyncIterator[Any]:
    for event in prose(request.turn_id, "b1", CANARY):
        yield event
    yield TurnEnded(
        request.turn_id,
        "failed",
        usage={"input_tokens": 7, "output_tokens": 5, "cache_read_tokens": 2},
    )


async def test_the_end_of_a_turn_is_told_without_its_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    engines = {"script": ScriptEngine(failing)}  # type: ignore[arg-type]
    async with surface(engines=engines) as s:
        conversation_id = await s.world.conversation()
        turn = await s.world.ask(conversation_id, CANARY, model="m-1")
        found = await figures(s)

    (line,) = lines(caplog, "turns")
    assert line["turn_id"] == turn["id"]
    assert line["conversation_id"] == conversation_id
    assert (line["engine"], line["model"], line["status"]) == ("script", "m-1", "failed")
    assert (line["input_tokens"], line["output_tokens"]) == (7, 5)
    assert line.keys() <= TURN_MEMBERS.keys()
    assert CANARY not in repr([r.__dict__ for r in caplog.records])
    assert found["blockwire_turns_total"] == {("script", "failed"): 1}
    assert found["blockwire_tokens_total"] == {("script", "input"): 7, ("script", "output"): 5}
    assert found["blockwire_turn_seconds_count"] == {("script",): 1}


# figures ----------------------------------------------------------------------------------
@pytest.mark.requirement("gateway:operations:metrics")
async def test_every_family_is_exposed_and_none_besides() -> None:
    async with surface() as s:
        response = await s.client.get("/metrics")

    families = list(text_string_to_metric_families(response.text))
    ours = {f.name: f.type for f in families if f.name.startswith("blockwire_")}
    assert ours == {row.name.removesuffix("_total"): row.kind for row in METRICS}
    assert all(f.documentation for f in families)
    assert len(METRICS) == len({row.name for row in METRICS})


@pytest.mark.requirement("gateway:operations:metrics-scope")
async def test_only_the_scope_metrics_lets_in() -> None:
    scraper = Token("scraper", hash_token("m-token"), frozenset({"metrics"}))
    reader = Token(
        "reader", hash_token("r-token"), frozenset({"read", "write", "reasoning", "admin"})
    )
    async with surface(auth=Auth((scraper, reader))) as s:
        statuses = {}
        for token in ("", "m-token", "r-token"):
            headers = {"authorization": f"Bearer {token}"} if token else {}
            statuses[token] = (await s.client.get("/metrics", headers=headers)).status_code
        other = await s.client.get("/v1/conversations", headers={"authorization": "Bearer m-token"})

    assert statuses == {"": 401, "m-token": 200, "r-token": 403}
    assert other.status_code == 403


@pytest.mark.requirement("gateway:operations:metrics-tenant")
async def test_no_tenant_counts_the_work_of_others() -> None:
    scraper = Token("scraper", hash_token("m-token"), frozenset({"metrics"}), "acme")
    async with surface(auth=Auth((scraper,))) as s:
        answer = await s.client.get("/metrics", headers={"authorization": "Bearer m-token"})

    assert answer.status_code == 403
    assert "blockwire_" not in answer.text


async def test_what_happens_is_counted() -> None:
    async with surface() as s, peers(s.app) as connect:
        conversation_id = await s.world.conversation()
        await s.world.ask(conversation_id)
        stream = await connect(f"/v1/conversations/{conversation_id}/events?after=now")
        await stream.until_type("subscription.ready")
        await s.client.get("/v1/conversations/none")
        found = await figures(s)
        events = await s.world.events(conversation_id)

    read = "/v1/conversations/{conversation_id}"
    assert found["blockwire_http_requests_total"][("GET", read, "404")] == 1
    assert found["blockwire_http_refusals_total"][("conversation_not_found",)] == 1
    assert found["blockwire_http_request_seconds_count"][(read,)] == 1
    assert found["blockwire_events_total"][()] == len(events)
    assert found["blockwire_event_bytes_total"][()] > 0
    assert found["blockwire_commit_seconds_count"][()] > 0
    assert found["blockwire_commits_waiting"][()] == 0
    assert found["blockwire_turns_total"] == {("script", "completed"): 1}
    assert found["blockwire_turns_running"][()] == 0
    assert found["blockwire_readers"][()] == 1
    assert found["blockwire_readers_lagging"][()] == 0
    assert found["blockwire_conversations_read"][()] == 1


async def test_a_reader_that_is_behind_is_counted_with_what_it_lacks() -> None:
    async with surface() as s, peers(s.app) as connect:
        conversation_id = await s.bare_conversation()
        stream = await connect(f"/v1/conversations/{conversation_id}/events?after=now")
        await stream.until_type("subscription.ready")
        stream.stop_reading()
        for number in range(3):
            await s.log(
                conversation_id, TurnStarted(f"turn_{number}", role="assistant", created_at=1)
            )
        await stream.is_stuck.wait()
        behind = await figures(s)
        stream.read_on()
        await stream.until_count(4)
        current = await figures(s)

    assert behind["blockwire_readers_lagging"][()] == 1
    assert behind["blockwire_reader_lag_events"][()] >= 1
    assert current["blockwire_readers_lagging"][()] == 0
    assert current["blockwire_reader_lag_events"][()] == 0


class FullStore(MemoryStore):
    """A store whose disk is full."""

    async def append(self, change: Append) -> Appended:
        del change
        raise StoreError("store_full", "no room", retryable=True)


async def test_a_store_that_fails_is_counted() -> None:
    async with surface(store=FullStore()) as s:
        conversation_id = await s.world.conversation()
        response = await s.client.post(
            f"/v1/conversations/{conversation_id}/turns", **body({"content": "Hi"})
        )
        found = await figures(s)

    assert (response.status_code, response.headers["retry-after"]) == (503, "5")
    assert found["blockwire_store_errors_total"] == {("store_full",): 1}
    assert found["blockwire_commits_waiting"][()] == 0
    assert found["blockwire_events_total"][()] == 0


@pytest.mark.requirement("gateway:operations:metrics-bound")
def test_labels_of_one_family_are_bounded() -> None:
    counts, figures = Counts(), Figures()

    for number in range(3 * LABEL_SETS_MAX):
        counts.add((str(number), "x"))
        figures.observe_turn(str(number), 1)

    assert len(counts) == LABEL_SETS_MAX + 1
    assert counts[OTHER, OTHER] == 2 * LABEL_SETS_MAX
    assert len(figures.turn_seconds) <= LABEL_SETS_MAX + 1


def test_routes_fit_the_bound_many_times() -> None:
    statuses, methods = 30, 3

    assert len(OPERATIONS) * statuses * methods < 10 * LABEL_SETS_MAX


BUCKETS = [
    # seconds, cumulative counts of 1, 2, +Inf
    ([], [0, 0, 0]),
    ([0.0, 1.0], [2, 2, 2]),
    ([1.5, 2.0, 3.0], [0, 2, 3]),
    ([1e9], [0, 0, 1]),
]


@pytest.mark.parametrize(("seconds", "counts"), BUCKETS)
def test_a_histogram_counts_what_is_not_above_a_bound(
    seconds: list[float], counts: list[int]
) -> None:
    histogram = Histogram((1.0, 2.0))

    for value in seconds:
        histogram.observe(value)

    assert [count for _, count in histogram.cumulative()] == counts
    assert [bound for bound, _ in histogram.cumulative()] == ["1.0", "2.0", "+Inf"]
    assert histogram.sum_s == sum(seconds)


# stopping ---------------------------------------------------------------------------------
@pytest.mark.requirement("gateway:operations:stop-order")
async def test_a_gateway_that_drains_says_so_first_and_refuses_new_work() -> None:
    async with surface() as s:
        conversation_id = await s.world.conversation()
        await s.app.drain()

        ready = await s.client.get("/readyz")
        alive = await s.client.get("/healthz")
        asked = await s.client.post(
            f"/v1/conversations/{conversation_id}/turns", **body({"content": "Hi"})
        )
        read = await s.client.get(f"/v1/conversations/{conversation_id}")

    assert alive.status_code == 200
    for refused in (ready, asked, read):
        assert refused.status_code == 503
        assert json_of(refused)["error"]["code"] == "gateway_stopping"
        assert refused.headers["retry-after"]
