"""States up to names, against the states as they are: bisimilar, step by step, and not more of them.

`behaviour` unfolds a graph from its first state, and knows nothing of names: two graphs that unfold to the same
thing cannot be told apart. Programs that end are unfolded to their ends, others as far as they are small enough.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import porcini
from actor_strategies import actor_programs
from docs_of import DOCS
from porcini.core.errors import LimitHit
from porcini.core.pids import Pid
from porcini.core.systems import SystemGraph
from porcini.ir.analysis.numbering import ENDED, Numbering
from porcini.ir.tasks import canonical
from porcini.ir.tasks.canonical import Canonical
from porcini.ir.tasks.canonical_graph import CanonicalGraph
from porcini.ir.tasks.flow import StepFlow
from porcini.ir.tasks.system import StepSystem
from strategies import PROGRAMS

MANY = settings(max_examples=PROGRAMS // 12, deadline=None, suppress_health_check=list(HealthCheck))
SOME = settings(MANY, max_examples=PROGRAMS // 25)
MOST = 1_500
WATCHED = [Pid((0, k)) for k in range(3)]
"""Objects that main makes first: formulas may speak of them."""


class TooLarge(Exception):
    pass


def states_of(graph: SystemGraph) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = {}
    left = [graph.initial()]
    while left:
        state = left.pop()
        if state not in found:
            found[state] = graph.successors(state)
            left += found[state]
            if len(found) > MOST:
                raise TooLarge
    return found


def seen_in(system: StepSystem, state: Any) -> Hashable:
    """What can be seen of a state without names: where tasks stand, and fields of objects that are watched."""
    tasks = [state[p.base] for p in state[0].processes if p.template < system.class_template]
    failed = {point for point in tasks if 0 < point < 3}
    fields = [
        (name, value)
        for name, value in system.observe(state).items()
        if Pid(map(int, name.split(".")[:-1] or [9])) in WATCHED and "." not in repr(value)  # no references
    ]
    return tuple(sorted(point for point in tasks if point >= 3)), frozenset(failed), tuple(fields)


def behaviour(system: StepSystem, graph: SystemGraph, depth: int, known: dict[Hashable, int]) -> int:
    """A number for all that can happen within so many steps; graphs that are compared share what is `known`."""
    done: dict[Hashable, int] = {}
    size = 0

    def unfold(state: Any, left: int) -> int:
        nonlocal size
        if (state, left) not in done:
            size += 1
            if size > 2 * MOST:
                raise TooLarge
            after = frozenset(unfold(new, left - 1) for new in graph.successors(state)) if left else frozenset()
            key = seen_in(system, state), after
            done[state, left] = known.setdefault(key, len(known))
        return done[state, left]

    return unfold(graph.initial(), depth)


def nameless_system(source: str) -> StepSystem:
    """A program of which nothing but main and what is watched keeps its name."""
    system = porcini.loads(source, "abs").system()
    assert isinstance(system, StepSystem)
    system.flow.recursive = frozenset(range(len(system.program.templates)))
    system.flow.uncounted = frozenset(range(3, len(system.numbering.points)))
    return system


def same_behaviour(system: StepSystem, depth: int, watched: Sequence[Pid] = WATCHED) -> bool:
    """Compare both graphs; False if they are too large for it."""
    assert not system.program.library.names_matter
    known: dict[Hashable, int] = {}
    try:
        whole = behaviour(system, SystemGraph(system), depth, known)
        merged = behaviour(system, CanonicalGraph(system, watched), depth, known)
    except (TooLarge, LimitHit):
        return False
    assert whole == merged
    return True


@MANY
@given(actor_programs())
def test_programs_that_end_keep_their_outcomes(source: str) -> None:
    """All are to keep their names here: what is forgotten are tasks that have ended."""
    system = porcini.loads(source, "abs").system()
    assert isinstance(system, StepSystem) and not system.flow.recursive
    system.flow.uncounted = frozenset()
    graph = CanonicalGraph(system)
    try:
        whole, merged = states_of(SystemGraph(system)), states_of(graph)
    except TooLarge:
        return
    assert len(merged) <= len(whole)
    ends = [
        {repr(system.final(state)) for state, after in found.items() if not after} for found in (whole, merged)
    ]
    assert ends[0] == ends[1]


@MANY
@given(actor_programs())
def test_programs_that_end_do_the_same_without_names(source: str) -> None:
    same_behaviour(nameless_system(source), 60)


@SOME
@given(actor_programs(endless=True))
def test_endless_programs_do_the_same_at_first(source: str) -> None:
    for depth in (3, 5):
        same_behaviour(porcini.loads(source, "abs").system(), depth)  # type: ignore[arg-type]
        same_behaviour(nameless_system(source), depth)


@SOME
@given(actor_programs(endless=True))
def test_ways_are_those_of_runs(source: str) -> None:
    """The events of a way in the graph are those of a run, which leads to the same state again."""
    system = porcini.loads(source, "abs").system()
    assert isinstance(system, StepSystem)
    graph = CanonicalGraph(system)
    state, events = graph.initial(), []
    for k in range(12):
        after = graph.successors(state)
        if not after:
            break
        new = after[(7 * k) % len(after)]
        events += graph.events_between(state, new)
        state = new
    named = graph.with_run_names(events)
    run = system.start()
    for event in named:
        (action,) = run.actions_of(event.pid)
        run.step(action)
    assert graph.state_after(named) == state
    final, again = run.final(), graph.final(state)
    assert final.kind == again.kind and graph.final_of_run(state, named) == final
    assert all(process.pid[0] >= 0 for process in run.state[0].processes)


# What would be wrong

KEPT_IN_A_RESULT = """
interface W { Int read(); }
interface S { W make(Int v); Unit use(); Unit again(); }
class Wo(Int v) implements W { Int read() { return v; } }
class Se implements S {
    Fut<W> kept; List<Pair<Int, W>> all = list[]; Int seen = 0;
    Unit again() { W w = snd(head(all)); seen = 0; suspend; seen = await w!read(); this!use(); }
    W make(Int v) { W w = new Wo(v); return w; }
    Unit use() {
        kept = this!make(1);
        await kept?;
        suspend;
        W w = kept.get;
        seen = await w!read();
        all = list[Pair(1, w)];
        kept = null;
        this!again();
    }
}
{ S s = new Se(); s!use(); }
"""


def test_what_is_in_results_and_in_lists_is_kept(monkeypatch) -> None:
    def check() -> None:
        system = porcini.loads(KEPT_IN_A_RESULT, "abs").system()
        assert isinstance(system, StepSystem)
        assert same_behaviour(system, 16, WATCHED[:1])

    check()
    with monkeypatch.context() as mutant:
        frame = Canonical._frame

        def without_result(self: Canonical, state: Any, process: Any) -> list[Any]:
            slots = frame(self, state, process)
            if process.template < self.system.class_template and slots[0] == ENDED:
                slots[3] = None
            return slots

        mutant.setattr(Canonical, "_frame", without_result)
        with pytest.raises((AssertionError, KeyError, AttributeError)):
            check()
    with monkeypatch.context() as mutant:

        def only_direct(value: Any, found: set[Pid]) -> None:
            if type(value) is Pid:
                found.add(value)

        mutant.setattr(canonical, "collect_references", only_direct)
        with pytest.raises((AssertionError, KeyError)):
            check()


def test_mutant_in_which_what_is_watched_has_no_name(monkeypatch) -> None:
    source = """interface I { Unit m(Int n); } class C implements I { Int x = 0; Unit m(Int n) { x = n; } }
        { Int k = 0; while (k < 3) { suspend; I c = new C(); c!m(k); k = k + 1; } }"""
    model = porcini.loads(source, "abs")
    for formula, verdict in (
        ("<> (0.2.x == 1)", "holds"),
        ("<> (0.4.x == 2)", "holds"),
        ("<> (0.4.x == 1)", "violated"),
    ):
        assert porcini.check(model, ltl=formula).verdict == verdict
    monkeypatch.setattr(CanonicalGraph, "__init__", lambda self, system, watched: _unwatched(self, system))
    assert porcini.check(model, ltl="<> (0.4.x == 2)").verdict == "violated"


def _unwatched(graph: CanonicalGraph, system: StepSystem) -> None:
    SystemGraph.__init__(graph, system)
    graph.steps, graph.canonical = system, Canonical(system)


# Programs that never end

PING_PONG = """
interface P { Unit ping(P other, Int n); }
class C implements P { Int last = 0; Unit ping(P other, Int n) { last = n; other!ping(this, (n + 1) % 3); } }
{ P a = new C(); P b = new C(); a!ping(b, 0); }
"""
DEADLOCK = """
interface D { Unit go(Int n, D other); Unit hold(); }
class C implements D {
    Int round = 0;
    Unit hold() { skip; }
    Unit go(Int n, D other) {
        round = n;
        if (n == 3) { Fut<Unit> f = other!hold(); f.get; }
        other!go((n + 1) % 5, this);
    }
}
{ D a = new C(); D b = new C(); a!go(0, b); b!go(0, a); }
"""
FLOOD = """
interface P { Unit more(); Unit one(); }
class C implements P { Int n = 0; Unit more() { this!one(); this!more(); } Unit one() { await n == 1; } }
{ P a = new C(); a!more(); }
"""


def test_ping_pong() -> None:
    model = porcini.loads(PING_PONG, "abs")
    report = porcini.check(model)
    assert (report.verdict, report.stopped, report.counts.states) == ("holds", "exhausted", 9)
    for formula, verdict in (
        ("[]<> (0.0.last == 2)", "holds"),
        ("[] (0.0.last == 2 -> <> (0.1.last == 0))", "holds"),
        ("<>[] (0.0.last == 2)", "violated"),
        ("[] (0.1.last < 2)", "violated"),
        ("X X X (0.1.last == 1)", "holds"),
        ("[] ((0.0.last == 1) -> X (0.0.last == 0))", "violated"),
    ):
        report = porcini.check(model, ltl=formula)
        assert report.verdict == verdict, formula
        if report.trail is not None and report.trail.loop:
            stem, loop = (porcini.show_schedule(part.schedule) for part in (report.trail.stem, report.trail.loop))
            assert porcini.replay(model, stem, loop=loop).trail is not None


def test_a_deadlock_after_some_rounds() -> None:
    model = porcini.loads(DEADLOCK, "abs")
    report = porcini.check(model)
    assert (report.verdict, report.stopped) == ("violated", "exhausted")
    stuck = [outcome for outcome in report.outcomes if outcome.kind == "deadlock"]
    assert stuck and all(len(outcome.schedule) > 6 for outcome in stuck)
    for outcome in stuck:
        again = porcini.replay(model, porcini.show_schedule(outcome.schedule)).outcomes[0]
        assert (again.kind, again.state, again.waiting) == (outcome.kind, outcome.state, outcome.waiting)
        assert {waiting.pid for waiting in outcome.waiting} <= {
            Pid.parse(n) for n in outcome.state if n[-1].isdigit()
        }


def test_what_is_really_infinite_is_not_answered() -> None:
    for limits, limit in ((porcini.Limits(), "300 tasks"), (porcini.Limits(max_states=50), "50 states")):
        report = porcini.check(porcini.loads(FLOOD, "abs"), limits=limits)
        assert (report.verdict, report.stopped) == ("unknown", "limit") and limit in str(report.limit)


def test_where_names_matter_nothing_is_merged() -> None:
    source = PING_PONG.replace("last = n;", "last = strlen(toString(other)) + n;")
    report = porcini.check(porcini.loads(source, "abs"), limits=porcini.Limits(max_states=300))
    assert report.verdict == "unknown" and any("names" in note for note in report.notes)


@pytest.mark.parametrize(
    ("body", "matter"),
    [
        ("n = n + 1;", False),
        ("t = toString(n);", False),
        ("t = toString(this);", True),
        ("I o = take(s);", True),
        ("I o = twice(s);", True),
        ("n = twice(set[1, 2]);", False),
        ("foreach (x in s) { n = n + 1; }", True),
        ("foreach (x in set[1, 2]) { n = n + x; }", False),
        ("m = put(m, this, lookupDefault(m, this, 3));", False),
        ("List<Int> v = values(m);", True),
        ("t = toString(E(this));", True),
        ("t = toString(N(1, L));", False),
        ("t = toString(N(Pair(1, s), L));", True),
        ("t = toString(f);", True),
    ],
)
def test_what_tells_names(body: str, matter: bool) -> None:
    source = """interface I { Unit m(); } data D = E(I i) | F(Int n); data T<A> = L | N(A a, T<A> t);
        def A first<A>(Set<A> s) = take(s); def A twice<A>(Set<A> s) = first(s);
        class C implements I {
            Set<I> s = set[]; Map<I, Int> m = map[]; Int n = 0; String t = ""; Fut<Unit> f;
            Unit m() { BODY }
        }
        { I c = new C(); c!m(); }"""
    program = porcini.loads(source.replace("BODY", body), "abs").program  # type: ignore[attr-defined]
    assert program.library.names_matter is matter


@pytest.mark.parametrize(
    ("body", "goes_on"),
    [
        ("other!stop(other);", False),
        ("other!go(this);", True),
        ("while (n < 3) { n = n + 1; other!stop(this); }", False),
        ("while (n < 3) { n = n + 1; suspend; other!stop(this); }", True),
        ("while (n < 3) { n = n + 1; suspend; } other!stop(this);", False),
        ("Fut<Unit> f = other!stop(this); f.get; other!stop(this);", False),
        ("this.twice(other);", True),
    ],
)
def test_who_may_go_on_for_ever(body: str, goes_on: bool) -> None:
    source = """interface I { Unit go(I other); Unit stop(I other); Unit twice(I other); }
        class C implements I {
            Int n = 0;
            Unit go(I other) { BODY }
            Unit stop(I other) { skip; }
            Unit twice(I other) { I c = new C(); c!go(other); }
        }
        { I c = new C(); I d = new C(); c!go(d); }"""
    program = porcini.loads(source.replace("BODY", body), "abs").program  # type: ignore[attr-defined]
    assert StepFlow(Numbering(program)).may_go_on is goes_on


def test_tasks_that_are_alike_move_once() -> None:
    """Five messages that are the same lead to one state; one that somebody may wait for is not like the others."""
    source = """interface I { Unit m(); Unit go(I o); Unit wait(); }
        class C implements I {
            Int n = 0; Fut<Unit> kept;
            Unit m() { n = n + 1; }
            Unit go(I o) { Int k = 0; while (k < 5) { SEND k = k + 1; } }
            Unit wait() { if (kept != null) { await kept?; n = 7; } }
        }
        { I c = new C(); I d = new C(); c!go(d); suspend; c!wait(); }"""
    for send, successors in (("o!m();", 2), ("if (k == 2) { kept = o!m(); } else { o!m(); }", 3)):
        system = porcini.loads(source.replace("SEND", send), "abs").system()
        assert isinstance(system, StepSystem)
        system.flow.recursive = frozenset(range(len(system.program.templates)))
        graph = CanonicalGraph(system, WATCHED[:2])
        (state,) = graph.successors(graph.initial())
        after = [new for new in graph.successors(state) if len(new[0].processes) > len(state[0].processes)]
        assert [len(graph.successors(new)) for new in after if len(new[0].processes) > 8] == [successors]
        assert same_behaviour(system, 12, WATCHED[:2])


def test_the_docs_show_what_is_printed() -> None:
    lines = (DOCS / "abs.md").read_text("utf-8").splitlines()
    commands = [
        (command.split(" ", 5), answer) for command, answer in pairwise(lines) if "$ porcini check" in command
    ]
    assert len(commands) == 3
    for (*_, file, _, formula), answer in commands:
        report = porcini.check(file, ltl=formula.strip('"'))
        assert answer == f"The formula holds: {formula[1:-1]}; seen {report.counts.states} states."
        assert report.verdict == "holds"
