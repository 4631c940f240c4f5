"""Random asyncio programs with four to seven tasks, each of one to three steps.

A program has a few flavours: which kinds of state its tasks share, and by which means they wait for, wake and
cancel each other. Few of each, so that tasks get in each other's way. Values are mixed (`s.y = 10 * s.y + 3`), and
each task has a digit of its own, so that an order that is lost tends to be an outcome that is lost.

A task waits only for tasks with larger numbers: two that waited for each other would also cancel each other,
without end. Holes in the lines below: {v}, {w} and {u} are attributes, {n} is the digit of the task, {k} is a key,
{i} an index, {t} the handle of another task, {later} and {latest} are those of tasks that may be waited for, and
{c} is the number of a task that another one starts. `g` is a variable of `main`.
"""

from __future__ import annotations

import random as randomness
from collections.abc import Sequence
from dataclasses import dataclass

from conformance.coroutines.trees import OTHERWISE_SHOWN, Join, Program, Statement, Task


@dataclass(frozen=True)
class Flavour:
    """Lines that do something at once, lines that wait, and heads of blocks: `head / what follows its body`."""

    effects: str = ""
    waits: str = ""
    blocks: str = ""


FLAVOURS = {
    "attributes": Flavour(
        """
        s.{v} = {n}
        s.{v} = 10 * s.{v} + {n}
        s.{v} = 10 * s.{v} + {n}
        s.{v} = s.{w}
        s.{v} = s.{w} + {n}
        s.{v} = 10 * s.{w} + {n}
        s.{v} += {n}
        s.{v}, s.{w} = s.{w}, s.{v}
        """
    ),
    "branches": Flavour(
        """
        if not s.{v}: s.{w} = s.{u} + {n}
        if s.{v}: s.{w} = {n}
        if s.{v} > s.{w}: s.{v} = s.{u}
        s.flag = 1
        s.flag = 1 - s.flag
        if s.flag: s.{v} = 10 * s.{w} + {n}
        """,
        blocks="""
        if s.flag: / else:
        if s.{v} > {n}:
        if not s.{v}: / else:
        """,
    ),
    "keys": Flavour(
        """
        s.d['{k}'] = {n}
        s.d['{k}'] = s.{v}
        s.{v} = s.d.get('{k}', 0)
        s.d.pop('{k}', None)
        s.d.setdefault('{k}', {n})
        s.d['{k}'] = 10 * s.d.get('{k}', 0) + {n}
        if '{k}' in s.d: s.{v} = s.{w} + {n}
        s.{v} = len(s.d)
        s.d['{n}'] = 1
        """
    ),
    "items": Flavour(
        """
        s.l[{i}] = 10 * s.l[{i}] + {n}
        s.l[{i}] = s.{v}
        s.{v} = s.l[{i}]
        s.l[0], s.l[1] = s.l[1], {n}
        s.l.append({n})
        s.log.append(s.{v})
        s.log.append({n})
        s.{v} = s.l[-1]
        if len(s.log) > 1: s.{v} = {n}
        """
    ),
    "variables": Flavour(
        """
        g += 1
        g += 1
        g += {n}
        g = 10 * g + {n}
        g, s.{v} = {n}, g
        s.{v}, g = g, {n}
        del g
        s.{v} = g
        s.{v} = (g := s.{w}) + {n}
        for g in (s.{v}, {n}): pass
        if g: s.{v} = {n}
        """,
        blocks="""
        try: / except NameError as error:
        """,
    ),
    "counting": Flavour(
        """
        s.count += 1
        s.count += {n}
        s.count -= 1
        if s.count > 1: s.{v} = {n}
        s.{v} = s.count
        """
    ),
    "futures": Flavour(
        """
        s.future.set_result({n})
        if not s.future.done(): s.future.set_result({n})
        s.future.cancel()
        if s.future.done(): s.{v} = s.{w} + {n}
        s.future.set_exception(ValueError())
        s.future.add_done_callback(lambda _: s.log.append({n}))
        """,
        """
        await s.future
        s.{v} = await s.future
        await asyncio.shield(s.future)
        await asyncio.wait_for(asyncio.shield(s.future), 1)
        await asyncio.wait([s.future], timeout=1)
        """,
    ),
    "events": Flavour(
        """
        s.event.set()
        s.event.clear()
        if s.event.is_set(): s.{v} = {n}
        """,
        """
        await s.event.wait()
        await asyncio.wait_for(s.event.wait(), 1)
        """,
    ),
    "tasks": Flavour(
        """
        {t}.cancel()
        {t}.cancel()
        {t}.cancel()
        if s.{v}: {t}.cancel()
        if {t}.done(): s.{v} = 10 * s.{w} + {n}
        if {t}.cancelling(): s.{v} = {n}
        {t}.add_done_callback(lambda _: s.log.append({n}))
        {t}.add_done_callback(lambda _: s.log.append(s.{v}))
        asyncio.current_task().cancel()
        """,
        """
        await {later}
        s.{v} = await {later} or {n}
        await asyncio.shield({later})
        await asyncio.wait([{later}])
        await asyncio.gather({later}, {latest}, return_exceptions=True)
        await asyncio.gather({later}, {latest})
        await asyncio.wait([{later}, {latest}], return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait_for(asyncio.shield({later}), 1)
        await asyncio.wait_for({later}, 1)
        """,
        """
        try: / except asyncio.CancelledError:
        try: / finally:
        """,
    ),
    "main cancelled": Flavour(
        """
        s.main.cancel()
        if s.{v}: s.main.cancel()
        """
    ),
    "locks": Flavour(
        """
        if s.lock.locked(): s.{v} = s.{w} + {n}
        """,
        """
        await s.lock.acquire(); s.lock.release()
        """,
        """
        async with s.lock:
        async with s.lock:
        async with s.lock:
        """,
    ),
    "semaphores": Flavour(
        """
        s.sem.release()
        if s.sem.locked(): s.{v} = {n}
        """,
        blocks="""
        async with s.sem:
        async with s.sem:
        """,
    ),
    "queues": Flavour(
        """
        s.queue.put_nowait({n})
        if not s.queue.empty(): s.{v} = s.queue.get_nowait()
        s.{v} = s.queue.qsize()
        """,
        """
        await s.queue.put({n})
        s.{v} = await s.queue.get()
        s.{v} = 10 * s.{w} + await s.queue.get()
        s.{v} = await asyncio.wait_for(s.queue.get(), 1)
        """,
    ),
    "conditions": Flavour(
        """
        if s.cond.locked(): s.{v} = {n}
        """,
        blocks="""
        async with s.cond: / notify
        async with s.cond: / notify all
        async with s.cond: / wait
        async with s.cond: / wait for
        """,
    ),
    "timers": Flavour(
        """
        asyncio.get_running_loop().call_later(1, s.log.append, {n})
        asyncio.get_running_loop().call_soon(s.log.append, {n})
        """,
        """
        await asyncio.sleep(1)
        await asyncio.sleep(1)
        await asyncio.sleep(2)
        await asyncio.wait_for(asyncio.sleep(1), 1)
        await asyncio.wait_for(asyncio.shield({later}), 1)
        """,
        """
        async with asyncio.timeout(1):
        async with asyncio.timeout(1):
        async with asyncio.timeout(0):
        """,
    ),
    "errors": Flavour(
        """
        raise ValueError
        if s.{v}: raise KeyError
        assert s.{v} < 2
        """,
        blocks="""
        try: / except Exception as error:
        try: / finally:
        """,
    ),
}
"""What a program is made of."""
COMMON = ("attributes", "branches", "keys", "items")
"""Of these, each program has at least one."""
MEETINGS = tuple(name for name in FLAVOURS if name not in COMMON)
CONDITIONS = {
    "notify": "s.cond.notify()",
    "notify all": "s.cond.notify_all()",
    "wait": "await s.cond.wait()",
    "wait for": "await s.cond.wait_for(lambda: s.{v} > 1)",
}
KEPT = Flavour(
    """
    s.join.cancel()
    s.join.cancel()
    if s.join.done(): s.{v} = 10 * s.{w} + {n}
    if not s.join.done(): s.{v} = s.{w} + {n}
    if {t}.done() and not s.join.done(): s.{v} = {n}
    s.join.add_done_callback(lambda _: s.log.append({n}))
    """,
    """
    await asyncio.wait([s.join], timeout=1)
    await asyncio.wait([s.join, {later}], return_when=asyncio.FIRST_COMPLETED)
    """,
)
"""What can be done with a gather that `main` has kept."""
CHILDREN = (
    "s.t{c} = asyncio.create_task(w{c}())",
    "s.t{c} = asyncio.create_task(w{c}())",
    "await asyncio.gather(w{c}())",
    "await asyncio.wait_for(w{c}(), 1)",
    "await asyncio.shield(w{c}())",
    "async with asyncio.TaskGroup() as group:",
)
"""How a task starts another one."""
CHILD_OF_GROUP = "s.t{c} = group.create_task(w{c}())"
"""The same, where there is a group that `main` waits for."""
BEHIND = {
    "locks": Flavour(
        """
        if s.lock.locked(): s.{v} = s.{w} + {n}
        if s.lock._locked: s.{v} = {n}
        if not s.lock.locked(): s.lock.release()
        """,
        """
        await asyncio.sleep(0); await s.lock.acquire(); s.lock.release()
        await asyncio.sleep(0); await s.other.acquire(); s.other.release()
        await s.lock.acquire(); await asyncio.sleep(0); s.lock.release()
        await asyncio.wait_for(s.lock.acquire(), 1); s.lock.release()
        """,
        """
        async with s.lock:
        async with s.lock:
        async with s.lock:
        async with s.other:
        async with s.other:
        async with asyncio.timeout(1), s.lock:
        """,
    ),
    "semaphores": Flavour(
        FLAVOURS["semaphores"].effects,
        """
        await s.pair.acquire(); s.pair.release()
        """,
        """
        async with s.pair:
        async with s.pair:
        async with s.pair:
        async with s.sem:
        async with s.sem:
        async with asyncio.timeout(1), s.pair:
        """,
    ),
    "queues": FLAVOURS["queues"],
    "conditions": FLAVOURS["conditions"],
}
"""What tasks meet at in programs about waiters."""
HIDDEN = (("lock", "'hidden'"), ("sem", "'hidden'"), ("cond", "'hidden'"))
"""Nobody looks whether these are taken in the end."""
SIZES = (4, 4, 5, 5, 6, 7)
"""How many tasks a program has, children included."""
JOINS = (
    *("gather", "gather", "gather all", "gather all", "gather calls", "gather calls", "group", "group", "group"),
    *("each", "each", "ALL_COMPLETED", "FIRST_COMPLETED", "FIRST_EXCEPTION"),
    *("gather kept", "gather all kept"),
)


def generate_waiters(random: randomness.Random) -> Program:
    """Three or four tasks, most of which wait behind a lock, a semaphore, a queue or a condition: with sections
    that commute and some that do not, cancellation, timeouts, and somebody who looks whether it is taken."""
    return generate(random, (3, 3, 3, 4), random.choice(("locks", "locks", "locks", "semaphores", *BEHIND)))


def generate(random: randomness.Random, sizes: Sequence[int] = SIZES, behind: str = "") -> Program:
    """A program in which orders matter, with one of these numbers of tasks; `behind` is what most wait for."""
    tasks = random.choice(sizes)
    children = random.choice((0, 0, 0, 1, 1, 2)) if tasks > 4 else random.choice((0, 0, 1))
    started = range(tasks - children)
    joins = _joins(random, list(started))
    silent = {number for join in joins if join.how == "gather calls" for number in join.tasks}
    handles = {number: f"t{number}" if number in started else f"s.t{number}" for number in range(tasks)}
    writer = _Writer(random, tasks, {number: handle for number, handle in handles.items() if number not in silent})
    gently = bool(behind) and random.random() < 0.6
    if behind:
        writer.wait_behind(behind, gently)
    for join in joins:
        writer.use(join)
    bodies = {number: writer.body(number) for number in handles}
    grouped = {number for join in joins if join.how == "group" for number in join.tasks}
    strangers = [number for number in started if number not in grouped] if grouped else []
    for child in range(tasks - children, tasks):
        if strangers and random.random() < 0.7:  # a group takes tasks from anybody, until it is complete
            parent = random.choice(strangers)
            bodies[parent] = writer.with_child(bodies[parent], child, (CHILD_OF_GROUP,))
        else:
            parent = random.randrange(child)
            bodies[parent] = writer.with_child(bodies[parent], child, writer.births)
    opening = [writer.effect(-1)] if random.random() < 0.3 else []
    if random.random() < 0.15:
        opening.append(Statement("await asyncio.sleep(0)"))
    return Program(
        tuple(Task(number, tuple(body)) for number, body in bodies.items()),
        tuple(opening),
        joins,
        frozenset(range(tasks - children, tasks)),
        pause=random.choice((None, 0, 1, 1, 3)),
        patience=None if gently else random.choice((None, 5, 5)),
        careful=random.random() < 0.85,
        curious=random.random() < 0.7,
        shown=tuple((name, random.choice(ways)) for name, ways in OTHERWISE_SHOWN.items() if random.random() < 0.3)
        + (HIDDEN if gently or (behind and random.random() < 0.5) else ()),
    )


def _joins(random: randomness.Random, tasks: list[int]) -> tuple[Join, ...]:
    """One or two joins of some tasks; the others are never waited for.

    A join has a handle for each task that ends, so there are fewer moments to look at if not all are joined.
    """
    left = random.sample(tasks, min(random.choice((2, 3, 3, 4, 4, len(tasks))), len(tasks)))
    cut = random.randrange(1, len(left)) if len(left) > 1 and random.random() < 0.3 else len(left)
    return tuple(Join(random.choice(JOINS), tuple(part)) for part in (left[:cut], left[cut:]) if part)


class _Writer:
    """Writes what tasks do: the more there are, the less they wait. `handles` are what others may mention."""

    def __init__(self, random: randomness.Random, tasks: int, handles: dict[int, str]) -> None:
        self.random = random
        self.handles = handles
        self.waits_left = random.randint(1, max(8 - tasks, 2))
        self.attributes = random.sample(("x", "y", "z", "flag"), random.choice((2, 3)))
        chosen = random.sample(COMMON, random.choice((1, 1, 2)))
        chosen += random.sample(MEETINGS, random.choice((1, 2, 2, 3)))
        self.effects, self.waits, self.blocks = (
            [line for name in chosen for line in _lines(getattr(FLAVOURS[name], part))]
            for part in ("effects", "waits", "blocks")
        )
        self.births = CHILDREN
        self.meetings: tuple[int, ...] = (0, 1, 1, 2)
        self.gentle = False

    def use(self, join: Join) -> None:
        """Let tasks do what can be done with this join."""
        if join.how == "group":
            self.births = (*CHILDREN, CHILD_OF_GROUP, CHILD_OF_GROUP)
        elif join.how.endswith("kept"):
            self.effects += _lines(KEPT.effects)
            self.waits += _lines(KEPT.waits)

    def wait_behind(self, name: str, gently: bool) -> None:
        """Let tasks mostly wait for one thing, and do so more often. Gently: without cancelling each other,
        without a look at what they wait for, and mostly without doing anything else."""
        random, flavour = self.random, BEHIND[name]
        chosen = random.sample(COMMON, random.choice((1, 1, 2)))
        self.waits, self.blocks = _lines(flavour.waits), _lines(flavour.blocks)
        looks: list[str] = []
        self.gentle = gently
        if gently:
            self.blocks = [line for line in self.blocks if "timeout" not in line]
            pauses = ["await asyncio.sleep(0)"] * random.choice((0, 1, 3))
            self.waits = pauses + [line for line in self.waits if "sleep" in line]
        else:
            others = ("tasks", "timers", "errors", "counting", "events")
            chosen += random.sample(others, random.choice((0, 0, 1, 1, 2)))
            looks = _lines(flavour.effects) if random.random() < 0.4 else []
        self.effects = [line for each in chosen for line in _lines(FLAVOURS[each].effects)] + looks
        self.waits_left, self.meetings = 8, (1, 1, 1, 2)

    def body(self, number: int) -> list[Statement]:
        """One to three steps of a task."""
        body = self.effects_of(number)
        for _ in range(self.random.choice(self.meetings)):
            if self.waits_left > 0:
                self.waits_left -= 1
                body.append(self.meeting(number))
                body += self.effects_of(number)
        if self.gentle and self.random.random() < 0.7:
            body = [statement for statement in body if statement.body or "await" in statement.text]
        if len(body) > 1 and self.random.random() < 0.2:
            del body[0]
        if self.random.random() < 0.2:
            body.append(Statement(self.filled("return s.{v}", number, "")))
        return body

    def effects_of(self, number: int) -> list[Statement]:
        return [self.effect(number) for _ in range(self.random.choice((1, 1, 2)))]

    def effect(self, number: int) -> Statement:
        text = self.filled(self.random.choice(self.effects), number, "s.{v} = {n}")
        if not text.startswith("if "):
            return Statement(text)
        condition, _, then = text.partition(": ")
        return Statement(condition + ":", (Statement(then),))

    def wait(self, number: int) -> Statement:
        if not self.waits or self.random.random() < 0.3:
            return Statement("await asyncio.sleep(0)")
        return Statement(self.filled(self.random.choice(self.waits), number, "await asyncio.sleep(0)"))

    def meeting(self, number: int) -> Statement:
        if self.blocks and self.random.random() < 0.5:
            head, _, tail = self.filled(self.random.choice(self.blocks), number, "").partition(" / ")
            return self.block(number, head, tail)
        return self.wait(number)

    def block(self, number: int, head: str, tail: str) -> Statement:
        body = self.effects_of(number)
        if tail.startswith(("notify", "wait")):
            body.append(Statement(CONDITIONS[tail].replace("{v}", self.random.choice(self.attributes))))
        else:
            body.insert(self.random.randrange(len(body) + 1), self.wait(number))
        if not tail.endswith(":"):
            return Statement(head, tuple(body))
        rest = self.effects_of(number)
        if tail.endswith("error:"):
            rest.append(Statement("s.log.append(type(error).__name__)"))
        return Statement(head, tuple(body), Statement(tail, tuple(rest)))

    def with_child(self, body: list[Statement], child: int, births: Sequence[str]) -> list[Statement]:
        """What a task does, with a line in it that starts another one."""
        line = Statement(self.random.choice(births).replace("{c}", str(child)))
        if line.text.endswith(":"):
            start = Statement(f"s.t{child} = group.create_task(w{child}())")
            line = Statement(line.text, (start, *self.effects_of(child)))
        at = self.random.randrange(len(body))
        return [*body[:at], line, *body[at:]]

    def filled(self, text: str, number: int, otherwise: str) -> str:
        """A line with its holes filled, or another one if there is no such task as it asks for."""
        others = [handle for other, handle in self.handles.items() if other != number]
        later = [handle for other, handle in self.handles.items() if other > max(number, 0)]
        if ("{t}" in text and not others) or ("{later}" in text and not later):
            text = otherwise
        pick = self.random.choice
        first, second = self.random.sample(self.attributes, 2)
        holes = {"v": first, "w": second, "u": pick(self.attributes)}
        holes |= {"n": str(number + 2), "k": pick("ab"), "i": pick("01")}
        if others:
            holes["t"] = pick(others)
        if later:
            holes["later"], holes["latest"] = pick(later), later[-1]
        for name, value in holes.items():
            text = text.replace("{" + name + "}", value)
        return text


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]
