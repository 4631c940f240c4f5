"""Seeded bugs, one for each shortcut that was wrong and for each condition that the engines rely on.

A law that no mutant breaks proves nothing: with the fixed seeds of `make conformance`, each of these must be
caught by the programs of one of its kinds. A mutant replaces one function of an engine while programs are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any
from unittest.mock import patch

from conformance.fault_mutants import FAULT_MUTANTS
from porcini.core.events import Action, Event
from porcini.core.execution import Execution
from porcini.core.footprints import OPAQUE, Footprint
from porcini.engines import backtracking, optimal, races, search, semantic, wakeup, wakeup_sequences
from porcini.engines.foreseeing import Foresight
from porcini.engines.search import Search
from porcini.engines.transdpor import TransDpor
from porcini.ir.expr import TRUE, Expr, Timeout, nodes
from porcini.ir.packed import claims, guards, relations
from porcini.ir.packed.claims import NeverClaim
from porcini.ir.packed.code import EdgeCode
from porcini.ir.packed.guards import Guards
from porcini.ir.packed.processes import PointCode, Process
from porcini.ir.packed.relations import Relations
from porcini.ir.packed.touch import Toucher
from porcini.ir.packed.transitions import NOBODY, Guard, Transition, disturbs
from porcini.ir.program import Edge
from porcini.ir.symbolic.commuting import commute
from porcini.ir.symbolic.labels import Label
from porcini.langs.aio import sections
from porcini.langs.aio.joins import Joins
from porcini.langs.maude import bindings, derived, model, reduction, steps, text, theory, written
from porcini.langs.maude.names import Names
from porcini.langs.maude.patterns import Pattern
from porcini.langs.maude.searching import Finder
from porcini.langs.maude.system import MaudeSystem
from porcini.solvers.smt import Smt

MODELS = ("gcl", "abs", "par")


@dataclass(frozen=True, slots=True)
class Mutant:
    """A bug: `put_in` replaces something for as long as it is entered; `engine` is the one that has it."""

    name: str
    put_in: Callable[[], AbstractContextManager[object]]
    engine: str = "optimal"
    kinds: tuple[str, ...] = MODELS
    known: tuple[str, int] | None = None
    """A program that catches it, by its kind and seed."""


def _patch(place: object, name: str, mutant: Callable[..., Any]) -> Callable[[], AbstractContextManager[object]]:
    return lambda: patch.object(place, name, mutant)


# Reversals that are skipped -------------------------------------------------------------------------------------


@contextmanager
def _as_it_happened() -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(patch.object(semantic, "_formulas_of", lambda step: step.label))
        stack.enter_context(patch.object(semantic, "ways_to_end", lambda label: iter((label,))))
        yield


def _same_effects(a: Label, b: Label, smt: Smt, known: Expr = TRUE) -> bool:
    """Two labels commute if both orders lead to the same state, even if one may switch the other off."""
    return commute(_without_guards(a), _without_guards(b), smt, known)


def _without_guards(label: Label) -> Label:
    return replace(label, guards=tuple(TRUE for _ in label.guards))


@contextmanager
def _races_of_new_events() -> Iterator[None]:
    every, of_races, first_new = wakeup_sequences.plain_races, wakeup_sequences._reverse_races, 0

    def of_new_ones(search: Search, *rest: Any) -> Any:
        nonlocal first_new
        first_new = search.first_new
        return of_races(search, *rest)

    with ExitStack() as stack:
        stack.enter_context(patch.object(wakeup_sequences, "_reverse_races", of_new_ones))
        new = lambda run: (race for race in every(run) if race.step >= first_new)  # noqa: E731
        stack.enter_context(patch.object(wakeup_sequences, "plain_races", new))
        yield


def _possible_steps(
    search: Search, pid: Any, step: int | None, guard_locations: Any
) -> Iterator[tuple[Any, list[Action]]]:
    """As `_reverse_guards`, without looking for more that decides."""
    for cut in races.cuts(search.execution, pid, step, guard_locations):
        event = search.execution.events[cut.at]
        yield (
            cut,
            [
                action
                for action in wakeup_sequences._actions_at_cut(search, cut, pid, step)
                if action.enabled and search.dependence.conflict(event, action)
            ],
        )


def _guards(search: Search, pid: Any, step: int | None, guard_locations: Any, closed: Any) -> Iterator[Any]:
    for cut, actions in _possible_steps(search, pid, step, guard_locations):
        if actions:
            positions = races.not_after(search.execution, cut.at, cut.barred)
            between = [search.execution.events[k] for k in positions]
            yield wakeup_sequences.Reversal(cut.at, between, [search.planned_event(action) for action in actions])


def _guards_not_seen_before(
    search: Search, pid: Any, step: int | None, guard_locations: Any, closed: Any
) -> Iterator[Any]:
    """A reversal whose step and whose deciding events are old is skipped, if nothing new between conflicts."""
    execution, new = search.execution, search.first_new
    for cut, actions in _possible_steps(search, pid, step, guard_locations):
        positions = races.not_after(execution, cut.at, cut.barred)
        writers = set(execution.writers(guard_locations))
        old = step is not None and step < new and all(k < new for k in positions if k in writers)
        steps = [
            planned
            for planned in map(search.planned_event, actions)
            if not old
            or any(search.dependence.dependent(planned, execution.events[k]) for k in positions if k >= new)
        ]
        if steps:
            yield wakeup_sequences.Reversal(cut.at, [execution.events[k] for k in positions], steps)


@contextmanager
def _guards_that_changed() -> Iterator[None]:
    """An old event is skipped if nothing new touches what decides about it, or what it could do elsewhere."""
    reaches: dict[int, tuple[object, Footprint]] = {}
    real = wakeup_sequences._reverse_guards

    def changed(search: Search, pid: Any, step: int | None, guard_locations: Any, closed: Any) -> Iterator[Any]:
        if step is None:
            yield from real(search, pid, step, guard_locations, closed)
            return
        node = search.nodes[step + 1]
        kept, reach = reaches.get(id(node), (None, None))
        new = [event.footprint for event in search.execution.events[search.first_new :]]
        if step < search.first_new and kept is node and not any(map(reach.conflicts, new)):
            return
        reach = Footprint(guard_locations)
        for reversal in real(search, pid, step, guard_locations, closed):
            for event in reversal.steps:
                reach |= event.footprint
            yield reversal
        reaches[id(node)] = node, reach

    with patch.object(wakeup_sequences, "_reverse_guards", changed):
        yield


def _short_sequences(search: Search, *rest: Any) -> Iterator[Any]:
    """Only what the step needs stands between."""
    for reversal in _real_of_races(search, *rest):
        for step in reversal.steps:
            needed = [step]
            for event in reversed(reversal.between):
                if any(search.dependence.dependent(event, later) for later in needed):
                    needed.insert(0, event)
            yield wakeup_sequences.Reversal(reversal.at, needed[:-1], [step])


_real_of_races = wakeup_sequences._reverse_races


def _choices_at_once(search: Search, closed: Any) -> Iterator[Any]:
    """Other choices are tried where a process went, with nothing between."""
    for reversal in _real_of_choices(search, closed):
        yield wakeup_sequences.Reversal(reversal.at, [], reversal.steps)


_real_of_choices = wakeup_sequences._reverse_choices


# Cuts -----------------------------------------------------------------------------------------------------------


def _cuts(keep: Callable[[races.Cut, Execution, int | None], bool]) -> Callable[..., Any]:
    """Only some of the cuts."""
    return lambda execution, pid, step, locations: (
        cut for cut in races.cuts(execution, pid, step, locations) if keep(cut, execution, step)
    )


def _first_writers_only(execution: Execution, pid: Any, step: int | None, locations: Any) -> list[races.Cut]:
    found = list(races.cuts(execution, pid, step, locations))
    return [cut for cut in found if cut.at == found[0].at]


def _last_writers_only(execution: Execution, pid: Any, step: int | None, locations: Any) -> list[races.Cut]:
    found = list(races.cuts(execution, pid, step, locations))
    return [cut for cut in found if cut.at == found[-1].at]


# Wakeup trees ---------------------------------------------------------------------------------------------------


def _insert_first(tree: Any, sequence: Sequence[Event], dependence: Any) -> bool:
    """What is new is explored first, and so before what it was compared with."""
    number = len(tree)
    added = wakeup.insert(tree, sequence, dependence)
    if len(tree) > number:
        tree.insert(0, tree.pop())
    return added


def _insert_at_the_root(tree: Any, sequence: Sequence[Event], dependence: Any) -> bool:
    """A branch is followed only if the sequence begins with its event."""
    for branch in tree:
        if branch.event.move == sequence[0].move:
            return bool(branch.below) and _insert_at_the_root(branch.below, sequence[1:], dependence)
    for event in sequence:
        tree.append(wakeup.Branch(event))
        tree = tree[-1].below
    return True


_weak_initial = wakeup.weak_initial


def _initial_only(event: Event, sequence: Any, dependence: Any) -> int | None:
    found = _weak_initial(event, sequence, dependence)
    return None if found == wakeup.INDEPENDENT else found


def _whatever_it_meets(event: Event, sequence: Any, dependence: Any) -> int | None:
    """An event is taken for an initial wherever its process stands in the sequence."""
    moves = [other.move for other in sequence]
    return moves.index(event.move) if event.move in moves else wakeup.INDEPENDENT


def _without_sleepers(self: Any, search: Search, reversal: Any) -> None:
    for step in reversal.steps:
        wakeup.insert(search.nodes[reversal.at].plan, [*reversal.between, step], search.dependence)


# Sleep sets and source sets -------------------------------------------------------------------------------------

_open = search.Search._open


def _nobody_wakes(self: Search, run: Any, actions: Any, sleep: Any, plan: Any) -> bool:
    return _open(self, run, actions, dict(self.nodes[-1].sleep if self.nodes else sleep), plan)


def _nobody_sleeps_long(self: Search, run: Any, actions: Any, sleep: Any, plan: Any) -> bool:
    return _open(self, run, actions, {}, plan)


def _first_of_all(self: Any, sequence: list[Event], search: Search) -> list[Any]:
    """The first event of a sequence is the only one that will do."""
    return [sequence[0].move]


def _any_of_it(self: Any, sequence: list[Event], search: Search) -> list[Any]:
    """Any event of a sequence will do, whether or not it can come first."""
    enabled = [event.move for event in sequence]
    return [sequence[0].move, *enabled]


# Actors ---------------------------------------------------------------------------------------------------------


def _marks_that_stay(self: Any, node: Any, event: Event) -> dict[Any, frozenset[Any]]:
    """Fig. 6 to the letter: a mark stays until its actor runs another task."""
    actor = self.actors.of_step(event)
    return {**_real_marks(self, node, event), **{a: pids for a, pids in node.plan.marks.items() if a != actor}}


_real_marks = TransDpor._marks


# Discovered footprints ------------------------------------------------------------------------------------------


def _touches_anything(self: Any, race: Any, between: Any) -> Event:
    step = self._execution.events[race.step]
    return Event(step.pid, step.choice, step.label, OPAQUE)


def _whatever_the_process_did(self: Any, race: Any, between: Any) -> Event | None:
    return next(iter(self._recorded.get(self._process_key(race.step), ())), None)


# Stubborn and ample sets ----------------------------------------------------------------------------------------


def _entered_by_senders_only(relations: Relations, process: Any, there: int) -> int:
    """A process comes to a point by its own steps, not by what it receives."""
    known = 0
    for transition in relations.all:
        if transition.stands[:1] and transition.stands[0][0] is process:
            known |= (transition.ends.get(process.slot, 0) >> there & 1) << transition.number
    return known


@contextmanager
def _without_partners() -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(patch.object(Relations, "entering", _entered_by_senders_only))
        here = lambda self, process, here, there: _entered_by_senders_only(self, process, there)  # noqa: E731
        stack.enter_context(patch.object(Relations, "leading", here))
        yield


_waking_end = Toucher.waking_end
_allowed = Guards._allowed


def _nobody_enables_else(guards: Guards, process: Process, code: EdgeCode, here: PointCode) -> Iterator[Guard]:
    for guard in _allowed(guards, process, code, here):
        yield replace(guard, wakes=NOBODY) if code.edge.otherwise else guard


def _by_who_begins(one: Transition, other: Transition) -> bool:
    begin = {mover.slot for mover, _ in one.stands}
    return disturbs(replace(one, ends={slot: ends for slot, ends in one.ends.items() if slot in begin}), other)


def _asks_for_timeout(process: Process, edge: Edge) -> bool:
    return any(isinstance(node, Timeout) for guard in edge.guards for node in nodes(guard))


# Rewrite theories -----------------------------------------------------------------------------------------------


def _in_sections(old: str, new: str) -> Callable[[], AbstractContextManager[object]]:
    """Another line in what all transformed theories have in common."""
    sections = {name: text.replace(old, new) for name, text in steps._sections().items()}
    assert sections != steps._sections(), old
    return _patch(steps, "_sections", lambda: sections)


def _only_loaded(module: written.Written) -> str | None:
    """As `enter`, without looking at what Maude has understood."""
    bindings.enter(module.text)
    return None


@contextmanager
def _without_brackets() -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(patch.object(text.Printer, "argument", text.Printer.term))
        stack.enter_context(patch.object(text, "_tokens_of", lambda node: []))
        stack.enter_context(patch.object(model, "enter", _only_loaded))
        yield


def _thread_by_name(self: MaudeSystem, part: Any) -> str | None:
    """As `_tid_of`, for whatever is written like a thread."""
    args = list(part.arguments())
    index = self._shapes.get((str(part.symbol()).replace("`", ""), len(args)))
    return None if index is None else str(args[index])


def _reading_only(found: derived.Derived, pair: derived.Pair, real: Any = derived._access) -> derived.Access:
    return replace(real(found, pair), writes=False)


def _as_without_a_formula(self: Any) -> list[str]:
    return ["  eq Invisible(Cs, Ss, C) = true ."]


def _watching_nothing(self: Finder, proposition: str, ample: Any) -> Any:
    """As `_module_for`, as if it did not matter which steps change a proposition."""
    return self._model.reduced_module(ample, ()) if self.reduced else self._system.module


def _ends_only(self: Finder, number: int, real: Any = Finder._note) -> None:
    if self._graph.getNextState(number, 0) == -1:
        real(self, number)


def _first_match_only(self: Pattern, state: Any, real: Any = Pattern.matches) -> Iterator[Any]:
    yield from islice(real(self, state), 1)


_APART = "(W in Cs or-else Undisturbed(Cs, W)) and-then Apart(Cs, Us)"
_IN_THEORIES = (
    ("names of ours stay", _patch(theory, "names_for", lambda *_, **__: Names({}, "")), 4),
    ("no brackets, and nothing is read back", _without_brackets, 8),
    ("nobody disturbs anybody", _in_sections(_APART, "true"), 0),
    ("every step is invisible", _patch(reduction._Reduction, "_visible", _as_without_a_formula), 3),
    ("threads are told by their names", _patch(MaudeSystem, "_tid_of", _thread_by_name), 16),
    ("a search does not watch", _patch(Finder, "_module_for", _watching_nothing), 3),
    ("a search looks at ends only", _patch(Finder, "_note", _ends_only), 0),
    ("a search counts states", _patch(Pattern, "matches", _first_match_only), 5),
    ("derived steps only read", _patch(derived, "_access", _reading_only), 0),
)


# Locks that are guarded -----------------------------------------------------------------------------------------


def _silently(name: str) -> Callable[[], AbstractContextManager[object]]:
    """Something about a lock that is an exception, and goes unnoticed."""
    method = getattr(sections.Guarded, name)

    def silent(self: sections.Guarded, *args: Any) -> Any:
        with patch.object(sections.Sections, "exception", lambda *_: None):
            return method(self, *args)

    return _patch(sections.Guarded, name, silent)


_come = sections.Guarded.come


def _comes_unseen(self: sections.Guarded) -> Any:
    section = _come(self)
    self.sections.loop.writes.discard(self.owners)
    return section


_OF_LOCKS = (
    ("who has one never gets stuck", _silently("stuck"), 2237),
    ("who is cancelled in line is not missed", _silently("give_up"), 1263),
    ("nobody sees that one is taken", _silently("is_taken"), 3084),
    ("nobody looks inside", _patch(sections, "looks_inside", lambda *_: False), 574),
    ("sections may overlap", _patch(sections.Sections, "check", lambda self: None), 9),
    ("nobody sees who comes first", _patch(sections.Guarded, "come", _comes_unseen), 431),
)

MUTANTS = [
    Mutant(
        "failed steps commute as what they did",
        _as_it_happened,
        kinds=("gcl semantic",),
        known=("gcl semantic", 139),
    ),
    Mutant(
        "what commutes where both can go commutes",
        _patch(semantic, "commute", _same_effects),
        kinds=("gcl semantic", "par semantic"),
        known=("gcl semantic", 0),
    ),
    Mutant("races of new events only", _races_of_new_events, known=("gcl", 257)),
    Mutant(
        "guard reversals that look as before",
        _patch(wakeup_sequences, "_reverse_guards", _guards_not_seen_before),
        known=("abs", 15),
    ),
    Mutant("guards that nothing new touches", _guards_that_changed, known=("abs", 44)),
    Mutant("what decides in this run only", _patch(wakeup_sequences, "_reverse_guards", _guards), kinds=("abs",)),
    Mutant("sequences with what is needed only", _patch(wakeup_sequences, "_reverse_races", _short_sequences)),
    Mutant(
        "no other choices", _patch(wakeup_sequences, "_reverse_choices", lambda *_: ()), kinds=("pml", "maude")
    ),
    Mutant(
        "other choices at once",
        _patch(wakeup_sequences, "_reverse_choices", _choices_at_once),
        kinds=("pml",),
        known=("pml", 713),
    ),
    Mutant("no cuts", _patch(wakeup_sequences, "cuts", lambda *_: ())),
    Mutant(
        "no cuts for blocked processes",
        _patch(wakeup_sequences, "cuts", _cuts(lambda cut, run, step: step is not None)),
    ),
    Mutant(
        "no cuts for steps that were taken",
        _patch(wakeup_sequences, "cuts", _cuts(lambda cut, run, step: step is None)),
    ),
    Mutant(
        "cuts that keep every writer",
        _patch(
            wakeup_sequences,
            "cuts",
            _cuts(lambda cut, run, step: cut.barred == 1 << cut.at | (0 if step is None else 1 << step)),
        ),
    ),
    Mutant("cuts at the first writer only", _patch(wakeup_sequences, "cuts", _first_writers_only)),
    Mutant("cuts at the last writer only", _patch(wakeup_sequences, "cuts", _last_writers_only)),
    Mutant("sequences to be explored first", _patch(optimal, "insert", _insert_first)),
    Mutant("branches that a sequence begins with only", _patch(optimal, "insert", _insert_at_the_root)),
    Mutant("branches that are initials only", _patch(wakeup, "weak_initial", _initial_only)),
    Mutant("branches in any place", _patch(wakeup, "weak_initial", _whatever_it_meets)),
    Mutant("sleeping steps that are initials only", _patch(optimal, "weak_initial", _initial_only)),
    Mutant("sleeping steps in any place", _patch(optimal, "weak_initial", _whatever_it_meets)),
    Mutant("sequences that sleeping steps cover", _patch(optimal.Optimal, "_add", _without_sleepers)),
    *[
        Mutant(f"nobody wakes up ({engine})", _patch(search.Search, "_open", _nobody_wakes), engine)
        for engine in ("optimal", "source", "dpor", "sleep")
    ],
    *[
        Mutant(
            f"sleeping steps wake at once ({engine})", _patch(search.Search, "_open", _nobody_sleeps_long), engine
        )
        for engine in ("optimal", "source", "dpor", "sleep")
    ],
    Mutant(
        "runs given up have no races",
        _patch(backtracking.Source, "open_node", backtracking.Sleep.open_node),
        "source",
    ),
    Mutant(
        "starts that are not initials", _patch(backtracking.Source, "backtrack_candidates", _any_of_it), "source"
    ),
    Mutant(
        "marks that stay",
        _patch(TransDpor, "_marks", _marks_that_stay),
        "transdpor",
        kinds=("abs",),
        known=("abs", 571),
    ),
    Mutant(
        "cuts whoever holds a future of a marked task",
        _patch(TransDpor, "_stuck", lambda self, node, marked: {action.pid for action in node.actions}),
        "transdpor",
        kinds=("abs",),
        known=("abs", 571),
    ),
    Mutant(
        "moved steps touch what they touched",
        _patch(Foresight, "foresee", lambda self, race, between: self._execution.events[race.step]),
        kinds=("asyncio",),
    ),
    Mutant("moved steps touch anything", _patch(Foresight, "foresee", _touches_anything), kinds=("asyncio",)),
    Mutant(
        "steps recalled by their process only",
        _patch(Foresight, "_recall", _whatever_the_process_did),
        kinds=("asyncio",),
    ),
    Mutant(
        "groups that others can see are counted at once",
        _patch(Joins, "_is_private", lambda self, group: True),
        kinds=("asyncio",),
        known=("asyncio", 325),
    ),
    *[
        Mutant(f"{name} (locks)", put_in, kinds=("waiters",), known=("waiters", seed))
        for name, put_in, seed in _OF_LOCKS
    ],
    Mutant(
        "labels of processes are no part of a claim",
        _patch(claims, "_is_labelled", lambda *_: False),
        kinds=("spin claims",),
        known=("spin claims", 7),
    ),
    Mutant(
        "a claim does not end at a label",
        _patch(NeverClaim, "_ends_at", lambda claim, here: here == claim.template.end),
        kinds=("spin claims",),
        known=("spin claims", 8),
    ),
    Mutant(
        "nobody is started any more (stubborn sets)",
        _patch(Relations, "_find_later", lambda self: None),
        kinds=("spin",),
        known=("spin", 98),
    ),
    Mutant(
        "nobody comes to a point by what it receives (stubborn sets)",
        _without_partners,
        kinds=("spin",),
        known=("spin", 10157),
    ),
    Mutant(
        "else does not look for partners (stubborn sets)",
        _patch(Relations, "_watch_partners", lambda *_: None),
        kinds=("spin",),
        known=("spin", 10468),
    ),
    *[
        Mutant(f"{name} (stubborn sets)", put_in, kinds=("spin chains",), known=("spin chains", seed))
        for name, put_in, seed in (
            ("nobody is met on the way", _patch(Relations, "_may_be_moved", lambda *_: None), 105),
            ("an else looks at those who begin a step", _patch(relations, "disturbs", _by_who_begins), 29),
            ("who is started is not met on the way", _patch(relations, "may_meet_started", lambda *_: False), 297),
            (
                "who is not started yet does not look for partners",
                _patch(Relations, "_watch_partners_of_later", lambda *_: None),
                541,
            ),
        )
    ],
    Mutant(
        "nobody enables an else (stubborn sets)",
        _patch(Guards, "_allowed", _nobody_enables_else),
        kinds=("spin",),
        known=("spin", 11),
    ),
    Mutant(
        "whatever asks for timeout waits for it (stubborn sets)",
        _patch(guards, "_begins_with_timeout", _asks_for_timeout),
        kinds=("spin",),
        known=("spin", 3347),
    ),
    Mutant(
        "who waits for another message waits for any (stubborn sets)",
        _patch(Toucher, "waking_end", lambda self, talk, end: _waking_end(self, talk, "tail")),
        kinds=("spin",),
        known=("spin", 328),
    ),
    Mutant(
        "who waits for a message waits for a receive (stubborn sets)",
        _patch(Toucher, "waking_end", lambda self, talk, end: _waking_end(self, talk, "head")),
        kinds=("spin",),
        known=("spin", 273),
    ),
    *[
        Mutant(f"{name} (faults)", put_in, kinds=("faults",), known=("faults", seed))
        for name, put_in, seed in FAULT_MUTANTS
    ],
    *[
        Mutant(f"{name} (theories)", put_in, kinds=("theories",), known=("theories", seed))
        for name, put_in, seed in _IN_THEORIES
    ],
]
