"""OpenTelemetry: an extra; spans and counts that name nobody."""

import sys

import pytest

from alveus.audit.receipt import Boundary, Receipt, Status
from alveus.doors.telemetry import emit, nanoseconds
from alveus.errors import InputError


def receipt(boundary, second, status=Status.VERIFIED, run="run-1"):
    """A receipt of that second."""
    return Receipt(
        run_id=run,
        user_scope="PLANTED user",
        assistant_scope="PLANTED assistant",
        boundary=boundary,
        version=22,
        status=status,
        at_utc=f"2026-11-30T09:00:{second:02}.000001Z",
        source_version="example/1",
        source_present=True,
    )


def test_without_the_extra_it_says_so(monkeypatch):
    """Nothing else of the program needs it."""
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(InputError, match="not installed"):
        emit([])


def test_runs_are_spans_and_receipts_are_counted():
    """A span a run with an event a receipt, at their times; counts by boundary and status; no name in either."""
    sdk = pytest.importorskip("opentelemetry.sdk", reason="the extra `otel` and an SDK are not installed")
    assert sdk
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    spans, reader, tracers = InMemorySpanExporter(), InMemoryMetricReader(), TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    meters = MeterProvider(metric_readers=[reader])
    receipts = [
        receipt(Boundary.STORE, 1),
        receipt(Boundary.RETRIEVE, 3),
        receipt(Boundary.GENERATE, 2, Status.FAILED, "b"),
    ]
    assert emit(receipts, tracer_provider=tracers, meter_provider=meters) == 2
    first, second = spans.get_finished_spans()
    assert [event.name for event in first.events] == ["store.verified", "retrieve.verified"]
    assert (first.start_time, first.end_time) == (nanoseconds(receipts[0].at_utc), nanoseconds(receipts[1].at_utc))
    assert (first.status.is_ok, second.status.is_ok) == (True, False)
    points = reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics[0].data.data_points
    assert {tuple(sorted(point.attributes.values())): point.value for point in points} == {
        ("store", "verified"): 1,
        ("retrieve", "verified"): 1,
        ("failed", "generate"): 1,
    }
    assert "PLANTED" not in first.to_json() + second.to_json() + repr(points)
    meters.shutdown()
    tracers.shutdown()


def test_times_are_exact():
    """To the microsecond, since 1970."""
    assert nanoseconds("1970-01-01T00:00:01.000001Z") == 1_000_001_000
