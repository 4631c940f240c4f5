"""One run of real code, written down. Values are texts, as far as the recorder has seen them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from porcini.core.footprints import Location
from porcini.core.recordings import RecordedStep, RecordedWait, Recording
from porcini.core.reports import Outcome
from porcini.coroutines.noting import NotedRun
from porcini.engines.recording import processes_of
from porcini.formats.traces.writing import write_trace
from porcini.langs.aio.telling import Access


def write_run(noted: NotedRun, outcome: Outcome | None, language: str, name: str, file: str | Path) -> None:
    """Write a run to a file; one without an outcome was stopped."""
    steps = [
        RecordedStep(
            event,
            _values(event.footprint.reads, [a for a in reversed(accesses) if a.kind == "read"]),
            _values(event.footprint.writes, [a for a in accesses if a.kind == "write"]),
        )
        for event, accesses in zip(noted.events, noted.accesses, strict=True)
    ]
    recording = Recording(
        steps,
        processes_of(noted.events),
        kind=outcome.kind if outcome else "unfinished",
        waiting=[RecordedWait(waiting) for waiting in outcome.waiting] if outcome else (),
        final=outcome.state if outcome else {},
        language=language,
        program=name,
    )
    write_trace(recording, file)


def _values(places: frozenset[Location], accesses: Sequence[Access]) -> dict[Location, str | None]:
    """The values of locations by the last of some accesses."""
    seen = {access.location: access.value for access in accesses if access.value}
    return {place: seen.get(place) for place in sorted(places)}
