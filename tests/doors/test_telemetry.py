"""OpenTelemetry: an extra; spans and counts that name nobody."""

import json
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from alveus import Hippocampus
from alveus.audit.receipt import Boundary, Receipt, Status
from alveus.doors import telemetry
from alveus.doors.telemetry import RunIds, emit, nanoseconds
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


# The command


@pytest.fixture
def stored(home, monkeypatch):
    """A memory with secrets in everything that is stored, promoted, asked and settled; no setting of the machine."""
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_TRACES_SAMPLER", "OTEL_SDK_DISABLED", "OTEL_RESOURCE_ATTRIBUTES"):
        monkeypatch.delenv(name, raising=False)
    with Hippocampus.open(home=home, agent_id="river", tiers=False) as memory:
        for number in range(12):
            words = f"PLANTED pump {number}. My name is Planted."
            memory.record("observation", words, {"note": "PLANTED"}, src="user", user="PLANTED-user", session="PLANTED")
        memory.promote("PLANTED-user")
        run = memory.retrieve("PLANTED pump", "PLANTED-user").run_id
        memory.settle(run, {"type": "test_result", "value": "passed"})
    return run


def test_the_console_shows_every_run_and_no_content(call, stored):
    """One span a run, as the SDK prints it; twice the same call, the same spans."""
    first, again = (call("receipts", "otel", "--to", "console") for _ in range(2))
    assert first.status == 0
    assert stored in first.out
    assert "alveus.receipts" in first.out
    assert "PLANTED" not in first.out + first.err
    spans = [
        [one["context"] for one in documents(each.out) if "trace_id" in one.get("context", {})]
        for each in (first, again)
    ]
    assert spans[0] == spans[1]
    assert len(spans[0]) == len({one["span_id"] for one in spans[0]}) == 14  # twelve pages, a topic, a question


def documents(text):
    """The JSON objects that stand one after another in a text."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        found, at = decoder.raw_decode(text, at)
        yield found
        at += len(text[at:]) - len(text[at:].lstrip())


@contextmanager
def collector(status=200):
    """A collector on this machine: its address, and what it was sent, by path."""
    taken = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            taken.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", taken
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_collector_gets_spans_and_counts_without_content(call, stored, monkeypatch):
    """By OTLP over HTTP: not a byte of content, and no name of anybody."""
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the extra `otel` is not installed")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
    with collector() as (address, taken):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        ended = call("receipts", "otel", "--json")
    assert (ended.status, ended.document) == (0, {"runs": 14})
    assert [path for path, _ in taken] == ["/v1/traces", "/v1/metrics"]
    assert stored.encode() in taken[0][1]
    assert not [body for _, body in taken if b"PLANTED" in body or b"planted" in body.lower()]


def test_a_collector_that_refuses_is_an_error(call, stored, monkeypatch):
    """Nothing is said to be sent that was not taken."""
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the extra `otel` is not installed")
    with collector(status=400) as (address, taken):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        ended = call("receipts", "otel")
    assert (ended.status, ended.out) == (1, "")
    assert "did not take" in ended.err
    assert taken
    assert stored not in ended.err


def test_no_span_is_dropped_however_many(monkeypatch):
    """They go by so many at a time."""
    sizes = []

    class Taker:
        def export(self, spans):
            sizes.append(len(spans))
            return type("Result", (), {"name": "SUCCESS"})

        def shutdown(self):
            """Nothing is open."""

    class Counter(Taker):
        def export(self, _):
            return type("Result", (), {"name": "SUCCESS"})

    monkeypatch.setattr(telemetry, "_exporters", lambda _: (Taker(), Counter()))
    assert telemetry.send((receipt(Boundary.STORE, 1, run=f"run-{n}") for n in range(3000)), telemetry.To.OTLP) == 3000
    assert sum(sizes) == 3000
    assert max(sizes) == 512


def test_a_run_has_its_ids():
    """The same name gives the same ones, another name others."""
    ids, found = RunIds(), []
    for name in ("a", "b", "a"):
        ids.run_id = name
        found.append((ids.generate_trace_id(), ids.generate_span_id()))
    assert found[0] == found[2] != found[1]


def test_without_the_extra_the_command_says_so(call, stored, monkeypatch):
    """And what to install."""
    assert stored
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    ended = call("receipts", "otel")
    assert ended.status == 2
    assert "alveus[otel]" in ended.err
