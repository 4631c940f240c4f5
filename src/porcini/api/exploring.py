"""`run`, `replay`, `explore`, `permute`: executions, one or all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, get_args

from porcini.api.programs import Coroutine, function_of, model_of, not_for_coroutines, observed_names
from porcini.core.errors import InputError, InternalError
from porcini.core.events import Schedule
from porcini.core.execution import Dependence
from porcini.core.reports import PropertyName, Report, Trail
from porcini.core.systems import Program, Value
from porcini.core.traces import Trace
from porcini.engines.catalogue import ENGINES, Engine, explored, ranked
from porcini.engines.limits import Limits
from porcini.engines.options import Independence, Options
from porcini.engines.replaying import Recorded, follow, follow_loop, run_freely
from porcini.engines.replaying import replay as follow_schedule
from porcini.engines.stats import SearchStats, Watcher
from porcini.models import Model
from porcini.properties.outcomes import EXPLORED, first_violated, inequivalent
from porcini.properties.shrink import shrunk
from porcini.reporting import build_report, located, looked_up, moves_of, of_one_run, stopped

if TYPE_CHECKING:
    from porcini.coroutines.guards import Guards
    from porcini.langs.aio.loop import Mode

INDEPENDENCES: tuple[Independence, ...] = get_args(Independence)


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

        not_for_coroutines(observe=observe, inputs=inputs)
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
    model = model_of(model)
    system = model.system(inputs)
    stats = SearchStats(limits or Limits(), observed_names(model, observe))
    with located(schedule):
        recorded = run_freely(system, moves_of(schedule), Random(seed), stats.limits)
    return replace(of_one_run(model, "run", stats, recorded), notes=_noticed(model, system))


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

        not_for_coroutines(observe=observe, inputs=inputs, loop=loop)
        return coroutines.replay(function, schedule, args=args, mode=mode, packages=packages, guards=guards)
    model = model_of(model)
    system = model.system(inputs)
    stats = SearchStats(Limits(), observed_names(model, observe))
    if loop is not None:
        with located(schedule):
            stem = follow(system.start(), moves_of(schedule))
        with located(loop):
            recorded = follow_loop(system, moves_of(schedule), moves_of(loop))
        return _endless(model, stats, Trace([*stem, *recorded]), len(recorded))
    with located(schedule):
        trace, after = follow_schedule(system, moves_of(schedule))
    return replace(of_one_run(model, "replay", stats, Recorded(trace, after)), notes=_noticed(model, system))


def _endless(model: Model, stats: SearchStats, trace: Trace, length: int) -> Report:
    """A run that was followed once round its loop."""
    stats.counts.states, stats.counts.events = len(trace) + 1, len(trace)
    stats.seconds = stats.clock.seconds
    note = f"the last {length} steps lead back to where they began, and can be done for ever"
    report = build_report(model, "replay", stats, engine="random", property="endless", notes=(note,))
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
        not_for_coroutines(
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
    model = model_of(model)
    by = ENGINES[engine]
    model.capabilities.require(f"engine `{engine}`", by.needs, model.file)
    dependence = _dependence(model, engine, independence)
    if options and options.preemptions is not None and not by.takes_preemptions:
        known = ", ".join(f"`{name}`" for name, other in ENGINES.items() if other.takes_preemptions)
        raise InputError(f"a bound on preemptions is for engine {known}")
    options = replace(options or Options(), dependence=dependence)
    wanted = properties if property is None else (property,)
    looked_up("property", wanted[0], dict.fromkeys(EXPLORED))
    system: Program = model.system(inputs, optimise=by.keeps_states and options.optimise)
    stats = SearchStats(limits or Limits(), observed_names(model, observe), watch=watch)
    if first:
        stats.violated = lambda outcomes: first_violated(wanted, outcomes) is not None
    system, stats = explored(by, system, stats, options)
    violation = first_violated(wanted, stats.outcomes)
    return build_report(
        model,
        "explore",
        stats,
        engine=engine,
        independence=independence,
        property=violation[0] if violation else ", ".join(wanted),
        counterexample=shrunk(violation[1]) if violation else None,
        notes=(
            *dependence.notes(),
            *_noticed(model, system),
            *less_reduced(model, stats, options),
            *_merged(stats),
            *_advice(stats, by, violation is not None),
        ),
    )


def _dependence(model: Model, engine: str, independence: str) -> Dependence:
    looked_up("independence", independence, dict.fromkeys(INDEPENDENCES))
    if independence == "syntactic":
        return Dependence()
    if "commuting" not in model.capabilities:
        raise InputError(
            f".{model.language} knows syntactic independence only: {model.capabilities.lacks['commuting']}",
            file=model.file,
        )
    if not ENGINES[engine].takes_independence:
        raise InputError(f"engine `{engine}` knows syntactic independence only")
    from porcini.engines.semantic import SemanticDependence  # which brings a solver with it

    return SemanticDependence()


def _noticed(model: Model, system: Program) -> tuple[str, ...]:
    """What should be known of how the program was read, and of what it did."""
    return (*model.notes, *system.noticed())


def less_reduced(model: Model, stats: SearchStats, options: Options) -> tuple[str, ...]:
    """A reduction that was asked for and that the language does not have is not passed over in silence."""
    wanted = options.reduction
    if wanted is None or wanted == "none" or wanted in model.capabilities or stats.reduction in (None, wanted):
        return ()
    return (f"no {wanted} sets for {model.capabilities.programs}: {model.capabilities.lacks[wanted]}",)


def _merged(stats: SearchStats) -> tuple[str, ...]:
    """A program that may go on for ever may have no end of names: outcomes are not told apart by these."""
    if stats.exact or not stats.outcomes:
        return ()
    return ("outcomes are one if they differ only in names, or in objects that nobody refers to any more",)


def _advice(stats: SearchStats, engine: Engine, violated: bool) -> tuple[str, ...]:
    """What to do about a search that came to no answer."""
    if stats.stopped != "limit" or violated or stats.interrupted or engine.samples or engine.keeps_states:
        return ()
    return ("`--engine pct` or `random` may still find what goes wrong in a program that is too large or endless",)


class Disagreement(InternalError):
    """Two engines that saw everything saw something else: at least one of them is wrong. `reports` are all."""

    def __init__(self, message: str, reports: Sequence[Report]) -> None:
        super().__init__(message)
        self.reports = reports


def compare(
    model: Model | str | Path,
    *,
    property: PropertyName | None = None,
    observe: Iterable[str] | None = None,
    inputs: Mapping[str, Value] | None = None,
    limits: Limits | None = None,
) -> list[Report]:
    """Explore with every complete engine that takes the program. Those that come to their end must agree in
    verdict, classes and outcomes, or there is a `Disagreement`."""
    model = model_of(model)
    runs = [
        (name, options)
        for name, engine in ranked()
        if engine.complete and model.capabilities.missing(engine.needs) is None
        for options in engine.selections
    ]
    names = None if observe is None else list(observe)
    reports = [
        explore(
            model, engine=engine, property=property, observe=names, inputs=inputs, limits=limits, options=options
        )
        for engine, options in runs
    ]
    ended = [report for report in reports if report.stopped == "exhausted"]
    for report in ended[1:]:
        if _found(report) != _found(ended[0]):
            raise Disagreement(f"engines disagree: {_told(ended[0])}, but {_told(report)}", reports)
    return reports


def _found(report: Report) -> tuple[object, ...]:
    """What all engines must agree on."""
    outcomes = frozenset((outcome.kind, *outcome.state.items()) for outcome in report.outcomes)
    return report.verdict, report.counts.classes, outcomes


def _told(report: Report) -> str:
    engine = f"{report.engine} ({report.selection})" if report.selection else report.engine
    return f"`{engine}`: {report.verdict}, {len(report.outcomes)} outcomes, {report.counts.classes:,} classes"


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
    """Record one run and list its executable permutations, one per class (P0's algorithm): are all of them
    equivalent to it?

    >>> sorted(entry.state["x"] for entry in permute("examples/gcl/vineyard.gcl").traces)
    [2, 3, 4, 4, 5]
    """
    from porcini.engines.fagiani import Seeds  # which bring a solver with them
    from porcini.engines.permuting import Permuting

    model = model_of(model)
    model.capabilities.require("`permute`", ("formulas",), model.file)
    system: Any = model.system(inputs)
    limits = limits or Limits()
    stats = SearchStats(limits, observed_names(model, observe), watch=watch)
    with located(schedule):
        recorded = run_freely(system, moves_of(schedule), Random(seed), limits)
    if recorded.limit is not None:
        stopped(stats, recorded)
        return build_report(model, "permute", stats, engine="fagiani", property="equivalent", traces=())
    run: Any = recorded.run
    permuting = Permuting(system, recorded.trace, run, stats)
    collected = Seeds(permuting.recorded)
    stats.explore(lambda _: permuting.search_for(collected) if seeds else permuting.search())
    return build_report(
        model,
        "permute",
        stats,
        engine="fagiani",
        property="equivalent",
        counterexample=inequivalent(permuting.runs),
        traces=tuple(permuting.entries),
        seeds=tuple(permuting.seeds) if seeds else None,
    )
