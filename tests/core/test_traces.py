"""Classes of traces on hand-made events: no program is needed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from porcini.core.events import Event
from porcini.core.footprints import EMPTY, OPAQUE, Footprint, footprint
from porcini.core.pids import Pid
from porcini.core.traces import Foata, Trace, independent, normal_form

FOOTPRINTS = [
    EMPTY,
    OPAQUE,
    footprint(["x"]),
    footprint(writes=["x"]),
    footprint(["y"], ["x"]),
    footprint(["x"], ["y"]),
]


def events_of(pairs: list[tuple[int, Footprint]]) -> Trace:
    """Events of processes 0, 1, 2, where 0's second event spawns 0.0, whose events are those of number 3."""
    count = dict.fromkeys(range(4), 0)
    made = []
    for process, foot in pairs:
        if process == 3 and count[0] < 2:
            process = 1  # nobody moves before being spawned
        pid = Pid((0, 0)) if process == 3 else Pid((process,))
        spawned = (Pid((0, 0)),) if process == 0 and count[0] == 1 else ()
        made.append(Event(pid, 0, f"{pid}#{count[process]}", foot, spawned))
        count[process] += 1
    return Trace(made)


traces = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(FOOTPRINTS)), max_size=7).map(events_of)


def closure(trace: Trace) -> set[Trace]:
    """All traces that swapping adjacent independent events gives."""
    found, todo = {trace}, [trace]
    while todo:
        current = todo.pop()
        for i in range(len(current) - 1):
            if independent(current[i], current[i + 1]):
                swapped = Trace((*current[:i], current[i + 1], current[i], *current[i + 2 :]))
                if swapped not in found:
                    found.add(swapped)
                    todo.append(swapped)
    return found


def form(trace: Trace) -> Foata:
    grown = Foata.empty()
    for event in trace:
        grown = grown.extend(event)
    return grown


@settings(max_examples=300, deadline=None)
@given(traces, st.randoms(use_true_random=False))
def test_the_normal_form_names_the_class(trace: Trace, random) -> None:
    members = closure(trace)
    assert {normal_form(member) for member in members} == {normal_form(trace)}
    shuffled = list(trace)
    random.shuffle(shuffled)
    other = Trace(shuffled)
    assert (normal_form(other) == normal_form(trace)) == (other in members) or not same_order(other, trace)


def same_order(a: Trace, b: Trace) -> bool:
    """Is each process's own order the same? Only then are labels and indices comparable."""
    return all([e for e in a if e.pid == pid] == [e for e in b if e.pid == pid] for pid in {e.pid for e in a})


@settings(max_examples=300, deadline=None)
@given(traces, traces)
def test_the_growing_normal_form_has_the_same_classes(one: Trace, two: Trace) -> None:
    start = Foata.empty()
    keys = []
    for trace in (one, two):
        grown = start
        for event in trace:
            grown = grown.extend(event)
        keys.append(grown.key)
    assert (keys[0] == keys[1]) == (normal_form(one) == normal_form(two))


@settings(max_examples=200, deadline=None)
@given(traces)
def test_happens_before_is_what_every_order_of_the_class_keeps(trace: Trace) -> None:
    past = trace.happens_before()
    orders = [{event: i for i, event in enumerate(member)} for member in closure(trace)]
    for j, event in enumerate(trace):
        for i in range(j):
            always = all(order[trace[i]] < order[event] for order in orders)
            assert always == (i in past[j])


def test_footprints() -> None:
    read, write = footprint(["x"]), footprint(writes=["x"])
    assert not read.conflicts(read) and read.conflicts(write) and write.conflicts(write)
    assert OPAQUE.conflicts(EMPTY) and EMPTY.within(OPAQUE) and not OPAQUE.within(EMPTY)
    assert read.within(write) and not write.within(read)
    assert (read | write) == footprint(["x"], ["x"])


def test_pids_are_spawn_paths() -> None:
    pid = Pid.parse("0.1.12")
    assert (str(pid), pid.parent, Pid((0,)).parent) == ("0.1.12", Pid((0, 1)), None)
    for bad in ("", "x", "0.", ".1", "0..1", "-1", "0 1"):
        try:
            Pid.parse(bad)
        except ValueError:
            continue
        raise AssertionError(bad)
