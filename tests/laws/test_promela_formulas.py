"""Formulas of Promela models against the packed program that defines what they mean.

every option, everywhere      what formulas say a process can do is what it can do, and leads to the same state
permutations                  against all orders of a recorded run, each tried on the program itself
`fagiani`                     against `optimal`: the same outcomes, the same classes
`--independence semantic`     the same outcomes, and never more classes
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import porcini
from porcini import Limits
from porcini.commands.all_inputs import explore_symbolically
from porcini.core.events import Event
from porcini.core.traces import normal_form
from porcini.engines.replaying import follow
from porcini.engines.stats import SearchStats
from porcini.ir.evaluation import evaluate
from porcini.ir.expr import ArrayType, Expr, Select, const, var
from porcini.ir.operations import Receive
from porcini.ir.packed.formulas.labels import Labels, StepInfo, Who, values_of
from porcini.ir.packed.formulas.lines import Births
from porcini.ir.packed.formulas.world import Instance, World, initial_constants
from porcini.ir.packed.layout import HOLDER, POPULATION, POPULATION_AT, CheckFailed, RunError
from porcini.ir.packed.runs import PackedRun
from porcini.ir.packed.view import PackedView
from porcini.ir.symbolic.labels import Label, condition
from porcini.ir.symbolic.program import cells_of, literal
from promela_strategies import promela_models
from strategies import PROGRAMS

SOME = settings(max_examples=max(PROGRAMS // 16, 20), deadline=None, suppress_health_check=list(HealthCheck))
FEW = settings(SOME, max_examples=max(PROGRAMS // 40, 8))
ENDING = promela_models(statements=9, endless=False)
ENDLESS = promela_models(statements=14)


# Every option, everywhere


def options_agree(view: PackedView, random: Random, steps: int = 12) -> None:
    """Along a random run: for each process its options are its actions, and each leads where its action leads."""
    slots = len(view.system.program.initial) + 3
    labels = Labels(World(view.system, slots, initial_constants(view.system)))
    run = view.start()
    for _ in range(steps):
        able = [action for action in run.actions() if action.enabled]
        if len(run.names.births) >= slots:
            return
        store = labels.world.store(run.state, run.names.births)
        assert {(action.pid, action.choice) for action in able} == set(possible(view, labels, run, store))
        for action in able:
            after = run.fork()
            event = after.step(action)
            label = label_of(view, labels, run, event)
            assert evaluate(condition(label), store) is True
            assert (label.failure and label.failure.kind) == (event.failure and event.failure.kind)
            assert label.spawned == event.spawned
            wanted = labels.world.store(after.state, after.names.births)
            gone = {f"{slot}." for slot in range(slots) if not wanted[f"{slot}.@point"]}
            for name, value in carried_out(label, store).items():
                if not name.startswith(("@message", *gone)) or name.endswith(("@point", "@births")):
                    assert wanted[name] == value, (name, str(label))
        if not able:
            return
        run.step(random.choice(able))


def possible(view: PackedView, labels: Labels, run: PackedRun, store: dict) -> Iterator[tuple]:
    for process in view.system.present(run.state).members:
        me = Instance(process.slot, process.number, frozenset(process.constants.values.items()))
        who = Who(me, run.names.births[process.slot], tuple(range(len(process.template.points))))
        found, guards = labels.guards(who)
        for (_, option), guard in zip(found, guards, strict=True):
            if evaluate(guard, store):
                yield who.pid, option.choice


def label_of(view: PackedView, labels: Labels, run: PackedRun, event: Event) -> Label:
    process = view.system.present(run.state).members[event.pid[0]]
    births = Births((run.state & POPULATION) >> POPULATION_AT, tuple(run.names.births))
    values = values_of(labels.world.store(run.state, run.names.births))
    me = Instance(process.slot, process.number, frozenset(process.constants.values.items()))
    here, held = process.here(run.state), bool(run.state & HOLDER)
    option, outcome = labels.outcome_of(me, here, event.choice, held, values, births)
    who = Who(me, run.names.births[process.slot], (here,))
    return labels.step(who, here, option, held, outcome, StepInfo(str(event.label)))


def carried_out(label: Label, store: dict) -> dict:
    now = dict(store)
    for effect in label.effects:
        value = evaluate(effect.value, now)
        if isinstance(effect.target, Select):
            index = evaluate(effect.target.index, now)
            name = effect.target.array.name
            now[name] = (*now[name][:index], value, *now[name][index + 1 :])
        else:
            now[effect.target.name] = value
    return now


@SOME
@given(ENDLESS, st.randoms(use_true_random=False))
def test_options_are_actions(source: str, random: Random) -> None:
    view = porcini.loads(source, "pml").system()
    assert isinstance(view, PackedView)
    options_agree(view, random)


# Permutations


def permutations_agree(model: porcini.Model, random: Random, most: int = 8) -> None:
    """All orders of a recorded run that keep each process's order and that the program can do step by step as it
    was recorded, against those that `permute` lists: the same classes, each once, with the same ends."""
    view = model.system()
    assert isinstance(view, PackedView)
    run = view.start()
    recorded: list[tuple] = []
    while able := [action for action in run.actions() if action.enabled]:
        if len(recorded) == most:
            return
        recorded.append(as_done(run, random.choice(able)))
    schedule = tuple(event.move for event, *_ in recorded)
    report = porcini.permute(model, schedule=schedule)
    wanted = {}
    for events, after in orders(view, recorded):
        kind = "unfinished" if any(action.enabled for action in after.actions()) else after.final().kind
        wanted[normal_form(events)] = kind, str(after.final().state)
    found = {}
    for entry in report.traces:
        after = view.start()
        trace = follow(after, entry.schedule)
        name = normal_form(trace)
        assert name not in found
        found[name] = entry.kind, str(entry.state)
        assert str(after.final().state) == str(entry.state)
    assert found == wanted


def as_done(run: PackedRun, action) -> tuple:
    """An event, and all that makes it the step that it is: who has the turn before and after, which channel is
    used at which place, how a `d_step` goes, where it leads."""
    system, step, state = run.view.system, action.step, run.state
    process = step.process
    before, point = state & HOLDER, process.here(state)
    event = run.step(action)
    gone = system.layout.template_of(run.state, process.slot) != process.number
    after = run.state & HOLDER, None if gone else process.here(run.state)
    what = event.label, event.choice, event.spawned, event.failure and event.failure.kind
    inside = [used(step.code, state)]
    try:
        now = step.code.apply(state) if step.partner is None else state
        code = step.code
        while code is not None and code.edge.d_step:
            code = system._first_ready(now, process.at(now))
            if code is not None:
                inside.append((code, used(code, now)))
                now = code.apply(now)
    except (RunError, CheckFailed) as problem:
        inside.append(type(problem))
    return event, what, before, point, after, inside


def used(code, state: int) -> object:
    """The channel that an edge uses, and at which place."""
    if code.channel is None:
        return None
    try:
        channel, talk = code.channel(state), code.edge.talk
        if isinstance(talk, Receive) and channel.capacity:
            return channel.id, channel.find(state, code.wanted(state), talk.anywhere)
        if channel.capacity and talk.ordered:
            new, held = code.values(state), channel.messages(state)
            return channel.id, next((i for i, other in enumerate(held) if new < other), len(held))
        return channel.id
    except RunError:
        return "error"


def orders(view: PackedView, recorded: list[tuple]) -> Iterator[tuple[list[Event], PackedRun]]:
    """Depth first: each process's next recorded step, where the program does just that."""
    left: dict = {}
    for done in recorded:
        left.setdefault(done[0].pid, []).append(done)

    def search(run: PackedRun, events: list[Event]) -> Iterator[tuple[list[Event], PackedRun]]:
        if len(events) == len(recorded):
            yield events, run
        for action in run.actions():
            mine = left.get(action.pid)
            if mine and action.enabled and action.choice == mine[0][0].choice:
                after = run.fork()
                done = as_done(after, action)
                if done[1:] == mine[0][1:]:
                    took = mine.pop(0)
                    yield from search(after, [*events, done[0]])
                    mine.insert(0, took)

    yield from search(view.start(), [])


@FEW
@given(promela_models(processes=3, statements=6, endless=False), st.randoms(use_true_random=False))
def test_permutations_are_those_that_the_program_can_do(source: str, random: Random) -> None:
    permutations_agree(porcini.loads(source, "pml"), random)


# All classes by permutations


def fagiani_agrees(model: porcini.Model, random: Random | None = None) -> None:
    limits = Limits(max_executions=150)
    wanted = porcini.explore(model, limits=limits)
    if wanted.stopped != "exhausted":
        return
    found = porcini.explore(model, engine="fagiani", limits=Limits(max_executions=400))
    assert found.stopped == "exhausted"
    assert ends(found) == ends(wanted)
    assert found.counts.classes == wanted.counts.classes == found.counts.executions


def ends(report: porcini.Report) -> set:
    return {(outcome.kind, str(dict(outcome.state))) for outcome in report.outcomes}


@FEW
@given(ENDING)
def test_fagiani_finds_all_classes(source: str) -> None:
    fagiani_agrees(porcini.loads(source, "pml"))


# All inputs at once


def symbolic_agrees(
    model: porcini.Model,
    random: Random | None = None,
    *,
    inputs: dict = {"x": range(4), "b": range(2)},  # noqa: B006
    equivalence: str = "syntactic",
    reduced: bool = True,
) -> None:
    """For each input: its paths end as its runs do, and the order matters where there are two ends."""
    stats = SearchStats(Limits(max_depth=40, max_executions=150, timeout=20))
    found = explore_symbolically(model, stats, inputs=list(inputs), equivalence=equivalence, reduced=reduced)
    if stats.stopped != "exhausted":
        return
    system = found.engine.system
    for values in product(*inputs.values()):
        given_ = dict(zip(inputs, values, strict=True))
        report = porcini.explore(model, inputs=given_, limits=Limits(max_executions=300))
        assert report.stopped == "exhausted"
        store = found.store(given_)
        taken = [path for path in found.paths if evaluate(path.condition, store)]
        seen = set()
        for path in taken:
            state = {n: system.show_observed(n, literally(e, store)) for n, e in found.observed(path).items()}
            seen.add((path.kind, str(state)))
        assert seen == ends(report), given_
        assert bool(evaluate(found.condition, store)) == (len(seen) > 1), given_
        if equivalence == "syntactic" and reduced:
            assert len(taken) >= len(seen)
    for path in found.paths:
        assert path.input is not None and evaluate(path.condition, found.store(path.input))
        again = porcini.replay(model, path.schedule, inputs=path.input).outcomes[0]
        assert again.kind == path.kind


def literally(expr: Expr, store: dict) -> Expr:
    """An expression over the inputs, for one of them."""
    if isinstance(expr.type, ArrayType):
        array = var("array", expr.type)
        return literal(array, tuple(evaluate(cell, store) for cell in cells_of(expr)))
    return const(evaluate(expr, store))


@FEW
@given(promela_models(processes=3, statements=6, endless=False))
def test_symbolic_paths_are_the_runs_of_each_input(source: str) -> None:
    symbolic_agrees(porcini.loads(source, "pml"))


@settings(FEW, max_examples=4)
@given(promela_models(processes=2, statements=5, endless=False))
def test_other_equivalences_and_no_reduction(source: str) -> None:
    model = porcini.loads(source, "pml")
    for equivalence in ("semantic", "traces"):
        symbolic_agrees(model, equivalence=equivalence)
    symbolic_agrees(model, reduced=False)


# Semantic independence


def semantic_agrees(model: porcini.Model, random: Random | None = None) -> None:
    limits = Limits(max_executions=100)
    wanted = porcini.explore(model, limits=limits)
    if wanted.stopped != "exhausted":
        return
    for engine in ("optimal", "source", "sleep"):
        found = porcini.explore(model, engine=engine, independence="semantic", limits=Limits(max_executions=300))
        assert found.stopped == "exhausted" and ends(found) == ends(wanted), engine
        assert found.counts.classes <= wanted.counts.classes, engine


@settings(FEW, max_examples=6)
@given(promela_models(processes=3, statements=6, endless=False))
def test_semantic_independence_loses_no_outcome(source: str) -> None:
    semantic_agrees(porcini.loads(source, "pml"))


def classes(one: str, two: str, independence: str = "semantic") -> int:
    source = (
        "byte x; byte y = 1; byte z; bit b; short s; byte a[2]; chan c = [2] of { byte };\n"
        f"active proctype P() {{ {one} }} active proctype Q() {{ {two} }}"
    )
    observe = ["x", "y", "z", "b", "s", "a", "c"]
    return porcini.explore(porcini.loads(source, "pml"), independence=independence, observe=observe).counts.classes


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("x = x + 1", "x = x + 2"),
        ("x = x + 200", "x = x - 77"),  # also where it wraps around
        ("s = s - 1", "s = s - 30000"),
        ("x = 5", "x = 5"),
        ("b = !b", "b = 1 - b"),
        ("y > 0 -> y = y | 1", "y = y | 4"),
        ("x = x", "x < 3"),
        ("a[x % 2] = 3", "a[x % 2] = 3"),
        ("if :: x == 0 -> z = 1 :: x == 9 -> z = 2 fi", "x = x & 255"),
    ],
)
def test_these_commute(one: str, two: str) -> None:
    assert classes(one, two) < classes(one, two, "syntactic")


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("x = x + 1", "x = x * 2"),
        ("x = 1", "x = 2"),
        ("y = y / 2", "y = y + 1"),
        ("c!1", "c!2"),
        ("x = 1 / y", "y = 0"),
        ("assert(x == 0)", "x = 1"),
        ("if :: y == 1 -> z = 1 :: x == 1 -> z = 2 fi", "x = 1"),  # another choice comes up
        ("atomic { x == 0 -> x = 1 }", "x = 1"),
        ("d_step { x = x + 1; x = x * 2 }", "x = x + 1"),
    ],
)
def test_these_do_not(one: str, two: str) -> None:
    do_not_commute(one, two)


def do_not_commute(one: str, two: str) -> None:
    assert classes(one, two) == classes(one, two, "syntactic") > 1
