"""What a library user calls. Each function takes a program, as a model, by the path of one, or as a coroutine
function, and answers with a `Report`; what else it can be told has a name (`commands.requests`).

`porcini` itself has the most common of them; each command is loaded when it is first asked for.

What is asked about a rewrite theory by its path is answered in a sealed child, as on the command line
(`commands.sealing`): Maude is never loaded into the calling process, and `watch` is called in the child. A theory
that `porcini.load` has read lives in the calling process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from porcini.commands.programs import ProgramReference
from porcini.commands.reporting import no_report
from porcini.commands.requests import (
    CheckOptions,
    CompareOptions,
    ExploreOptions,
    PermuteOptions,
    PermuteTraceOptions,
    ReplayOptions,
    Request,
    RunOptions,
    SymbolicOptions,
    VerifyOptions,
    request_of,
)
from porcini.commands.sealing import answer
from porcini.core.events import Schedule
from porcini.core.reports import Report
from porcini.engines.options import Ample, Options
from porcini.models import Model


def run(program: ProgramReference, **given: Unpack[RunOptions]) -> Report:
    """One execution: follow a schedule as far as it goes, then let a seeded scheduler choose.

    >>> run("examples/gcl/vineyard.gcl", seed=1).outcomes[0].kind
    'terminated'
    """
    from porcini.commands import running

    return _report("run", program, given, running.run)


def replay(program: ProgramReference, schedule: Schedule | str = (), **given: Unpack[ReplayOptions]) -> Report:
    """Run one complete schedule again; one that does not fit is a `ScheduleError` that names the step. With a
    `loop`, the run need not end, but the loop must lead back to where it begins.

    >>> replay("examples/gcl/vineyard.gcl", "0x2 0.1x9 0.0").outcomes[0].state["x"]
    4
    """
    from porcini.commands import running

    return _report("replay", program, {"schedule": schedule, **given}, running.replay)


def explore(program: ProgramReference, **given: Unpack[ExploreOptions]) -> Report:
    """Every class of executions: is the outcome always the same, does none deadlock, does none fail?

    A coroutine function, with its `args`, runs in every order that can make a difference: `mode` says what can go
    next, `packages` whose code is to be followed besides the user's, `guards` how the world looks to it. What it
    returns may depend on the order, unless it is to be `deterministic`.

    >>> report = explore("examples/gcl/vineyard.gcl")
    >>> report.verdict, len(report.outcomes), report.counts.classes
    ('violated', 4, 5)
    """
    from porcini.commands import exploring

    return _report("explore", program, given, exploring.explore)


def compare(program: ProgramReference, **given: Unpack[CompareOptions]) -> list[Report]:
    """Explore with every complete engine that takes the program. Those that come to their end must agree in
    verdict, classes and outcomes, or there is a `Disagreement`."""
    from porcini.commands import exploring

    return answer("compare", program, given, exploring.compare, lambda *hit: [no_report("compare", *hit)])


def check(program: ProgramReference, **given: Unpack[CheckOptions]) -> Report:
    """Every reachable state, on a reduced graph: can it deadlock, can it fail? Then the model's own formulas; or
    instead of all that, one formula. Formulas about rewrite theories are checked by Maude itself, unless the
    engine is to be `graph`.

    >>> check("examples/gcl/vineyard.gcl").verdict
    'holds'
    >>> check("examples/gcl/vineyard.gcl", ltl="<> flag").verdict
    'holds'
    """
    from porcini.commands import checking

    return _report("check", program, given, checking.check)


def verify_reduction(program: ProgramReference, **given: Unpack[VerifyOptions]) -> Report:
    """Build the whole graph and the reduced one, and compare them: where runs end, and all that the propositions
    of a formula, or of the model's own, can tell, however often a letter is repeated.

    >>> verify_reduction("examples/gcl/vineyard.gcl", ltl="<> (x > 3)").verdict
    'holds'
    """
    from porcini.commands import checking

    return _report("verify_reduction", program, given, checking.verify_reduction)


def check_annotations(program: ProgramReference, **given: Unpack[VerifyOptions]) -> Report:
    """Try all that the description of a rewrite theory says about steps, in every reachable state: what is not
    true is an `InputError` that shows it. With a formula (`ltl`), also which steps change its propositions.

    >>> check_annotations("examples/maude/counter.maude").verdict
    'holds'
    """
    from porcini.commands import checking

    return _report("check_annotations", program, given, checking.check_annotations)


def symbolic(program: ProgramReference, *, inputs: Sequence[str] = (), **given: Unpack[SymbolicOptions]) -> Report:
    """All inputs at once: one entry for each class of paths, and the inputs for which the order matters.
    `with_cases` adds test cases: for each class an input, a schedule, and what comes of them. A program that
    declares no inputs, but takes some (Promela), is run on all values of the variables that `inputs` names.

    >>> from porcini.models import loads
    >>> symbolic(loads("x |-> ?, y |-> 0, True |> spawn(True |> y := x); True |> y := 2 * x")).condition
    'x != 0'
    """
    from porcini.commands import symbolic

    return symbolic.symbolic(request_of("symbolic", program, {"names": tuple(inputs), **given}))


def permute(program: ProgramReference, **given: Unpack[PermuteOptions]) -> Report:
    """Record one run and list its executable permutations, one per class (P0's algorithm): are all of them
    equivalent to it?

    >>> sorted(entry.state["x"] for entry in permute("examples/gcl/vineyard.gcl").traces)
    [2, 3, 4, 4, 5]
    """
    from porcini.commands import permuting

    return permuting.permute(request_of("permute", program, given))


def permute_trace(file: str | Path, **given: Unpack[PermuteTraceOptions]) -> Report:
    """The permutations of a run in a file, one per class: are all of them equivalent to it?

    If all events have guards, these are the executable ones, and the answer is that of `permute` for the program.
    If not, they are the reorderings that the conflicts allow, and only `holds` is certain.
    """
    from porcini.commands import permuting

    names = given.get("observe")
    return permuting.permute_trace(
        file,
        seeds=given.get("seeds", False),
        observe=None if names is None else frozenset(names),
        limits=given.get("limits"),
        watch=given.get("watch"),
    )


def transform(
    model: Model | str | Path, *, ltl: str | None = None, ample: Ample = "closure", load: str | None = None
) -> str:
    """P1: a rewrite theory with partial order reduction built in, as text for Maude. `ltl` is a formula whose
    propositions must be seen; `load` is what the text is to load first.
    """
    from porcini.commands import checking

    given = {"ltl": ltl, "options": Options(ample=ample)}
    return answer("transform", model, given, lambda request: checking.transform(request, load))


def _report(
    command: str, program: ProgramReference, given: Mapping[str, Any], work: Callable[[Request], Report]
) -> Report:
    return answer(command, program, given, work, lambda *hit: no_report(command, *hit))
