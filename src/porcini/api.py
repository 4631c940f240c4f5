"""What a library user calls: `run`, `explore`, `check`, `symbolic`, `permute`, `replay`.

Each takes a model, or the path of one, and answers with a `Report`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from porcini.all_inputs import cases, concrete, explored
from porcini.checking import (
    Named,
    check_by_maude,
    check_formula,
    check_never,
    formulas_of,
    given_formula,
    propositions_of,
)
from porcini.checking import verify_reduction as compare_reduced
from porcini.core.errors import InputError
from porcini.core.events import Schedule
from porcini.core.execution import Dependence
from porcini.core.reports import Counterexample, Counts, PropertyName, Report, Trail
from porcini.core.systems import Value
from porcini.core.traces import Trace
from porcini.engines.ample import Ample
from porcini.engines.catalogue import COMPLETE, ENGINES, Options
from porcini.engines.fagiani import Seeds
from porcini.engines.limits import Limits
from porcini.engines.permuting import Permuting
from porcini.engines.replaying import Recorded, follow, follow_loop, replayed, run_freely
from porcini.engines.replaying import replay as follow_schedule
from porcini.engines.semantic import SemanticDependence
from porcini.engines.symbolic import DEFAULT_TIMEOUT
from porcini.engines.tally import Tally, Watcher
from porcini.engines.transdpor import ActorSelection, TaskSelection
from porcini.ir.expr import FALSE
from porcini.ir.frames import FrameRun
from porcini.ir.graph import Graph
from porcini.ir.interpreter import GraphSystem
from porcini.ir.packed.view import PackedView
from porcini.ir.text import show
from porcini.langs import maude, promela
from porcini.models import Model, System, load
from porcini.properties.outcomes import EXPLORED, first_violated, verdict
from porcini.properties.shrink import shrunk
from porcini.reporting import located, looked_up, made, moves_of, of_one_run, stopped

if TYPE_CHECKING:
    from porcini.coroutines.guards import Guards
    from porcini.langs.aio.loop import Mode

INDEPENDENCES: dict[str, Callable[[], Dependence]] = {"syntactic": Dependence, "semantic": SemanticDependence}
_WITHOUT_SEMANTIC = ("exhaustive", "transdpor", "graph", "fagiani", "random", "pct")
_SELECTIONS: tuple[tuple[ActorSelection, TaskSelection], ...] = (
    ("first", "all"),
    ("first", "independent"),
    ("stable", "all"),
    ("stable", "independent"),
)


Coroutine = Callable[..., Any]
"""A coroutine function: real code. As text it is `package.module:function`."""


def _not_for_coroutines(**given: object) -> None:
    """What is left out without a word would be taken for done."""
    for name, value in given.items():
        if value:
            hint = "it is always asked for failures and deadlocks" if name == "property" else None
            raise InputError(f"`{name}` is not for coroutine functions", hint=hint)


def run(
    model: Model | str | Path | Coroutine,
    *,
    seed: int = 0,
    schedule: Schedule | str = (),
    observe: Iterable[str] | None = None,
    inputs: Mapping[str, Value] | None = None,
    limits: Limits | None = None,
    args: Sequence[object] = (),
    mode: Mode = "any",
    packages: Sequence[str] = (),
    guards: Guards | None = None,
) -> Report:
    """One execution: follow a schedule as far as it goes, then let a seeded scheduler choose.

    >>> run("examples/gcl/vineyard.gcl", seed=1).outcomes[0].kind
    'terminated'
    """
    function = function_of(model)
    if function is not None:
        from porcini import coroutines  # real code is loaded when it is needed

        _not_for_coroutines(observe=observe, inputs=inputs)
        return coroutines.run(
            function,
            args=args,
            mode=mode,
            packages=packages,
            seed=seed,
            schedule=schedule,
            limits=limits,
            guards=guards,
        )
    model = _model(model)
    system = model.system(inputs)
    tally = Tally(limits or Limits(), _observed(model, observe))
    with located(schedule):
        recorded = run_freely(system, moves_of(schedule), Random(seed), tally.limits)
    return of_one_run(model, "run", tally, recorded)


def replay(
    model: Model | str | Path | Coroutine,
    schedule: Schedule | str,
    *,
    loop: Schedule | str | None = None,
    observe: Iterable[str] | None = None,
    inputs: Mapping[str, Value] | None = None,
    args: Sequence[object] = (),
    mode: Mode = "any",
    packages: Sequence[str] = (),
    guards: Guards | None = None,
) -> Report:
    """Run one complete schedule again; one that does not fit is a `ScheduleError` that names the step. With a
    `loop`, the run need not end, but the loop must lead back to where it begins.

    >>> replay("examples/gcl/vineyard.gcl", "0x2 0.1x9 0.0").outcomes[0].state["x"]
    4
    """
    function = function_of(model)
    if function is not None:
        from porcini import coroutines  # real code is loaded when it is needed

        _not_for_coroutines(observe=observe, inputs=inputs, loop=loop)
        return coroutines.replay(function, schedule, args=args, mode=mode, packages=packages, guards=guards)
    model = _model(model)
    system = model.system(inputs)
    tally = Tally(Limits(), _observed(model, observe))
    if loop is not None:
        with located(schedule):
            stem = replayed(system, moves_of(schedule))
        with located(loop):
            recorded = follow_loop(stem, moves_of(loop))
        trace = Trace([*follow(system.start(), moves_of(schedule)), *recorded])
        return _endless(model, tally, trace, len(recorded))
    with located(schedule):
        trace, after = follow_schedule(system, moves_of(schedule))
    return of_one_run(model, "replay", tally, Recorded(trace, after))


def _endless(model: Model, tally: Tally, trace: Trace, length: int) -> Report:
    """A run that was followed once round its loop."""
    tally.counts.states, tally.counts.events = len(trace) + 1, len(trace)
    tally.seconds = tally.clock.seconds
    note = f"the last {length} steps lead back to where they began, and can be done for ever"
    report = made(model, "replay", tally, engine="random", property="endless", notes=(note,))
    trail = Trail(Trace(trace[: len(trace) - length]), Trace(trace[-length:]), ())
    return replace(report, trail=trail, verdict="violated")  # it does not terminate


def explore(
    model: Model | str | Path | Coroutine,
    *,
    engine: str = "optimal",
    independence: str = "syntactic",
    property: PropertyName | None = None,
    properties: tuple[PropertyName, ...] = EXPLORED,
    first: bool = False,
    observe: Iterable[str] | None = None,
    inputs: Mapping[str, Value] | None = None,
    limits: Limits | None = None,
    options: Options | None = None,
    args: Sequence[object] = (),
    mode: Mode = "any",
    packages: Sequence[str] = (),
    deterministic: bool = False,
    guards: Guards | None = None,
    watch: Watcher | None = None,
) -> Report:
    """Every class of executions: is the outcome always the same, does none deadlock, does none fail?

    A coroutine function, with its `args`, runs in every order that can make a difference: `mode` says what can go
    next, `packages` whose code is to be followed besides the user's, `guards` how the world looks to it. What it
    returns may depend on the order, unless it is to be `deterministic`.

    >>> report = explore("examples/gcl/vineyard.gcl")
    >>> report.verdict, len(report.outcomes), report.counts.classes
    ('violated', 4, 5)
    """
    function = function_of(model)
    if function is not None:
        from porcini import coroutines  # real code is loaded when it is needed

        other = property if property != "deterministic" else None
        syntactic = independence == "syntactic"
        _not_for_coroutines(
            observe=observe, inputs=inputs, property=other, independence=None if syntactic else independence
        )
        return coroutines.explore(
            function,
            args=args,
            engine=engine,
            mode=mode,
            deterministic=deterministic or property == "deterministic",
            first=first,
            limits=limits,
            options=options,
            packages=packages,
            guards=guards,
            watch=watch,
        )
    model = _model(model)
    search = looked_up("engine", engine, ENGINES)
    if independence == "semantic" and model.language in ("pml", "maude"):
        raise InputError(f".{model.language} knows syntactic independence only", file=model.file)
    dependence = looked_up("independence", independence, INDEPENDENCES)()
    if independence == "semantic" and engine in _WITHOUT_SEMANTIC:
        raise InputError(f"engine `{engine}` knows syntactic independence only")
    if options and options.preemptions is not None and engine != "source":
        raise InputError("a bound on preemptions is for engine `source`")
    options = replace(options or Options(), dependence=dependence)
    wanted = properties if property is None else (property,)
    looked_up("property", wanted[0], dict.fromkeys(EXPLORED))
    if not model.takes(engine):
        raise InputError(f"engine `{engine}` is not for .{model.language} programs")
    system = model.system(inputs, optimise=engine == "graph" and options.optimise)
    tally = Tally(limits or Limits(), _observed(model, observe), watch=watch)
    if first:
        tally.violated = lambda outcomes: first_violated(wanted, outcomes) is not None
    if isinstance(system, maude.MaudeSystem):
        system.careful = engine != "graph"
    try:
        tally.explore(lambda tally: search(system, tally, options))
    except maude.Unknown as unknown:  # footprints cannot be relied on: once more without them
        system = unknown.coarser
        tally = tally.begun_again()
        tally.explore(lambda tally: search(system, tally, options))
    violation = first_violated(wanted, tally.outcomes)
    return made(
        model,
        "explore",
        tally,
        engine=engine,
        selection=f"{options.actors}, {options.tasks}" if engine == "transdpor" else None,
        independence=independence,
        property=violation[0] if violation else ", ".join(wanted),
        counterexample=shrunk(violation[1]) if violation else None,
        notes=dependence.notes() + _noticed(model, system) + _advice(tally, engine, violation is not None),
    )


def _noticed(model: Model, system: System) -> tuple[str, ...]:
    """What the program did that should be known."""
    if isinstance(system, maude.MaudeSystem):
        assert isinstance(model.graph, maude.Model)
        return (*model.graph.notes, *system.noticed())
    return tuple(system.noticed()) if isinstance(system, PackedView) else ()


def _advice(tally: Tally, engine: str, violated: bool) -> tuple[str, ...]:
    """What to do about a search that came to no answer."""
    if tally.stopped != "limit" or violated or tally.interrupted or engine in ("random", "pct", "graph"):
        return ()
    return ("`--engine pct` or `random` may still find what goes wrong in a program that is too large or endless",)


def check(
    model: Model | str | Path,
    *,
    ltl: str | None = None,
    engine: str | None = None,
    first: bool = False,
    observe: Iterable[str] | None = None,
    inputs: Mapping[str, Value] | None = None,
    limits: Limits | None = None,
    options: Options | None = None,
    watch: Watcher | None = None,
) -> Report:
    """Every reachable state, on a reduced graph: can it deadlock, can it fail? Then the model's own formulas; or
    instead of all that, one formula. Formulas about rewrite theories are checked by Maude itself, unless the
    engine is to be `graph`.

    >>> check("examples/gcl/vineyard.gcl").verdict
    'holds'
    >>> check("examples/gcl/vineyard.gcl", ltl="<> flag").verdict
    'holds'
    """
    model = _model(model)
    options = options or Options()
    if engine not in (None, "graph") and not (engine == "maude" and model.language == "maude" and ltl is not None):
        raise InputError(f"`check` does not go by engine `{engine}` here", hint="graph, or maude for a formula")
    if ltl is not None:
        named = given_formula(ltl, model.graph)
        if isinstance(model.graph, maude.Model) and engine != "graph":
            return _check_by_maude(model, model.graph, named, limits, options)
        return _check_formula(model, named, inputs, limits, options, watch)
    claimed = isinstance(model.graph, promela.Model) and bool(model.graph.nevers)
    found = explore(
        model,
        engine="graph",
        properties=("failure-free",) if claimed else ("deadlock-free", "failure-free"),
        first=first,
        observe=observe,
        inputs=inputs,
        limits=limits,
        options=options,
        watch=watch,
    )
    found = replace(found, command="check")
    if isinstance(model.graph, promela.Model):
        for named in formulas_of(model.graph):
            if found.verdict == "violated" or found.interrupted:
                break
            found = _both(found, _check_formula(model, named, inputs, limits, options, watch))
        if claimed and found.verdict != "violated" and not found.interrupted:
            found = _both(found, _check_never(model, model.graph, limits, options, watch))
    return found


def _check_never(
    model: Model, source: promela.Model, limits: Limits | None, options: Options, watch: Watcher | None
) -> Report:
    tally = Tally(limits or Limits(), None, watch=watch)
    trail, notes = check_never(source, lambda optimise: model.system(optimise=optimise), tally, options)
    return _with_trail(made(model, "check", tally, engine="graph", property="never", notes=notes), trail)


def _check_by_maude(
    model: Model, source: maude.Model, named: Named, limits: Limits | None, options: Options
) -> Report:
    tally = Tally(limits or Limits(), None)
    trail, notes = check_by_maude(source, named, tally, options)
    notes = (*source.notes, *notes)
    return _with_trail(made(model, "check", tally, engine="maude", property=named.name, notes=notes), trail)


def transform(
    model: Model | str | Path, *, ltl: str | None = None, ample: Ample = "closure", load: str | None = None
) -> str:
    """P1: a rewrite theory with partial order reduction built in, as text for Maude. `ltl` is a formula whose
    propositions must be seen; `load` is what the text is to load first.
    """
    model = _model(model)
    if not isinstance(model.graph, maude.Model):
        raise InputError("only rewrite theories can be transformed", file=model.file, hint=".maude")
    watched = propositions_of(model.graph, given_formula(ltl, model.graph)) if ltl is not None else ()
    return model.graph.transformed(ample, watched, load)


def _with_trail(report: Report, trail: Trail | None) -> Report:
    if trail is None:
        return report
    return replace(report, trail=trail, stopped="first-violation", verdict="violated")


def verify_reduction(
    model: Model | str | Path,
    *,
    ltl: str | None = None,
    inputs: Mapping[str, Value] | None = None,
    limits: Limits | None = None,
    options: Options | None = None,
    watch: Watcher | None = None,
) -> Report:
    """Build the whole graph and the reduced one, and compare them: where runs end, and all that the propositions
    of a formula, or of the model's own, can tell, however often a letter is repeated.

    >>> verify_reduction("examples/gcl/vineyard.gcl", ltl="<> (x > 3)").verdict
    'holds'
    """
    model = _model(model)
    options = options or Options()
    formulas = [given_formula(ltl, model.graph)] if ltl is not None else []
    if ltl is None and isinstance(model.graph, promela.Model):
        formulas = formulas_of(model.graph)
    tally = Tally(limits or Limits(), None, watch=watch)
    lost, notes = compare_reduced(
        model.graph, lambda optimise: model.system(inputs, optimise=optimise), formulas, tally, options
    )
    if lost is not None:
        notes = (
            f"lost: {lost}. This is a bug in Porcini, or the model's own words on independence are wrong",
            *notes,
        )
    report = made(model, "check", tally, engine="graph", property="reduction", notes=notes)
    return replace(report, verdict=verdict(lost is not None, tally.stopped == "exhausted"))


def _both(one: Report, two: Report) -> Report:
    """The reports of two questions as one: the worse verdict, all that was counted."""
    worse = two if _WORSE.index(two.verdict) >= _WORSE.index(one.verdict) else one
    counts = Counts(
        one.counts.executions,
        states=one.counts.states + two.counts.states,
        events=one.counts.events + two.counts.events,
    )
    return replace(
        worse,
        property=two.property if two.verdict == "violated" else f"{one.property}, {two.property}",
        counts=counts,
        outcomes=one.outcomes,
        notes=tuple(dict.fromkeys(one.notes + two.notes)),
        seconds=one.seconds + two.seconds,
    )


_WORSE = ("holds", "unknown", "violated")


def _check_formula(
    model: Model,
    named: Named,
    inputs: Mapping[str, Value] | None,
    limits: Limits | None,
    options: Options,
    watch: Watcher | None,
) -> Report:
    tally = Tally(limits or Limits(), None, watch=watch)
    trail, notes = check_formula(
        model.graph, lambda optimise: model.system(inputs, optimise=optimise), named, tally, options
    )
    if isinstance(model.graph, maude.Model):
        notes = (*model.graph.notes, *notes)
    return _with_trail(made(model, "check", tally, engine="graph", property=named.name, notes=notes), trail)


def permute(
    model: Model | str | Path,
    *,
    seed: int = 0,
    schedule: Schedule | str = (),
    seeds: bool = False,
    observe: Iterable[str] | None = None,
    inputs: Mapping[str, Value] | None = None,
    limits: Limits | None = None,
    watch: Watcher | None = None,
) -> Report:
    """Record one run and list its executable permutations, one per class (P0's algorithm).

    >>> sorted(entry.state["x"] for entry in permute("examples/gcl/vineyard.gcl").traces)
    [2, 3, 4, 4, 5]
    """
    model = _model(model)
    system = model.system(inputs)
    if not isinstance(system, GraphSystem):
        raise InputError(f"`permute` is not for .{model.language} programs", file=model.file)
    limits = limits or Limits()
    tally = Tally(limits, _observed(model, observe), watch=watch)
    with located(schedule):
        recorded = run_freely(system, moves_of(schedule), Random(seed), limits)
    if recorded.limit is not None:
        stopped(tally, recorded)
        return made(model, "permute", tally, engine="fagiani", property="deterministic", traces=())
    assert isinstance(recorded.run, FrameRun)
    permuting = Permuting(system, recorded.trace, recorded.run, tally)
    collected = Seeds(permuting.recorded)
    tally.explore(lambda _: permuting.search_for(collected) if seeds else permuting.search())
    violation = first_violated(("deterministic",), tally.outcomes)
    return made(
        model,
        "permute",
        tally,
        engine="fagiani",
        property="deterministic",
        counterexample=violation[1] if violation else None,
        traces=tuple(permuting.entries),
        seeds=tuple(permuting.seeds) if seeds else None,
    )


def symbolic(
    model: Model | str | Path,
    *,
    equivalence: str = "syntactic",
    reduced: bool = True,
    observe: Iterable[str] | None = None,
    limits: Limits | None = None,
    solver_timeout: float = DEFAULT_TIMEOUT,
    with_cases: bool = False,
    watch: Watcher | None = None,
) -> Report:
    """All inputs at once: one entry for each class of paths, and the inputs for which the order matters.
    `with_cases` adds test cases: for each class an input, a schedule, and what comes of them.

    >>> from porcini.models import loads
    >>> symbolic(loads("x |-> ?, y |-> 0, True |> spawn(True |> y := x); True |> y := 2 * x")).condition
    'x != 0'
    """
    model = _model(model)
    if not isinstance(model.graph, Graph):
        raise InputError(
            f"`symbolic` has no meaning for .{model.language} programs yet", file=model.file, hint=".gcl and .par"
        )
    tally = Tally(limits or Limits(), _observed(model, observe), watch=watch)
    found = explored(model.graph, tally, equivalence=equivalence, reduced=reduced, timeout=solver_timeout)
    bad = [path for path in found.paths if path.kind in _BAD and path.input is not None]
    example, wrong = found.counterexample, "deterministic"
    if example is None and bad:
        wrong = _BAD[bad[0].kind]
        values = bad[0].input or {}
        example = Counterexample((concrete(model.graph, bad[0], values, tally.observe),), (), values)
    order_matters = found.condition is not FALSE
    report = made(
        model,
        "symbolic",
        tally,
        engine="symbolic",
        independence=equivalence if reduced else "no",
        property=wrong if example else ", ".join(EXPLORED),
        counterexample=example,
        traces=found.entries(),
        notes=tuple(found.notes),
    )
    if order_matters and example is None:  # a condition that may hold, and no input to show it
        report = replace(report, verdict="unknown")
    return replace(
        report,
        condition=show(found.condition) if order_matters else None,
        cases=tuple(cases(found)) if with_cases else None,
    )


_BAD: dict[str, PropertyName] = {
    "deadlock": "deadlock-free",
    "assertion": "failure-free",
    "error": "failure-free",
}


def replay_cases(model: Model | str | Path, tests: Sequence[Mapping[str, Any]]) -> list[str]:
    """Replay test cases; what is wrong with each that fails."""
    model, wrong = _model(model), []
    for number, case in enumerate(tests, 1):
        try:
            outcome = replay(model, case["schedule"], inputs=case["input"]).outcomes[0]
        except InputError as problem:
            wrong.append(f"case {number}: {problem.message}")
            continue
        state = {name: list(v) if isinstance(v, tuple) else v for name, v in outcome.state.items()}
        seen = {name: state.get(name) for name in case["state"]}
        if (outcome.kind, seen) != (case["kind"], case["state"]):
            wrong.append(f"case {number}: {outcome.kind} {seen}, not {case['kind']} {case['state']}")
    return wrong


def cases_report(model: Model, tests: int, wrong: int) -> Report:
    """What became of replaying test cases."""
    tally = Tally()
    tally.counts.executions = tests
    report = made(model, "replay", tally, engine="random", property="cases")
    return replace(report, verdict="violated" if wrong else "holds")


def compare(
    model: Model | str | Path, *, inputs: Mapping[str, Value] | None = None, limits: Limits | None = None
) -> list[Report]:
    """Explore with every complete engine that takes the program, for a table that compares them."""
    model = _model(model)
    runs = [(name, Options()) for name in COMPLETE if model.takes(name)]
    if model.takes("transdpor"):
        runs += [("transdpor", Options(actors=by, tasks=tasks)) for by, tasks in _SELECTIONS]
    return [explore(model, engine=name, inputs=inputs, limits=limits, options=options) for name, options in runs]


# What the commands share


_FUNCTION = re.compile(r"[\w.]+:[\w.]+\Z")


def function_of(model: Model | str | Path | Coroutine) -> Coroutine | None:
    """A coroutine function, as it is or by its name; None for a model or a file."""
    if isinstance(model, Model | Path):
        return None
    if isinstance(model, str):
        if not _FUNCTION.match(model) or Path(model).exists():
            return None
        from porcini.coroutines import from_name

        return from_name(model)
    return model


def _model(model: Model | str | Path | Coroutine) -> Model:
    assert not callable(model), "functions are dealt with before"
    return model if isinstance(model, Model) else load(model)


def _observed(model: Model, observe: Iterable[str] | None) -> frozenset[str] | None:
    if observe is None:
        return None
    names = frozenset(observe)
    known = model.observable
    for name in sorted(name for name in names if name not in known and name.rpartition(".")[2] not in known):
        hint = f"known: {', '.join(sorted(known))}" if known else None
        raise InputError(f"cannot observe `{name}`: no such variable", file=model.file, hint=hint)
    return names
