"""What a report says besides its verdict: which orders there are, what was dear, what outlived a run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from porcini.coroutines.session import Session
from porcini.coroutines.steady import SteadyProgram
from porcini.engines.catalogue import ENGINES
from porcini.engines.stats import SearchStats
from porcini.formats.sources import short_path

MODES = {
    "any": "mode any: every ready task may go next, time moves when nothing is ready",
    "fifo": "mode fifo: asyncio's own queue; only timers due at the same moment are free",
}
_MOST_PLACES = 5


def notes_of(
    opened: Session, program: SteadyProgram, stats: SearchStats, engine: str, violated: bool
) -> Iterator[str]:
    yield MODES[program.program.mode]
    if program.opaque:
        share = f"{program.opaque:,} of {program.steps:,} steps were opaque and conflict with everything"
        places = [f"{text}, {times:,} times" for text, times in opaque_places(opened, program)[:_MOST_PLACES]]
        yield f"{share}: {'; '.join(places)}"
        packages = sorted({name for spot in program.unfollowed if (name := package_of(spot.path))})
        if packages:
            yield f"packages={packages} would let these be followed"
    if program.leftovers:
        yield f"{leftovers(program)}; reset it where a run begins, or one schedule may influence the next"
    for text, times in program.unretrieved.most_common(_MOST_PLACES):
        yield unretrieved(text, times)
    if stats.stopped == "limit" and not violated and not ENGINES[engine].samples:
        yield "`--engine pct` or `random` may still find what goes wrong in a program that is too large or endless"


def unretrieved(text: str, times: int) -> str:
    return f"an exception that nobody retrieved, in {times:,} run{'' if times == 1 else 's'}: {text}"


def package_of(path: str) -> str | None:
    """The installed package that a file is of."""
    parts = Path(path).parts
    for folder in ("site-packages", "dist-packages"):
        if folder in parts[:-1]:
            return parts[parts.index(folder) + 1].removesuffix(".py")
    return None


def leftovers(program: SteadyProgram) -> str:
    names = ", ".join(list(dict.fromkeys(n.removesuffix("[=]") for n in program.leftovers))[:_MOST_PLACES])
    return f"state that outlives a run: {names} was read as the run before had left it"


def _plain(name: str) -> str:
    """Names of our own classes as users know them."""
    for ours, theirs in (("SeenFuture", "Future"), ("SeenTask", "Task"), ("ControlledLoop", "the loop")):
        name = re.sub(rf"(porcini\.langs\.aio\.\w+\.)?\b{ours}\b", theirs, name)
    return name


def opaque_places(opened: Session, program: SteadyProgram) -> list[tuple[str, int]]:
    """What made steps opaque and how often, the most frequent first."""
    places = Counter(
        {
            _plain(call.name) + (f" at {short_path(call.file)}:{call.line}" if call.line else ""): times
            for call, times in opened.recorder.opaque_calls.items()
        }
    )
    for spot, times in program.unfollowed.items():
        places[f"{spot.function} at {short_path(spot.path)}:{spot.line}, which is not instrumented"] += times
    places.update(program.untracked)
    return places.most_common()
