"""What a report says besides its verdict: which orders there are, what was dear, what outlived a run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from porcini.core.origins import in_packages
from porcini.core.reports import Coverage
from porcini.coroutines.session import Session
from porcini.coroutines.steady import SteadyProgram
from porcini.formats.sources import short_path
from porcini.langs.aio.loop import Mode
from porcini.langs.aio.naming import Spot
from porcini.langs.aio.recorder import OpaqueCall

MODES: dict[Mode, str] = {
    "any": "mode any: every ready task may go next, time moves when nothing is ready",
    "fifo": "mode fifo: asyncio's own queue; only timers due at the same moment are free",
}
_MOST_PLACES = 5


def coverage_of(opened: Session, program: SteadyProgram) -> Coverage:
    """How much was seen of what a program did so far."""
    return Coverage(
        program.steps,
        program.opaque,
        tuple(_opaque_places(opened, program)),
        tuple(sorted({name for spot in program.unfollowed if (name := package_of(spot.path))})),
        tuple(dict.fromkeys(name.removesuffix("[=]") for name in program.leftovers)),
        tuple(program.unretrieved.most_common()),
        tuple(dict.fromkeys(program.initialised)),
    )


def notes_of(mode: Mode, coverage: Coverage) -> Iterator[str]:
    yield MODES[mode]
    if coverage.opaque:
        share = f"{coverage.opaque:,} of {coverage.steps:,} steps were opaque and conflict with everything"
        places = [f"{text}, {times:,} times" for text, times in coverage.places[:_MOST_PLACES]]
        yield f"{share}: {'; '.join(places)}"
        if coverage.packages:
            yield f"packages={list(coverage.packages)} would let these be followed"
    if coverage.leftovers:
        yield f"{show_leftovers(coverage)}; reset it where a run begins, or one schedule may influence the next"
    if coverage.initialised:
        names = ", ".join(coverage.initialised[:_MOST_PLACES])
        yield f"set up by a package in a first run, whose orders were not explored: {names}"
    for text, times in coverage.unretrieved[:_MOST_PLACES]:
        yield show_unretrieved(text, times)


def show_unretrieved(text: str, times: int) -> str:
    return f"an exception that nobody retrieved, in {times:,} run{'' if times == 1 else 's'}: {text}"


def show_leftovers(coverage: Coverage) -> str:
    names = ", ".join(coverage.leftovers[:_MOST_PLACES])
    return f"state that outlives a run: {names} was read as the run before had left it"


def package_of(path: str) -> str | None:
    """The installed package that a file is of."""
    below = in_packages(path)
    return below.parts[0].removesuffix(".py") if below else None


def _plain(name: str) -> str:
    """Names of our own classes as users know them."""
    for ours, theirs in (("SeenFuture", "Future"), ("SeenTask", "Task"), ("ControlledLoop", "the loop")):
        name = re.sub(rf"(porcini\.langs\.aio\.\w+\.)?\b{ours}\b", theirs, name)
    return name


def _opaque_places(opened: Session, program: SteadyProgram) -> list[tuple[str, int]]:
    """What made steps opaque and how often, the most frequent first."""
    places: Counter[str] = Counter()
    for call, times in opened.recorder.opaque_calls.items():
        places[show_reason(call)] += times
    for spot, times in program.unfollowed.items():
        places[show_reason(spot)] += times
    places.update(program.untracked)
    return places.most_common()


def show_reason(reason: OpaqueCall | Spot | str) -> str:
    """What made a step opaque."""
    if isinstance(reason, str):
        return reason
    if isinstance(reason, OpaqueCall):
        return _plain(reason.name) + (f" at {short_path(reason.file)}:{reason.line}" if reason.line else "")
    return f"{reason.function} at {short_path(reason.path)}:{reason.line}, which is not instrumented"
