"""Where spans go: what the variables of OpenTelemetry ask for, if its library is there.

Spec: docs/spec/gateway/operations.md, "Traces". Without ``OTEL_TRACES_EXPORTER`` nothing is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Final, NamedTuple

from blockwire.errors import LocalProtocolError
from blockwire.gateway.operations.tracing import Tracing

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

__all__ = ["TracingChoice", "open_tracing"]

EXPORTERS_GROUP: Final = "opentelemetry_traces_exporter"
"""Entry points of installed exporters, by the names that the variable takes."""


class TracingChoice(NamedTuple):
    """What makes spans, and sentences about what stands in the way."""

    tracing: Tracing
    warnings: tuple[str, ...]


def open_tracing(env: Mapping[str, str]) -> TracingChoice:
    """Return what ``OTEL_TRACES_EXPORTER`` asks for: names with commas, ``none`` or nothing.

    Raises:
        LocalProtocolError: ``invalid_config`` for an exporter that is not installed.
    """
    names = [name.strip() for name in env.get("OTEL_TRACES_EXPORTER", "").split(",")]
    names = [name for name in names if name not in {"", "none"}]
    if not names or env.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return TracingChoice(Tracing(), ())
    try:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        from blockwire.gateway.operations.otel import OtelTracing
    except ImportError:
        sentence = "OTEL_TRACES_EXPORTER is set and nothing makes spans: install blockwire[otel]"
        return TracingChoice(Tracing(), (sentence,))
    exporters = [_exporter(name) for name in names]
    named = {} if env.get("OTEL_SERVICE_NAME") else {"service.name": "blockwire"}
    provider = TracerProvider(resource=Resource.create(named), shutdown_on_exit=False)
    for exporter in exporters:
        provider.add_span_processor(BatchSpanProcessor(exporter))
    return TracingChoice(OtelTracing(provider), ())


def _exporter(name: str) -> SpanExporter:
    if name == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        # Standard output says where the gateway listens.
        return ConsoleSpanExporter(out=sys.stderr)
    found = {entry.name: entry for entry in entry_points(group=EXPORTERS_GROUP)}
    if name not in found:
        raise LocalProtocolError(
            "invalid_config",
            f"OTEL_TRACES_EXPORTER: {name} is not installed (pip install "
            f"opentelemetry-exporter-{name}); there are {', '.join(sorted({*found, 'console'}))}",
        )
    make: type[SpanExporter] = found[name].load()
    return make()
