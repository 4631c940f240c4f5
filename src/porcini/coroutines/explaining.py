"""A counterexample for people: both runs in lines of source, why they end so, and what to paste to see it again.

compared        the counterexample in long turns, and the closest run that ends otherwise
explained       these runs in detail, by running them once more with a recorder that keeps values
raised_in       an exception as text, with the user's lines that it came through
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from porcini.core.events import Event, Schedule
from porcini.core.explanations import Explanation, Lane, LaneStep, Raised, Touch
from porcini.core.footprints import Location
from porcini.core.origins import origin_of
from porcini.core.reports import Outcome
from porcini.core.systems import Final, Waiting
from porcini.coroutines.blocked import Blocked
from porcini.coroutines.comparing import contested, nearest, shared
from porcini.coroutines.lines import users_lines
from porcini.coroutines.noting import Noted, NotedRun
from porcini.coroutines.setups import Setup, lines_to_paste
from porcini.coroutines.steady import SteadyProgram
from porcini.coroutines.touching import Touches, in_asyncio
from porcini.engines.replaying import follow
from porcini.formats.lanes import cut, ending, short_names
from porcini.langs.aio.naming import StepLabel
from porcini.langs.aio.standing import leaves

_MOST_GROUPED = 5
_OF_THE_LOOP = ("task ", "future ", "handle ")


def compared(program: SteadyProgram, run: Outcome) -> Outcome | None:
    """The closest run that ends otherwise."""

    def otherwise(final: Final) -> bool:
        if run.kind == "terminated":
            return (final.kind, final.state) != (run.kind, run.state)
        return final.kind == "terminated"

    return nearest(program, run, otherwise)


# What happened ------------------------------------------------------------------------------------------------


def explained(setup: Setup, runs: Sequence[Outcome]) -> Explanation:
    """One run, or two that end differently."""
    noted: list[NotedRun] = []
    with setup.telling() as opened:
        for run in runs:
            noted.append(Noted(opened.program(setup.mode)).start_under(run.schedule))
            follow(noted[-1], _until_failure(run))
            noted[-1].final()
    return told(setup, runs, noted)


def _until_failure(run: Outcome) -> Schedule:
    last = next((i for i, event in enumerate(run.trace, 1) if event.failure), len(run.trace))
    return run.schedule[:last]


def told(setup: Setup, runs: Sequence[Outcome], noted: Sequence[NotedRun]) -> Explanation:
    """Runs that were noted, in words."""
    wanted = set[Location]().union(*(contested(note.events) for note in noted))
    if len(noted) == 1:  # with nothing to compare it with, it may help to see all that goes on
        wanted |= {location for location in shared(noted[0].events) if not location.startswith(_OF_THE_LOOP)}
    if not setup.packages:
        wanted = _users(wanted, noted)
    first, problem = noted[0], noted[0].problem
    raised = tuple(raised_in(problem)) if problem is not None and runs[0].kind != "terminated" else ()
    endings = [ended(runs[0], raised), *(ending(run) for run in runs[1:])]
    lanes = [
        Lane(title, tuple(_steps(note, wanted)), end, run.kind == "terminated")
        for title, note, end, run in zip(_titles(runs), noted, endings, runs, strict=True)
    ]
    names = [touch.location for lane in lanes for step in lane.steps for touch in step.touches]
    short = short_names(
        names + [blocked.owner for blocked in first.blocked.values()],
        dict(chain.from_iterable(note.known_as.items() for note in noted)),
    )
    waiting = tuple(_waiting(w, first.blocked[w.pid], short) for w in runs[0].waiting if w.pid in first.blocked)
    return Explanation(
        tuple(_shortened(lane, short) for lane in lanes),
        raised,
        waiting,
        tuple(lines_to_paste(setup, [run.schedule for run in runs if _worth_it(run, runs[0])])),
    )


def _users(wanted: set[Location], noted: Sequence[NotedRun]) -> set[Location]:
    """Of what steps fight over, what code of the user's or asyncio's locks touch, if there is anything of that
    kind. What packages have among themselves is shown to who has asked for them."""
    accesses = (access for note in noted for step in note.accesses for access in step)
    touched = {a.location for a in accesses if origin_of(a.file) == "user" or in_asyncio(a.file)} & wanted
    if not touched:
        return wanted
    return touched | {location for location in wanted if location.startswith(_OF_THE_LOOP)}


def _worth_it(run: Outcome, first: Outcome) -> bool:
    """Nobody wants to see a run again that passes, unless all do and it is for the difference."""
    return run is first or first.kind == "terminated"


def ended(run: Outcome, raised: Sequence[Raised] = ()) -> str:
    """How a run ended, in a few words; where it raised something, with the last line of the user's."""
    if run.kind not in ("assertion", "error") or not raised:
        return ending(run)
    place = raised[0].stack[-1] if raised[0].stack else None
    return cut(raised[0].text) + (f" at {Path(place.path).name}:{place.line}" if place else "")


def _titles(runs: Sequence[Outcome]) -> Sequence[str]:
    if runs[0].kind == "terminated":
        return ("this order", "and this one") if len(runs) > 1 else ("",)
    return ("this order fails", "this order passes")[: len(runs)]


def _steps(note: NotedRun, wanted: set[Location]) -> Iterator[LaneStep]:
    touches = Touches(wanted, note.events)
    for event, accesses in zip(note.events, note.accesses, strict=True):
        struck = (Touch("fault", event.fault),) if event.choice and event.fault else ()
        yield _step(event, struck + touches.of(event, accesses))


def _step(event: Event, touches: tuple[Any, ...]) -> LaneStep:
    label = event.label
    if not isinstance(label, StepLabel):
        return LaneStep(event.pid, str(label), None, 0, "", touches, event.fault)
    stopped = label.stopped
    path, line = (stopped.path, stopped.line) if stopped else (None, 0)
    return LaneStep(event.pid, label.name, path, line, label.end, touches, event.fault)


def _shortened(lane: Lane, short: dict[str, str]) -> Lane:
    steps = [
        replace(step, touches=tuple(replace(touch, location=short[touch.location]) for touch in step.touches))
        for step in lane.steps
    ]
    return replace(lane, steps=tuple(steps))


def _waiting(waiting: Waiting, blocked: Blocked, short: dict[str, str]) -> Waiting:
    call, why, whom = blocked.call, blocked.why, blocked.waits_for
    if waiting.guard.startswith(("spins", "something that nobody changes")):
        call, why, whom = "an answer, asking again and again", "nobody changes what it looks at", ()
    elif call and " " not in call and call != "TaskGroup":
        owner, _, method = call.rpartition(".")
        call = f"{short[blocked.owner] or owner}.{method}()".removeprefix(".")
    return replace(waiting, guard=call, waits_for=whom, why=why, stack=blocked.stack)


# Exceptions ---------------------------------------------------------------------------------------------------


def raised_in(problem: BaseException) -> Iterator[Raised]:
    """An exception, or those in a group of them."""
    found = list(leaves(problem))
    for leaf in found[:_MOST_GROUPED]:
        yield Raised(_text(leaf), users_lines(leaf) or users_lines(problem))
    if len(found) > _MOST_GROUPED:
        yield Raised(f"and {len(found) - _MOST_GROUPED:,} more exceptions", ())


def _text(problem: BaseException) -> str:
    try:
        text = str(problem)
    except Exception:
        text = "(its text cannot be had)"
    return f"{type(problem).__name__}: {text}" if text else type(problem).__name__
