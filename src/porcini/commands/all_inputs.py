"""All inputs at once: the parts of `symbolic`.

    explore_symbolically   one entry for each class of paths: its condition, how it ends, an input that takes it, a
                           schedule
    _find_condition        the exact condition on the inputs under which the order matters, and two runs that show
                           it
    build_cases            the same entries as tests: an input, a schedule, and the expected outcome

The search itself is in `engines.symbolic`, the comparison of endings in `properties.for_inputs`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from porcini.core.errors import InputError, LimitHit
from porcini.core.languages import Model
from porcini.core.reports import Counterexample, Outcome, TraceEntry, differences
from porcini.core.systems import Value
from porcini.engines.equivalences import EQUIVALENCES, TraceEquivalence
from porcini.engines.limits import DEFAULT_SOLVER_TIMEOUT
from porcini.engines.replaying import replay
from porcini.engines.stats import SearchStats, keep_observed
from porcini.engines.symbolic import Path, Symbolic
from porcini.formats.schedules import show_schedule
from porcini.ir.evaluation import evaluate
from porcini.ir.expr import FALSE, Expr, disj
from porcini.ir.simplify import simplify
from porcini.ir.text import show
from porcini.properties.for_inputs import Ending, Inputs, group_by_ending
from porcini.solvers.smt import Assumptions


@dataclass(slots=True)
class SymbolicResult:
    """What a symbolic search has found."""

    model: Model
    engine: Symbolic
    observe: frozenset[str] | None = None
    condition: Expr = FALSE
    counterexample: Counterexample | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def inputs(self) -> Inputs:
        return Inputs(self.engine.smt, self.engine.stats.clock.check, self.engine.system.assumed)

    @property
    def paths(self) -> list[Path]:
        return self.engine.paths

    def store(self, values: Mapping[str, int | bool]) -> dict[str, Value]:
        """Values for all variables that may occur in expressions over the inputs, including arrays."""
        return {**self.engine.system.arrays, **values}

    def observed(self, path: Path) -> dict[str, Expr]:
        found = self.engine.system.observed(path.state)
        return found if self.observe is None else keep_observed(found, self.observe)

    def entries(self) -> tuple[TraceEntry, ...]:
        """One entry for each path; conditions are shortened as long as there is time."""
        made: list[TraceEntry] = []
        shorten, shown = True, self.engine.system.show_observed
        for path in self.paths:
            condition = path.condition
            try:
                condition = self.inputs.without_implied(condition) if shorten else condition
            except LimitHit:
                shorten = False
            state = {name: shown(name, value) for name, value in self.observed(path).items()}
            labels = tuple(map(str, path.labels))
            made.append(TraceEntry(path.schedule, labels, show(condition), state, path.kind, path.input))
        return tuple(made)


def explore_symbolically(
    model: Model,
    stats: SearchStats,
    *,
    inputs: Sequence[str] = (),
    equivalence: str = "syntactic",
    reduced: bool = True,
    timeout: float = DEFAULT_SOLVER_TIMEOUT,
) -> SymbolicResult:
    """Search, then find the inputs for which the order matters."""
    if equivalence not in EQUIVALENCES:
        raise InputError(f"unknown equivalence `{equivalence}`", hint=f"known: {', '.join(EQUIVALENCES)}")
    same: TraceEquivalence = EQUIVALENCES[equivalence]()
    engine = Symbolic(model.symbolic(inputs), same, stats, reduced=reduced, timeout=timeout)
    stats.explore(lambda _: engine.search())
    found = SymbolicResult(model, engine, stats.observe)
    try:
        _find_condition(found, timeout, stats)
    except LimitHit as hit:
        stats.leave_out(str(hit))
        found.notes.append("not all ways to end were compared: the order may matter for more inputs than said")
    if model.chooses_inputs and not engine.inputs:
        found.notes.append("nothing is an input: --input x=? asks for all values of a shared variable x")
    if engine.cut_inside:
        found.notes.append(f"paths cut in a loop whose end depends on the inputs: {engine.cut_inside:,}")
    if engine.cut:
        found.notes.append(f"paths cut at {engine.depth:,} steps (--max-depth): {engine.cut:,}")
    if (engine.cut or engine.cut_inside) and found.condition is not FALSE:
        found.notes.append("the order matters at least there: paths that were cut may say more")
    given_up = engine.assumed.gave_up + engine.smt.gave_up
    if given_up:
        found.notes.append(f"questions that the solver gave up on within {timeout:g} s: {given_up:,}")
        stats.leave_out("the solver's time limit")
    calls, seconds = engine.assumed.calls, engine.assumed.seconds
    found.notes.append(f"questions to the solver while searching: {calls:,}, {seconds:.2f} s")
    return found


def _find_condition(found: SymbolicResult, timeout: float, stats: SearchStats) -> None:
    whole = [path for path in found.paths if not path.cut]
    endings = {id(path): Ending.of(path.kind, found.observed(path)) for path in whole}
    inputs = found.inputs
    by_ending = group_by_ending((endings[id(path)], path.condition) for path in whole)
    stopped: LimitHit | None = None
    try:
        parts = inputs.where_it_matters(by_ending)
        found.condition = inputs.simplest(parts)
    except LimitHit as hit:
        stopped = hit
        found.condition = simplify(disj(*inputs.found))
    if found.condition is not FALSE:
        _example(found, whole, timeout)
    if stopped is not None:
        raise stopped


def _example(found: SymbolicResult, whole: Sequence[Path], timeout: float) -> None:
    """An input for which the order matters, and two runs that show it."""
    asked = Assumptions(found.engine.smt, timeout)
    asked.push(found.engine.term(found.engine.system.assumed))
    wanted = {name: found.engine.term(variable) for name, variable in found.engine.inputs.items()}
    example = asked.example(found.engine.term(found.condition), wanted=wanted)
    if example is None:
        return
    taken = [path for path in whole if evaluate(path.condition, found.store(example))]
    runs = [run_concretely(found.model, path, example, found.observe) for path in taken]
    for run in runs[1:]:
        names = differences(runs[0], run)
        if names:
            found.counterexample = Counterexample((runs[0], run), names, example)
            return


def run_concretely(
    model: Model, path: Path, values: Mapping[str, int | bool], observe: frozenset[str] | None
) -> Outcome:
    """The outcome of a path, run with an input that takes it."""
    trace, run = replay(model.system(dict(values)), path.schedule)
    final = run.final()
    state = final.state if observe is None else keep_observed(final.state, observe)
    return Outcome.of(trace, replace(final, state=state))


# Test cases


def build_cases(found: SymbolicResult) -> list[dict[str, Any]]:
    """One input and schedule for each class, with the outcome."""
    made = []
    for path in found.paths:
        if path.cut or path.input is None:
            continue
        outcome = run_concretely(found.model, path, path.input, found.observe)
        made.append(
            {
                "input": path.input,
                "schedule": show_schedule(outcome.schedule),
                "kind": outcome.kind,
                "state": {n: list(v) if isinstance(v, tuple) else v for n, v in outcome.state.items()},
            }
        )
    return made
