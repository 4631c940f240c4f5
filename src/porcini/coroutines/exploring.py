"""`explore` and `replay` for coroutine functions: the same reports as for every other language."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from porcini.core.errors import ScheduleError
from porcini.core.events import Schedule
from porcini.core.reports import Counterexample, Outcome, PropertyName, Report
from porcini.coroutines.guards import Guards
from porcini.coroutines.session import Function, Session, check, name_of, session
from porcini.coroutines.steady import SUSPECTS, SteadyProgram, Unsteady, run_twice
from porcini.engines.catalogue import BY_ACTORS, BY_FORMULAS, ENGINES, Options
from porcini.engines.limits import Limits
from porcini.engines.replaying import Recorded, run_freely
from porcini.engines.replaying import replay as follow_schedule
from porcini.engines.tally import Tally, Watcher
from porcini.langs.aio.loop import Mode
from porcini.properties.outcomes import first_violated
from porcini.properties.shrink import shrunk
from porcini.reporting import located, looked_up, made, moves_of, of_one_run

LANGUAGE = "asyncio"
TAKEN = tuple(name for name in ENGINES if name not in (*BY_FORMULAS, *BY_ACTORS, "graph"))
"""The engines that replay, and so can run real code."""

_MODES = {
    "any": "mode any: every ready task may go next, time moves when nothing is ready",
    "fifo": "mode fifo: asyncio's own queue; only timers due at the same moment are free",
}
_MOST_PLACES = 5


@dataclass(frozen=True, slots=True)
class _Subject:
    """What a report is about (`reporting.Subject`)."""

    file: str
    language: str = LANGUAGE


def explore(
    function: Function,
    *,
    args: Sequence[object] = (),
    engine: str = "optimal",
    mode: Mode = "any",
    deterministic: bool = False,
    first: bool = False,
    limits: Limits | None = None,
    options: Options | None = None,
    packages: Sequence[str] = (),
    guards: Guards | None = None,
    watch: Watcher | None = None,
) -> Report:
    """Run a coroutine function in every order that can make a difference: does none fail, does none deadlock?
    With `deterministic`, does it also return the same in all of them?

    `packages` are instrumented too, so that their code is no longer opaque. It goes on to the end unless `first`.
    """
    check(function)
    looked_up("engine", engine, dict.fromkeys(TAKEN))
    looked_up("mode", mode, _MODES)
    with session(function, args=args, packages=packages, guards=guards) as opened:
        program = opened.program(mode)
        tally = search(program, engine, wanted_of(deterministic), limits or Limits(), options, watch, first=first)
        return report_of(opened, program, tally, engine, wanted_of(deterministic))


def wanted_of(deterministic: bool) -> tuple[PropertyName, ...]:
    return ("failure-free", "deadlock-free", *(("deterministic",) if deterministic else ()))


def search(
    program: SteadyProgram,
    engine: str,
    wanted: tuple[PropertyName, ...],
    limits: Limits,
    options: Options | None = None,
    watch: Watcher | None = None,
    *,
    first: bool = False,
) -> Tally:
    """Check that the program is a function of its schedule, then let an engine explore it."""
    with _steady():
        run_twice(program)
        tally = Tally(limits, None, watch=watch)
        if first:
            tally.violated = lambda outcomes: first_violated(wanted, outcomes) is not None
        tally.explore(lambda tally: ENGINES[engine](program, tally, options or Options()))
    return tally


@contextmanager
def _steady() -> Iterator[None]:
    """A search follows only schedules that it has seen: one that does not fit any more is the program's doing."""
    try:
        yield
    except ScheduleError as problem:
        raise Unsteady(f"the same schedule did not do the same again: {problem.message}", hint=SUSPECTS) from None


def report_of(
    opened: Session, program: SteadyProgram, tally: Tally, engine: str, wanted: tuple[PropertyName, ...]
) -> Report:
    violation = first_violated(wanted, tally.outcomes)
    example = confirmed(program, violation[1]) if violation else None
    return made(
        _Subject(name_of(opened.function)),
        "explore",
        tally,
        engine=engine,
        property=violation[0] if violation else ", ".join(wanted),
        counterexample=example,
        notes=tuple(notes_of(opened, program, tally, engine, violation is not None)),
    )


def confirmed(program: SteadyProgram, example: Counterexample) -> Counterexample:
    """The counterexample in its closest orders, if these end as they should when they are run."""
    shorter = shrunk(example)
    if all(_ends_so(program, run) for run in shorter.runs):
        return shorter
    return example


def _ends_so(program: SteadyProgram, outcome: Outcome) -> bool:
    try:
        final = follow_schedule(program, outcome.schedule)[1].final()
    except ScheduleError:
        return False
    return (final.kind, final.state) == (outcome.kind, outcome.state)


def notes_of(opened: Session, program: SteadyProgram, tally: Tally, engine: str, violated: bool) -> Iterator[str]:
    yield _MODES[program.program.mode]
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
        yield f"an exception that nobody retrieved, in {times:,} runs: {text}"
    if tally.stopped == "limit" and not violated and engine not in ("random", "pct"):
        yield "`--engine pct` or `random` may still find what goes wrong in a program that is too large or endless"


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


def short(path: str) -> str:
    """The name of a file, with that of its folder where it says little."""
    file = Path(path)
    return f"{file.parent.name}/{file.name}" if file.name == "__init__.py" else file.name


def _plain(name: str) -> str:
    """Names of our own classes as users know them."""
    for ours, theirs in (("SeenFuture", "Future"), ("SeenTask", "Task"), ("ControlledLoop", "the loop")):
        name = re.sub(rf"(porcini\.langs\.aio\.\w+\.)?\b{ours}\b", theirs, name)
    return name


def opaque_places(opened: Session, program: SteadyProgram) -> list[tuple[str, int]]:
    """What made steps opaque and how often, the most frequent first."""
    places = Counter(
        {
            f"{_plain(call.name)} at {short(call.file)}:{call.line}": times
            for call, times in opened.recorder.opaque_calls.items()
        }
    )
    for spot, times in program.unfollowed.items():
        places[f"{spot.function} at {short(spot.path)}:{spot.line}, which is not instrumented"] += times
    places.update(program.untracked)
    return places.most_common()


def replay(
    function: Function,
    schedule: Schedule | str,
    *,
    args: Sequence[object] = (),
    mode: Mode = "any",
    packages: Sequence[str] = (),
    guards: Guards | None = None,
) -> Report:
    """Run one complete schedule again; one that does not fit is a `ScheduleError` that names the step."""
    check(function)
    looked_up("mode", mode, _MODES)
    with session(function, args=args, packages=packages, guards=guards) as opened:
        program = opened.program(mode)
        with located(schedule):
            recorded = Recorded(*follow_schedule(program, moves_of(schedule)))
        return _of_one_run(opened, program, Tally(), recorded, "replay")


def _of_one_run(opened: Session, program: SteadyProgram, tally: Tally, recorded: Recorded, command: str) -> Report:
    report = of_one_run(_Subject(name_of(opened.function)), command, tally, recorded)
    failed = report.counterexample is not None
    return replace(report, notes=tuple(notes_of(opened, program, tally, "random", failed)))


def run(
    function: Function,
    *,
    args: Sequence[object] = (),
    mode: Mode = "any",
    packages: Sequence[str] = (),
    seed: int = 0,
    schedule: Schedule | str = (),
    limits: Limits | None = None,
    guards: Guards | None = None,
) -> Report:
    """One execution: follow a schedule as far as it goes, then let a seeded scheduler choose."""
    check(function)
    looked_up("mode", mode, _MODES)
    with session(function, args=args, packages=packages, guards=guards) as opened:
        program, tally = opened.program(mode), Tally(limits or Limits())
        with located(schedule):
            recorded = run_freely(program, moves_of(schedule), Random(seed), tally.limits)
        return _of_one_run(opened, program, tally, recorded, "run")
