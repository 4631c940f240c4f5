"""Formulas of Promela models against the packed program that defines what they mean.

every option, everywhere      what formulas say a process can do is what it can do, and leads to the same state
permutations                  against all orders of a recorded run, each tried on the program itself
`fagiani`                     against `optimal`: the same outcomes, the same classes
`--independence semantic`     the same outcomes, and never more classes
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import porcini
from porcini import Limits
from porcini.core.events import Event
from porcini.core.traces import normal_form
from porcini.engines.replaying import follow
from porcini.ir.expr import Select, evaluate
from porcini.ir.labels import Label, condition
from porcini.ir.packed.formulas import Labels, Seen, Who, values_of
from porcini.ir.packed.layout import HOLDER, POPULATION, POPULATION_AT, CheckFailed, RunError
from porcini.ir.packed.lines import Births
from porcini.ir.packed.program import Receive
from porcini.ir.packed.view import PackedRun, PackedView
from porcini.ir.packed.world import Instance, World, known_from_the_start
from promela_strategies import promela_models
from strategies import PROGRAMS

SOME = settings(max_examples=max(PROGRAMS // 16, 20), deadline=None, suppress_health_check=list(HealthCheck))
FEW = settings(SOME, max_examples=max(PROGRAMS // 40, 8))
ENDING = promela_models(statements=9, endless=False)
ENDLESS = promela_models(statements=14)
MOST_SLOTS = 6


# Every option, everywhere


def options_agree(view: PackedView, random: Random, steps: int = 12) -> None:
    """Along a random run: for each process its options are its actions, and each leads where its action leads."""
    labels = Labels(World(view.system, MOST_SLOTS, known_from_the_start(view.system)))
    run = view.start()
    for _ in range(steps):
        able = [action for action in run.actions() if action.enabled]
        if len(run.names.births) >= MOST_SLOTS - 1:
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
            gone = {f"{slot}." for slot in range(MOST_SLOTS) if not wanted[f"{slot}.@point"]}
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
    option, outcome = labels.taken(me, here, event.choice, held, values, births)
    who = Who(me, run.names.births[process.slot], (here,))
    return labels.step(who, here, option, held, outcome, Seen(str(event.label)))


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
