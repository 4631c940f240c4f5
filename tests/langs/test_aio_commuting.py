"""Updates that commute: who looks sees every order that differs; who does not, sees one."""

from __future__ import annotations

import asyncio
import collections
import copy
import functools
import itertools
import json
import operator
from collections import Counter, OrderedDict, deque
from dataclasses import asdict, dataclass, field
from typing import Any

import pytest

import porcini
from porcini.langs.aio.commuting import Commuting

N = 3
ORDERS = 6


@dataclass
class Holder:
    kept: dict[int, int] = field(default_factory=dict)


class Compared:
    """Its `==` tells in which order it was called."""

    def __init__(self, value: int, calls: list[int]) -> None:
        self.value, self.calls = value, calls

    def __eq__(self, other: object) -> bool:
        self.calls.append(self.value)
        return True

    __hash__ = None  # type: ignore[assignment]


def keywords(**given: int) -> list[str]:
    return list(given)


def positions(*given: int) -> tuple[int, ...]:
    return given


def generated(d: dict[int, int]) -> Any:
    yield from d


def matched(d: dict[int, int]) -> object:
    match d:
        case {0: _, **rest}:
            return list(rest) if next(iter(d)) == 0 else "not first"
    return None


def unpacked(d: dict[int, int]) -> object:
    first, *_ = d.values()
    return first


def popped(d: dict[int, int]) -> object:
    return d.popitem()


def updated(d: dict[int, int]) -> object:
    other: dict[int, int] = {}
    other.update(d)
    return list(other)


def extended(d: dict[int, int]) -> object:
    found: list[int] = []
    found += d
    found.extend(d.values())
    return found


def looped(d: dict[int, int]) -> object:
    found = ""
    for key, value in d.items():
        found += f"{key}{value}"
    return found


def raised(d: dict[int, int]) -> object:
    raise ValueError(d)


def told(d: dict[int, int]) -> object:
    calls: list[int] = []
    one = {key: Compared(key, calls) for key in d}
    two = {key: Compared(key, calls) for key in sorted(d)}
    assert one == two
    return calls


def told_by_the_other(d: dict[int, int]) -> object:
    """`==` goes by the order of the left side, and calls what is in the right one."""
    calls: list[int] = []
    assert d == {key: Compared(key, calls) for key in range(N)}
    return calls


class Shown:
    """Its text has what it was given, or what it sees around it."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"Shown {self.value}"


def raised_with_a_text(d: dict[int, int]) -> object:
    class Problem(Exception):
        def __str__(self) -> str:
            return str(d)

    raise Problem


def shown_from_around(d: dict[int, int]) -> object:
    class Around:
        def __repr__(self) -> str:
            return str(d)

    return Around()


def raised_with_a_view(d: dict[int, int]) -> object:
    raise ValueError(d.keys())


def name_of_a_task(d: dict[int, int]) -> object:
    task = asyncio.current_task()
    assert task is not None
    task.set_name(d)
    return task.get_name()


def namespace(d: dict[int, int]) -> object:
    made = type("Made", (), {f"k{key}": value for key, value in d.items()})
    return [name for name in vars(made) if name[0] == "k"]


IN_ORDER = {
    "list": lambda d: list(d),
    "tuple of values": lambda d: tuple(d.values()),
    "star": lambda d: [*d.items()],
    "keys of a view": lambda d: list(d.keys()),
    "dict": lambda d: list(dict(d)),
    "dict of items": lambda d: list(dict(d.items())),
    "copy": lambda d: list(d.copy()),
    "copied": lambda d: list(copy.copy(d)),
    "deeply": lambda d: list(copy.deepcopy(d)),
    "or": lambda d: list(d | {}),
    "display": lambda d: list({**d}),
    "keywords": lambda d: keywords(**{str(k): v for k, v in d.items()}),
    "positions": lambda d: positions(*d),
    "next": lambda d: next(iter(d)),
    "reversed": lambda d: next(reversed(d)),
    "reversed values": lambda d: list(reversed(d.values())),
    "zip": lambda d: list(zip(d, range(9), strict=False)),
    "enumerate": lambda d: list(enumerate(d.values())),
    "map": lambda d: list(map(str, d.values())),
    "filter": lambda d: list(filter(None.__ne__, d)),
    "join": lambda d: "".join(map(str, d)),
    "comprehension": lambda d: [k for k in d],  # noqa: C416
    "text": lambda d: str(d),
    "formatted": lambda d: f"{d}",
    "formatted view": lambda d: f"{d.values()}",
    "percent": lambda d: "%s" % d,  # noqa: UP031
    "format": lambda d: "{}".format(d),  # noqa: UP032
    "json": lambda d: json.dumps(d),
    "chain": lambda d: list(itertools.chain(d)),
    "islice": lambda d: list(itertools.islice(d, 1)),
    "reduce": lambda d: functools.reduce(lambda a, b: f"{a}{b}", d),
    "deque": lambda d: list(deque(d)),
    "ordered": lambda d: list(OrderedDict(d)),
    "most common": lambda d: Counter(dict.fromkeys(d, 1)).most_common(1),
    "by a key": lambda d: max(d, key=lambda _: 0),
    "sorted by a key": lambda d: sorted(d, key=lambda _: 0),
    "fields": lambda d: list(asdict(Holder(d))["kept"]),
    "of a dataclass": lambda d: repr(Holder(d)),
    "summed by hand": lambda d: sum(([k] for k in d), []),  # noqa: RUF017
    "summed in between": lambda d: sum({k: 0.1 * 3**k for k in d}.values()),
    "index": lambda d: operator.indexOf(d, 1),
    "chain map": lambda d: list(collections.ChainMap(d)),
    "getter": lambda d: operator.itemgetter(0)(list(d)),
    "generator": lambda d: list(generated(d)),
    "match": matched,
    "unpacked": unpacked,
    "popped": popped,
    "updated": updated,
    "extended": extended,
    "looped": looped,
    "raised": raised,
    "kept": lambda d: Holder(d),
    "told": told,
    "told by the other": told_by_the_other,
    "in a key": lambda d: {Shown(d): 1},
    "in a set": lambda d: {Shown(d)},
    "in a partial": lambda d: functools.partial(print, d),
    "view": lambda d: d.keys(),
    "views": lambda d: [d.items()],
    "of a method": lambda d: Shown(d).__repr__,
    "raised with a text": raised_with_a_text,
    "raised with a view": raised_with_a_view,
    "shown from around": shown_from_around,
    "name of a task": name_of_a_task,
    "namespace": namespace,
}
IN_NO_ORDER = {
    "equal": lambda d: d == {0: 0, 1: 1, 2: 4},
    "not equal": lambda d: d != {0: 0},
    "both equal": lambda d: {"a": [d]} == {"a": [d]} == {"a": [{}]},
    "dataclasses are equal": lambda d: Holder(d) == Holder({0: 0, 1: 1, 2: 4}),
    "length": lambda d: len(d) + len(d.values()),
    "truth": lambda d: bool(d) and (1 if d else 0),
    "item": lambda d: d[1],
    "got": lambda d: d.get(1),
    "in": lambda d: 1 in d,
    "sorted": lambda d: sorted(d),
    "sorted backwards": lambda d: sorted(d, reverse=True),
    "sorted items": lambda d: sorted(d.items()),
    "sum": lambda d: sum(d.values()),
    "max": lambda d: max(d.values()),
    "min": lambda d: min(d),
    "all": lambda d: all(d.values()),
    "any": lambda d: any(d),
    "keys are equal": lambda d: d.keys() == {0, 1, 2},
    "items are equal": lambda d: d.items() == {(0, 0)},
    "returned": lambda d: d,
    "returned inside": lambda d: [d, (d,), {"x": d}],
    "changed": lambda d: d.pop(0) + d.setdefault(7, 1) + len(d),
}


def noting(look: Any) -> Any:
    async def main() -> Any:
        d: dict[int, int] = {}

        async def worker(i: int) -> None:
            d[i] = i * i

        await asyncio.gather(*map(worker, range(N)))
        return look(d)

    return main


def adding(look: Any) -> Any:
    """The same with a set, whose order shows only if elements collide."""

    async def main() -> Any:
        d: set[int] = set()

        async def worker(i: int) -> None:
            d.add(i * 8)

        await asyncio.gather(*map(worker, range(N)))
        return look(d)

    return main


def ends(report: porcini.Report) -> set[str]:
    return {f"{outcome.kind} {dict(outcome.state)}" for outcome in report.outcomes}


@pytest.mark.parametrize("look", IN_ORDER.values(), ids=IN_ORDER)
def test_who_looks_at_the_order_sees_all_of_them(look) -> None:
    report = porcini.explore(noting(look))
    assert ends(report) == ends(porcini.explore(noting(look), engine="exhaustive"))
    assert report.counts.executions == ORDERS


@pytest.mark.parametrize("look", IN_NO_ORDER.values(), ids=IN_NO_ORDER)
def test_who_does_not_sees_one(look) -> None:
    report = porcini.explore(noting(look))
    assert ends(report) == ends(porcini.explore(noting(look), engine="exhaustive"))
    assert (report.counts.executions, len(report.outcomes)) == (1, 1)


@pytest.mark.parametrize("look, executions", [(len, 1), (sorted, 1), (list, ORDERS), (lambda s: s.pop(), ORDERS)])
def test_sets(look, executions) -> None:
    report = porcini.explore(adding(look))
    assert ends(report) == ends(porcini.explore(adding(look), engine="exhaustive"))
    assert report.counts.executions == executions


def test_what_is_not_known_may_look() -> None:
    report = porcini.explore(noting(lambda d: list(eval("d"))))
    assert len(report.outcomes) == report.counts.executions == ORDERS


@pytest.mark.parametrize("n, executions", [(2, 1), (3, 1), (6, 1)])
def test_a_registry_in_which_each_has_its_own_key(n, executions) -> None:
    async def main() -> int:
        registry: dict[int, str] = {}

        async def connection(i: int) -> None:
            registry[i] = "open"
            await asyncio.sleep(0)
            del registry[i]

        await asyncio.gather(*map(connection, range(n)))
        return len(registry)

    assert porcini.explore(main).counts.executions == executions


def test_who_waits_until_all_are_there() -> None:
    """Somebody looks before it is known who adds: the search begins again, and in the end sees all orders that
    differ: at each look, any of the keys may be there."""

    async def main() -> list[int]:
        d: dict[int, int] = {}
        seen = []

        async def worker(i: int) -> None:
            d[i] = i

        tasks = [asyncio.ensure_future(worker(i)) for i in range(2)]
        for _ in range(2):
            seen.append(len(d))
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)
        return seen

    report = porcini.explore(main)
    assert ends(report) == ends(porcini.explore(main, engine="exhaustive"))
    assert {outcome.state["result"] for outcome in report.outcomes} == {(0, 0), (0, 1), (0, 2)}


def test_keys_that_are_added_only_in_some_orders() -> None:
    """Whether the second task adds anything is found out late, after the length has been looked at."""

    async def main() -> object:
        d: dict[str, int] = {}
        flag = [0]
        seen = []

        async def first() -> None:
            flag[0] = 1

        async def second() -> None:
            if flag[0]:
                d["late"] = 1

        async def watcher() -> None:
            seen.append(len(d))

        async def third() -> None:
            d["early"] = 1

        await asyncio.gather(second(), first(), third(), watcher())
        return seen, sorted(d)

    for engine in ("optimal", "source", "dpor", "sleep"):
        assert ends(porcini.explore(main, engine=engine)) == ends(porcini.explore(main, engine="exhaustive"))


# Counting -----------------------------------------------------------------------------------------------------


class Stats:
    all = 0

    def __init__(self) -> None:
        self.hits, self.ratio, self.items, self.kinds = 0, 0.1, [0, 1], {"a": 0}
        self.text, self.odd, self.count, self.flag = "", Odd(3), Counter[int](), True

    @property
    def twice(self) -> int:
        return self.hits * 2

    @twice.setter
    def twice(self, value: int) -> None:
        self.hits = value


class Slots:
    __slots__ = ("hits",)

    def __init__(self) -> None:
        self.hits = 0


class Odd:
    """What becomes of adding to it is a number, and depends on what was added first."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __add__(self, other: int) -> int:
        return self.value * other

    def __repr__(self) -> str:
        return "odd"


class Setting:
    def __init__(self) -> None:
        self.hits = 0

    def __setattr__(self, name: str, value: int) -> None:
        object.__setattr__(self, name, value * 2)


class AtMostTwo:
    def __get__(self, obj: Any, kind: type) -> int:
        return int(obj.kept)

    def __set__(self, obj: Any, value: int) -> None:
        obj.kept = min(value, 2)


class Limited:
    hits = AtMostTwo()

    def __init__(self) -> None:
        self.kept = 2


total = 0


def hit(s: Any, i: int) -> None:
    s.hits += 1


def hit_and_miss(s: Any, i: int) -> None:
    if i:
        s.hits += 2
    else:
        s.hits -= 1


def hit_all(s: Any, i: int) -> None:
    s.all += 1


def hit_item(s: Any, i: int) -> None:
    s.items[1] -= 1


def hit_kind(s: Any, i: int) -> None:
    s.kinds["a"] += 1


def hit_total(s: Any, i: int) -> None:
    global total
    total += 1


def hit_own(s: Any, i: int) -> None:
    s.count[i] += 1


def make_larger(s: Any, i: int) -> None:
    s.ratio += 1


def make_odd(s: Any, i: int) -> None:
    if i:
        s.odd += 1
    else:
        s.odd += 2


def make_double(s: Any, i: int) -> None:
    if i:
        s.hits += 1
    else:
        s.hits *= 2


def set_or_hit(s: Any, i: int) -> None:
    if i:
        s.hits += 1
    else:
        s.hits = 7


def set_twice(s: Any, i: int) -> None:
    s.twice += 1


def hit_flag(s: Any, i: int) -> None:
    s.flag += 1


def look_and_hit(s: Any, i: int) -> None:
    s.items.append(s.hits)
    s.hits += 1


def counting(make: Any, step: Any, n: int = 3) -> Any:
    async def main() -> str:
        global total
        s, total = make(), 0

        async def worker(i: int) -> None:
            step(s, i)

        await asyncio.gather(*map(worker, range(n)))
        names = ("hits", "all", "items", "kinds", "ratio", "odd", "flag")
        return repr([total, *[getattr(s, name, None) for name in names]])

    return main


@pytest.mark.parametrize(
    "make, step, executions",
    [
        (Stats, hit, 1),
        (Slots, hit, 1),
        (Stats, hit_and_miss, 1),
        (Stats, hit_all, 1),
        (Stats, hit_item, 1),
        (Stats, hit_kind, 1),
        (Stats, hit_total, 1),
        (Stats, hit_own, 1),
        (Stats, make_larger, ORDERS),
        (Stats, make_odd, 3),
        (Stats, make_double, 4),
        (Stats, set_or_hit, 4),
        (Stats, set_twice, ORDERS),
        (Stats, hit_flag, 3),
        (Stats, look_and_hit, ORDERS),
        (Setting, hit, ORDERS),
        (Limited, hit_and_miss, ORDERS),
    ],
)
def test_counting(make, step, executions) -> None:
    report = porcini.explore(counting(make, step))
    assert ends(report) == ends(porcini.explore(counting(make, step), engine="exhaustive"))
    assert report.counts.executions == executions


def test_a_variable_that_is_counted_and_looked_at() -> None:
    async def main() -> list[int]:
        count, seen = 0, []

        async def worker() -> None:
            nonlocal count
            count += 1

        async def watcher() -> None:
            seen.append(count)

        await asyncio.gather(watcher(), worker(), worker(), worker())
        return [*seen, count]

    report = porcini.explore(main)
    assert ends(report) == ends(porcini.explore(main, engine="exhaustive"))
    assert (report.counts.executions, len(report.outcomes)) == (8, 4)


def test_somebody_waits_until_all_have_counted() -> None:
    async def main() -> int:
        s = Stats()

        async def worker() -> None:
            s.hits += 1

        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(worker())
            while s.hits < 3:
                await asyncio.sleep(0)
        return s.hits

    report = porcini.explore(main)
    assert (report.verdict, report.stopped, len(report.outcomes)) == ("holds", "exhausted", 1)


# Lists --------------------------------------------------------------------------------------------------------


def appending(look: Any) -> Any:
    async def main() -> Any:
        found: list[int] = []

        async def worker(i: int) -> None:
            found.append(i)

        await asyncio.gather(*map(worker, range(N)))
        return look(found)

    return main


def unpacked_list(found: list[int]) -> object:
    first, *_ = found
    return first


def summed(found: list[int]) -> object:
    total = 0.1
    for number in found:
        total *= number + 0.3
    return total


@pytest.mark.parametrize(
    "look, executions",
    [
        (lambda r: len(r), 1),
        (lambda r: sorted(r), 1),
        (lambda r: sorted(r, reverse=True), 1),
        (lambda r: sum(r), 1),
        (lambda r: max(r), 1),
        (lambda r: 2 in r, 1),
        (lambda r: 7 not in r, 1),
        (lambda r: bool(r) and (1 if r else 2), 1),
        (lambda r: r, ORDERS),
        (lambda r: {"found": (r,)}, ORDERS),
        (lambda r: r == [0, 1, 2], ORDERS),
        (lambda r: {"a": r} == {"a": [0, 1, 2]}, ORDERS),
        (lambda r: r[0], ORDERS),
        (lambda r: r[-1], ORDERS),
        (lambda r: r[1:], ORDERS),
        (lambda r: r.index(1), ORDERS),
        (lambda r: r.pop(), ORDERS),
        (lambda r: [*r], ORDERS),
        (lambda r: list(reversed(r)), ORDERS),
        (lambda r: list(set(r)), ORDERS),
        (lambda r: f"{r}", ORDERS),
        (lambda r: next(iter(r)), ORDERS),
        (lambda r: min(r, key=lambda _: 0), ORDERS),
        (lambda r: r + [1], ORDERS),  # noqa: RUF005
        (lambda r: r.copy(), ORDERS),
        (lambda r: Holder({0: r}), ORDERS),  # type: ignore[dict-item]
        (raised, ORDERS),
        (unpacked_list, ORDERS),
        (summed, ORDERS),
    ],
)
def test_items_at_the_end_of_a_list(look, executions) -> None:
    report = porcini.explore(appending(look))
    assert ends(report) == ends(porcini.explore(appending(look), engine="exhaustive"))
    assert report.counts.executions == executions


def test_a_list_whose_items_are_set_is_not_split() -> None:
    """One appends, the others set what is there: as before, these have nothing to do with each other."""

    async def main() -> object:
        found = [0, 0]

        async def sets(i: int) -> None:
            found[i] = 1

        async def appends() -> None:
            found.append(2)

        await asyncio.gather(sets(0), sets(1), appends())
        return found

    assert porcini.explore(main).counts.executions == 1


class Probing:
    """Has the hash of -1 and of -2, and tells in which order it is compared with them."""

    def __init__(self) -> None:
        self.calls: list[object] = []

    def __hash__(self) -> int:
        return hash(-1)

    def __eq__(self, other: object) -> bool:
        self.calls.append(other)
        return False


PROBING: dict[str, Any] = {
    "in": lambda d, key: key in d,
    "got": lambda d, key: d.get(key),
    "set": lambda d, key: d.__setitem__(key, 1),
    "popped": lambda d, key: d.pop(key, None),
    "in a view": lambda d, key: key in d.keys(),  # noqa: SIM118
    "equal": lambda d, key: d.keys() == {key, 1},
}


@pytest.mark.parametrize("look", PROBING.values(), ids=PROBING)
def test_keys_of_the_same_hash(look) -> None:
    async def main() -> list[object]:
        d: dict[object, int] = {}

        async def worker(i: int) -> None:
            await asyncio.sleep(0)
            d[i] = i

        await asyncio.gather(worker(-1), worker(-2))
        key = Probing()
        look(d, key)
        return key.calls

    found = ends(porcini.explore(main))
    assert found == ends(porcini.explore(main, engine="exhaustive"))
    assert len(found) == 2


class Box:
    def __init__(self) -> None:
        self.value = 0

    def __repr__(self) -> str:
        return f"Box {self.value}"


def raising(value: object) -> None:
    raise ValueError(value)


def set_value(box: Box) -> None:
    box.value = 1


@pytest.mark.parametrize(
    "make, change, end",
    [
        (dict, lambda d: d.update(x=1), lambda d: d),
        (dict, lambda d: d.update(x=1), lambda d: [[d]]),
        (dict, lambda d: d.update(x=1), raising),
        (list, lambda found: found.append(1), lambda found: found),
        (Box, set_value, lambda box: box),
        (Box, set_value, raising),
    ],
)
def test_others_change_what_was_returned(make, change, end) -> None:
    """The value is what it was when the test ended: its last step reads it."""

    async def main() -> object:
        value = make()

        async def other() -> None:
            change(value)

        task = asyncio.ensure_future(other())
        await asyncio.sleep(0)
        return end(value) if not task.cancelled() else None

    found = ends(porcini.explore(main))
    assert found == ends(porcini.explore(main, engine="exhaustive"))
    assert len(found) == 2


LEFT: dict[int, int] = {}


async def cleans_up() -> str:
    async def worker(i: int) -> None:
        LEFT[i] = i

    async def watcher() -> list[int]:
        return list(LEFT)

    found = await asyncio.gather(worker(1), worker(2), watcher())
    LEFT.clear()
    return str(found[2])


def test_a_run_that_is_given_up_comes_to_its_end() -> None:
    """Else the next one would find what this one has left behind."""
    report = porcini.explore(cleans_up, engine="source")
    assert (report.counts.executions, len(report.outcomes)) == (6, 5)


# Mutants: what is not noticed is lost -------------------------------------------------------------------------


async def looks_before_the_others_count() -> list[int]:
    s, seen = Stats(), []

    async def count() -> None:
        s.hits += 1

    async def look() -> None:
        seen.append(s.hits)

    await asyncio.gather(look(), count(), count())
    return seen


def never_outgrown(monkeypatch) -> None:
    never = property(lambda self: False, lambda self, value: None)
    monkeypatch.setattr(Commuting, "outgrown", never, raising=False)


def order_not_noticed(monkeypatch) -> None:
    monkeypatch.setattr(Commuting, "_check_order", lambda self, place: None)


@pytest.mark.parametrize(
    "program, mutate",
    [
        (noting(list), order_not_noticed),
        (appending(tuple), order_not_noticed),
        (looks_before_the_others_count, never_outgrown),
    ],
)
def test_what_a_mutant_loses_is_missed(monkeypatch, program, mutate) -> None:
    every = ends(porcini.explore(program, engine="exhaustive"))
    assert ends(porcini.explore(program)) == every
    mutate(monkeypatch)
    assert ends(porcini.explore(program)) < every
