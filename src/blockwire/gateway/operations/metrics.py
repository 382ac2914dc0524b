"""The figures of a gateway as Prometheus reads them.

Spec: docs/spec/gateway/operations.md, "Metrics"; docs/reference/metrics.md lists :data:`METRICS`. Nothing is
computed until somebody asks; what is live (readers, lag) is looked at then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Literal, NamedTuple

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from blockwire import __version__
from blockwire.gateway.operations.figures import Figures, Histogram
from blockwire.gateway.service import GatewayService
from blockwire.gateway.streams.hub import Hub

__all__ = ["CONTENT_TYPE_LATEST", "METRICS", "Exposition", "MetricRow"]

Kind = Literal["counter", "gauge", "histogram"]


class MetricRow(NamedTuple):
    """One family.

    Attributes:
        name: As it is exposed; counters end in ``_total``.
        kind: Of Prometheus.
        labels: Their names.
        help: What is counted.
    """

    name: str
    kind: Kind
    labels: tuple[str, ...]
    help: str


METRICS: Final[tuple[MetricRow, ...]] = (
    MetricRow("blockwire_build_info", "gauge", ("version",), "1, with the version as its label"),
    MetricRow("blockwire_http_requests_total", "counter", ("method", "route", "status"),
              "Requests that are over; status 499 means that the peer left"),
    MetricRow("blockwire_http_request_seconds", "histogram", ("route",),
              "From the head of a request to the end of its answer, streams included"),
    MetricRow("blockwire_http_request_bytes_total", "counter", ("route",),
              "Bodies of requests, uploads of events and attachments included"),
    MetricRow("blockwire_http_response_bytes_total", "counter", ("route",),
              "Bodies of answers, but for event streams"),
    MetricRow("blockwire_http_refusals_total", "counter", ("code",), "Refusals by their code"),
    MetricRow("blockwire_turns_total", "counter", ("engine", "status"), "Turns that ended"),
    MetricRow("blockwire_turn_seconds", "histogram", ("engine",), "From start to end of a turn"),
    MetricRow("blockwire_turns_running", "gauge", (), "Turns that are not over"),
    MetricRow("blockwire_turns_queued", "gauge", (), "Turns that wait for another to end"),
    MetricRow("blockwire_tokens_total", "counter", ("engine", "kind"),
              "Tokens of models, input and output, as the turns report them"),
    MetricRow("blockwire_events_total", "counter", (), "Events that were committed"),
    MetricRow("blockwire_event_bytes_total", "counter", (), "Bytes of these, as the owner gets them"),
    MetricRow("blockwire_commit_seconds", "histogram", (),
              "From handing a change to the store until it is durable"),
    MetricRow("blockwire_commits_waiting", "gauge", (), "Changes that the store has not answered yet"),
    MetricRow("blockwire_store_errors_total", "counter", ("code",), "Changes that the store failed"),
    MetricRow("blockwire_readers", "gauge", (), "Event streams that are open"),
    MetricRow("blockwire_readers_lagging", "gauge", (), "Of these, those that are behind"),
    MetricRow("blockwire_readers_dropped_total", "counter", (),
              "Event streams that were cut off: by a failure, or a stop while they did not read"),
    MetricRow("blockwire_reader_lag_events", "gauge", (),
              "Events by which the reader that is furthest behind is behind"),
    MetricRow("blockwire_conversations_read", "gauge", (), "Conversations that somebody reads live"),
    MetricRow("blockwire_upkeep_runs_total", "counter", ("job", "outcome"),
              "Runs of background jobs: compaction, retention, collection of orphans"),
    MetricRow("blockwire_upkeep_seconds_total", "counter", ("job",), "Time that they took"),
    MetricRow("blockwire_upkeep_items_total", "counter", ("job",), "Rows or files that they dealt with"),
)  # fmt: skip
"""Every family of ours; those of the process (``process_*``) come from the library."""

Samples = Iterable[tuple[tuple[str, ...], float]]
Histograms = Iterable[tuple[tuple[str, ...], Histogram]]


class Exposition(Collector):
    """Makes the answer of ``/metrics``.

    Args:
        service: Counts, and knows its turns.
        hub: Knows its readers.
    """

    def __init__(self, service: GatewayService, hub: Hub) -> None:
        self._service = service
        self._hub = hub
        # Its own: what other code of this process registers is not ours to publish.
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    def text(self) -> bytes:
        """Return the exposition."""
        return generate_latest(self._registry)

    def describe(self) -> Iterable[Metric]:
        """Return nothing: the names are known without collecting."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield every family."""
        figures = self._service.observer.figures
        samples, histograms = _samples(figures, self._live()), _histograms(figures)
        for row in METRICS:
            if row.kind == "histogram":
                family = HistogramMetricFamily(row.name, row.help, labels=row.labels)
                for labels, histogram in histograms[row.name]:
                    family.add_metric(labels, [*histogram.cumulative()], histogram.sum_s)
                yield family
                continue
            make: Callable[..., CounterMetricFamily | GaugeMetricFamily]
            make = CounterMetricFamily if row.kind == "counter" else GaugeMetricFamily
            single = make(row.name, row.help, labels=row.labels)
            for labels, value in samples[row.name]:
                single.add_metric(labels, value)
            yield single

    def _live(self) -> dict[str, float]:
        service, readers = self._service, self._hub.readers()
        return {
            "blockwire_turns_running": service.turns_in_flight,
            "blockwire_turns_queued": service.turns_queued,
            "blockwire_readers": readers.connected,
            "blockwire_readers_lagging": readers.lagging,
            "blockwire_reader_lag_events": readers.lag_events,
            "blockwire_readers_dropped_total": readers.dropped,
            "blockwire_conversations_read": self._hub.channel_count,
        }


def _samples(figures: Figures, live: Mapping[str, float]) -> dict[str, Samples]:
    return {
        "blockwire_build_info": [((__version__,), 1)],
        "blockwire_http_requests_total": figures.requests.items(),
        "blockwire_http_request_bytes_total": figures.request_bytes.items(),
        "blockwire_http_response_bytes_total": figures.response_bytes.items(),
        "blockwire_http_refusals_total": figures.refusals.items(),
        "blockwire_turns_total": figures.turns.items(),
        "blockwire_tokens_total": figures.tokens.items(),
        "blockwire_events_total": [((), figures.events)],
        "blockwire_event_bytes_total": [((), figures.event_bytes)],
        "blockwire_commits_waiting": [((), figures.commits_waiting)],
        "blockwire_store_errors_total": figures.store_errors.items(),
        "blockwire_upkeep_runs_total": figures.upkeep_runs.items(),
        "blockwire_upkeep_seconds_total": figures.upkeep_seconds.items(),
        "blockwire_upkeep_items_total": figures.upkeep_items.items(),
        **{name: [((), value)] for name, value in live.items()},
    }


def _histograms(figures: Figures) -> dict[str, Histograms]:
    return {
        "blockwire_http_request_seconds": [((r,), h) for r, h in figures.request_seconds.items()],
        "blockwire_turn_seconds": [((e,), h) for e, h in figures.turn_seconds.items()],
        "blockwire_commit_seconds": [((), figures.commit_seconds)],
    }
