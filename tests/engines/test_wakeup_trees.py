"""Wakeup trees and races on hand-made events: no program is needed."""

from __future__ import annotations

from porcini.core.events import Event
from porcini.core.execution import Dependence, Execution
from porcini.core.footprints import footprint
from porcini.core.pids import Pid
from porcini.engines.races import cuts, not_after, plain_races
from porcini.engines.wakeup import INDEPENDENT, Branch, initials, insert, weak_initial

DEPENDENCE = Dependence()


def event(pid: int, reads: str = "", writes: str = "", guard_locations: str = "") -> Event:
    return Event(
        Pid((pid,)),
        0,
        f"{pid}:{reads}/{writes}",
        footprint(reads, writes),
        guard_locations=frozenset(guard_locations),
    )


def execution(*events: Event) -> Execution:
    made = Execution(DEPENDENCE)
    for each in events:
        made.push(each)
    return made


P, Q, R = event(0, writes="x"), event(1, reads="x"), event(2, writes="y")


def test_weak_initials() -> None:
    assert weak_initial(Q, [R, Q], DEPENDENCE) == 1
    assert weak_initial(R, [P, Q], DEPENDENCE) == INDEPENDENT
    assert weak_initial(Q, [R, P, Q], DEPENDENCE) is None
    assert initials([R, P, Q], DEPENDENCE) == [R, P]


def shape(tree: list[Branch]) -> list:
    return [(branch.event, shape(branch.below)) for branch in tree]


def test_insertion() -> None:
    tree: list[Branch] = []
    assert insert(tree, [P, Q], DEPENDENCE)
    assert shape(tree) == [(P, [(Q, [])])]
    assert not insert(tree, [P], DEPENDENCE), "it is the beginning of what is there"
    assert not insert(tree, [R, P, Q], DEPENDENCE), "R can come after the leaf"
    assert insert(tree, [Q, P], DEPENDENCE), "another order of dependent events"
    assert shape(tree) == [(P, [(Q, [])]), (Q, [(P, [])])]
    other = event(3, writes="x")
    assert insert(tree, [P, R, other, Q], DEPENDENCE)
    assert shape(tree)[0] == (P, [(Q, []), (R, [(other, [(Q, [])])])]), "R goes along, for it may matter later"


def test_races_are_between_neighbours() -> None:
    """W1 W2 W3 on one variable: W1 and W3 are dependent, but W2 stands between."""
    three = execution(*(event(pid, writes="x") for pid in range(3)))
    assert [(race.at, race.step) for race in plain_races(three)] == [(0, 1), (1, 2)]
    assert three.past == [0, 0b1, 0b11]


def test_what_is_not_after() -> None:
    made = execution(P, R, Q, event(2, reads="y"))
    assert not_after(made, 0, 1 << 0) == [1, 3]


def test_an_execution_can_be_taken_back() -> None:
    made = execution(P, R, Q)
    assert made.pop() is Q and made.pop() is R
    made.push(Q)
    assert made.races == [[], [0]] and made.past == [0, 1]


def places_of_last(made: Execution) -> set[tuple[int, tuple[int, ...]]]:
    """Where the last event could have gone instead: after so many events, and these later ones."""
    (step,) = made.contested
    last = made.events[step]
    return {
        (cut.at, tuple(not_after(made, cut.at, cut.barred)))
        for cut in cuts(made, last.pid, step, last.guard_locations)
    }


def test_the_places_where_a_guard_could_have_held() -> None:
    """One process turns a switch off and on; the other waits for it: before the first write, or between."""
    off, on = event(0, writes="f"), event(0, writes="f")
    waiter = event(1, reads="f", writes="x", guard_locations="f")
    made = execution(off, on, waiter)
    assert places_of_last(made) == {(0, ()), (1, ())}


def test_two_switches_give_a_product_of_places() -> None:
    """Writers of a and of b are independent, so every prefix of one goes with every prefix of the other."""
    writers = [event(0, writes="a"), event(0, writes="a"), event(1, writes="b"), event(1, writes="b")]
    made = execution(*writers, event(2, reads="ab", writes="x", guard_locations="ab"))
    places = places_of_last(made)
    assert {between for at, between in places if at == 0} == {(), (2,), (2, 3)}
    assert {between for at, between in places if at == 1} == {(), (2,), (2, 3)}
    assert {between for at, between in places if at == 2} == {()}
    assert not [race for race in plain_races(made) if race.step == 4], "all of them decide"
