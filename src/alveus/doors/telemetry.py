"""Receipts as OpenTelemetry's spans and counts: spec/audit.md, section 6. The extra `otel`; imported where it is used.

A run is a span, from its first receipt to its last, and a receipt an event in it. Neither names a user or an assistant,
and counts name nothing but boundary and status. Who exports them, and where to, is the providers' affair.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from alveus import __version__
from alveus.audit.receipt import Receipt, Status
from alveus.errors import InputError

SCOPE: Final = "alveus.audit"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SAID: Final = ("source_durable", "source_present", "destination_present", "capacity", "occupancy")
"""Fields of an event, beside its boundary, status and version, where the receipt has them."""


def emit(receipts: Iterable[Receipt], *, tracer_provider: Any = None, meter_provider: Any = None) -> int:
    """Hand the receipts to OpenTelemetry; the number of runs. Without providers, to the global ones.

    Raises InputError where the extra is not installed.
    """
    try:
        from opentelemetry import metrics, trace
    except ImportError as error:
        raise InputError("OpenTelemetry is not installed", hint="pip install 'alveus[otel]'") from error
    tracer = trace.get_tracer(SCOPE, __version__, tracer_provider=tracer_provider)
    meter = metrics.get_meter(SCOPE, __version__, meter_provider=meter_provider)
    counter = meter.create_counter("alveus.receipts", unit="{receipt}", description="Receipts, by boundary and status.")
    runs: dict[str, list[Receipt]] = {}
    for receipt in receipts:
        runs.setdefault(receipt.run_id, []).append(receipt)
        counter.add(1, {"boundary": receipt.boundary.value, "status": receipt.status.value})
    for run_id, run in runs.items():
        _emit_run(tracer, run_id, sorted(run, key=lambda one: one.at_utc), trace.Status, trace.StatusCode)
    return len(runs)


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
