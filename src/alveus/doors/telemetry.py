"""Receipts as OpenTelemetry's spans and counts: spec/audit.md, section 6. The extra `otel`; imported where it is used.

A run is a span, from its first receipt to its last, and a receipt an event in it. Neither names a user or an assistant,
and counts name nothing but boundary and status. The same run is the same span, whenever it is sent.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final

from alveus import __version__
from alveus.audit.receipt import Receipt, Status
from alveus.errors import InputError, StoreError

SCOPE: Final = "alveus.audit"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SAID: Final = ("source_durable", "source_present", "destination_present", "capacity", "occupancy")
"""Fields of an event, beside its boundary, status and version, where the receipt has them."""
_AT_ONCE: Final = 512
"""Spans in one request."""


class To(StrEnum):
    """Where spans and counts go."""

    OTLP = "otlp"
    CONSOLE = "console"


def emit(
    receipts: Iterable[Receipt], *, tracer_provider: Any = None, meter_provider: Any = None, ids: RunIds | None = None
) -> int:
    """Hand the receipts to OpenTelemetry; the number of runs. Without providers, to the global ones.

    `ids` is what the tracer provider makes its ids by, where a run is to have the same ones each time.
    Raises InputError where the extra is not installed.
    """
    try:
        from opentelemetry import metrics, trace
    except ImportError as error:
        raise _missing() from error
    tracer = trace.get_tracer(SCOPE, __version__, tracer_provider=tracer_provider)
    meter = metrics.get_meter(SCOPE, __version__, meter_provider=meter_provider)
    counter = meter.create_counter("alveus.receipts", unit="{receipt}", description="Receipts, by boundary and status.")
    runs: dict[str, list[Receipt]] = {}
    for receipt in receipts:
        runs.setdefault(receipt.run_id, []).append(receipt)
        counter.add(1, {"boundary": receipt.boundary.value, "status": receipt.status.value})
    for run_id, run in runs.items():
        if ids is not None:
            ids.run_id = run_id
        _emit_run(tracer, run_id, sorted(run, key=lambda one: one.at_utc), trace.Status, trace.StatusCode)
    return len(runs)


def _missing() -> InputError:
    return InputError("OpenTelemetry is not installed", hint="pip install 'alveus[otel]'")


def _emit_run(tracer: Any, run_id: str, run: list[Receipt], status: Any, code: Any) -> None:
    attributes = {"alveus.run_id": run_id, "alveus.source_version": run[-1].source_version or "unknown"}
    span = tracer.start_span("alveus.run", start_time=nanoseconds(run[0].at_utc), attributes=attributes)
    for receipt in run:
        name = f"{receipt.boundary}.{receipt.status}"
        span.add_event(name, attributes=_event(receipt), timestamp=nanoseconds(receipt.at_utc))
    if run[-1].status is Status.FAILED:
        span.set_status(status(code.ERROR))
    span.end(end_time=nanoseconds(run[-1].at_utc))


def _event(receipt: Receipt) -> dict[str, Any]:
    told = {f"alveus.{name}": getattr(receipt, name) for name in _SAID if getattr(receipt, name) is not None}
    return {"alveus.version": str(receipt.version), **told}


def nanoseconds(at: str) -> int:
    """A receipt's time as OpenTelemetry counts it, since 1970."""
    return (datetime.fromisoformat(at) - _EPOCH) // timedelta(microseconds=1) * 1000


# Sending


class RunIds:
    """Makes a run's ids from its name, so that what is sent twice is one span."""

    run_id = ""

    def generate_trace_id(self) -> int:
        return int.from_bytes(self._digest()[:16]) or 1

    def generate_span_id(self) -> int:
        return int.from_bytes(self._digest()[16:24]) or 1

    def is_trace_id_random(self) -> bool:
        """It is a hash, which is as good."""
        return True

    def _digest(self) -> bytes:
        return sha256(f"alveus.run:{self.run_id}".encode()).digest()


def send(receipts: Iterable[Receipt], to: To) -> int:
    """Send the receipts, as the variables OTEL_… of the SDK say; the number of runs.

    Raises InputError where the extra is not installed, StoreError where what should take them did not.
    """
    try:
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import InMemoryMetricReader
        from opentelemetry.sdk.trace import TracerProvider, sampling
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor

        spans, counts = _exporters(to)
    except ImportError as error:
        raise _missing() from error
    gathering, reader, ids = _Gathering(spans), InMemoryMetricReader(), RunIds()
    ids_of_runs: Any = ids
    tracers = TracerProvider(sampler=sampling.ALWAYS_ON, id_generator=ids_of_runs, shutdown_on_exit=False)
    processor: Any = SimpleSpanProcessor(gathering)  # type: ignore[arg-type,unused-ignore]
    tracers.add_span_processor(processor)
    meters = MeterProvider(metric_readers=[reader], shutdown_on_exit=False)
    try:
        sent = emit(receipts, tracer_provider=tracers, meter_provider=meters, ids=ids)
        gathering.flush()
        found: Any = reader.get_metrics_data()
        if found is not None:
            _took(counts.export(found))
    finally:
        tracers.shutdown()
        meters.shutdown()
        counts.shutdown()
    return sent


def _exporters(to: To) -> tuple[Any, Any]:
    if to is To.CONSOLE:
        from opentelemetry.sdk.metrics.export import ConsoleMetricExporter
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter(out=sys.stdout), ConsoleMetricExporter(out=sys.stdout)
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(), OTLPMetricExporter()


class _Gathering:
    """Hands spans on by many: none is dropped, whatever their number, and a refusal is heard."""

    def __init__(self, exporter: Any) -> None:
        self._exporter = exporter
        self._spans: list[Any] = []

    def export(self, spans: Sequence[Any]) -> Any:
        self._spans += spans
        if len(self._spans) >= _AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Send what was gathered. Raises StoreError where it was not taken."""
        spans, self._spans = self._spans, []
        if spans:
            _took(self._exporter.export(spans))

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002
        return True

    def shutdown(self) -> None:
        self._exporter.shutdown()


def _took(result: Any) -> None:
    if result.name != "SUCCESS":
        raise StoreError(
            "the collector did not take the receipts",
            code="not_sent",
            hint="check OTEL_EXPORTER_OTLP_ENDPOINT; the receipts are still in the ledger",
        )
