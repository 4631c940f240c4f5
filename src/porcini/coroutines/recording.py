"""One run of real code, written down. Values are texts, as far as the recorder has seen them."""

from __future__ import annotations

from collections.abc import Sequence

from porcini.core.footprints import Location
from porcini.core.recordings import RecordedStep, RecordedWait, Recording
from porcini.coroutines.noting import NotedRun
from porcini.engines.recording import initial_processes
from porcini.langs.aio.telling import Access


def recording_of(noted: NotedRun, *, stopped: bool) -> Recording:
    """A run in every detail; one that was stopped did not end."""
    steps = [
        RecordedStep(
            event,
            _values(event.footprint.reads, [a for a in reversed(accesses) if a.kind == "read"]),
            _values(event.footprint.writes, [a for a in accesses if a.kind == "write"]),
        )
        for event, accesses in zip(noted.events, noted.accesses, strict=True)
    ]
    if stopped:
        return Recording(steps, initial_processes(noted.events), kind="unfinished")
    final = noted.final()
    waits = [RecordedWait(waiting) for waiting in final.waiting]
    return Recording(steps, initial_processes(noted.events), kind=final.kind, waiting=waits, final=final.state)


def _values(places: frozenset[Location], accesses: Sequence[Access]) -> dict[Location, str | None]:
    """The values of locations by the last of some accesses."""
    seen = {access.location: access.value for access in accesses if access.value}
    return {place: seen.get(place) for place in sorted(places)}
