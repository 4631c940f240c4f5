"""asyncio programs made by Hypothesis, as text: a `main` that starts two or three small tasks over shared state.

The state sits in attributes, slots, class attributes, a dict, a list, a deque, a global, a closure variable, a
generator and an iterator; tasks meet at a lock, a semaphore, an event, a condition, a queue and a future, sleep,
start and cancel each other, and time out. `main` returns the whole state as text, whatever happened.
"""

from __future__ import annotations

from hypothesis import strategies as st

PRELUDE = """
import asyncio, collections, contextlib

total = 0


class Box:
    shared = 0

    def __init__(self, value=0):
        self.value = value

    @property
    def double(self):
        return 2 * self.value

    def add(self, n):
        self.value += n
        return self.value


class Slot:
    __slots__ = ("p", "r")

    def __init__(self):
        self.p, self.r = 0, []


def add_total(n):
    global total
    total += n
    return total


def numbers(s):
    n = 0
    while True:
        n += 1
        yield n + s.x


async def items(s):
    for n in (1, 2):
        s.x += n
        yield n
        await asyncio.sleep(0)


async def value(n):
    await asyncio.sleep(0)
    return n


async def read(s):
    await asyncio.sleep(0)
    return s.x


class State:
    def __init__(self):
        self.x, self.y = 0, 1
        self.d, self.l, self.q = {"a": 1}, [1, [2]], collections.deque([1])
        self.c, self.dd = collections.Counter(), collections.defaultdict(list)
        self.box, self.slot = Box(), Slot()
        self.lock, self.sem, self.event = asyncio.Lock(), asyncio.Semaphore(1), asyncio.Event()
        self.cond, self.queue = asyncio.Condition(), asyncio.Queue(1)
        self.future = asyncio.get_running_loop().create_future()
        self.tasks = []
        self.numbers, self.iterator, self.agen = numbers(self), iter([7, 8, 9]), items(self)

    def show(self):
        return repr((
            self.x, self.y, self.d, self.l, list(self.q), dict(self.c), dict(self.dd), self.box.value,
            (self.slot.p, self.slot.r), Box.shared, total, self.lock.locked(), self.sem._value,
            self.event.is_set(), self.queue.qsize(), self.future.done(), list(self.iterator),
        ))
"""

READS = """
s.x
s.y
s.d.get("a")
s.d.get("b")
len(s.l)
s.l[0]
s.l[-1]
list(s.d)
"b" in s.d
list(s.q)
s.c["k"]
len(s.dd)
s.dd["k"]
s.box.value
s.box.double
s.slot.p
Box.shared
s.box.shared
total
get()
sum(n for n in s.slot.r)
[str(n) for n in s.l]
s.lock.locked()
s.sem.locked()
s.event.is_set()
s.queue.qsize()
s.future.done()
len(s.tasks)
[t.done() for t in s.tasks]
next(s.numbers)
next(s.iterator, 0)
max(s.x, s.y)
sorted(s.d.items())
f"{s.l}"
"{0.x}".format(s)
[a for a, in s.slot.r]
[*s.l, *s.q]
2 in s.l[1]
any(t.cancelling() for t in s.tasks)
""".strip().splitlines()
WRITES = """
s.x = {n}
s.x += {n}
s.y = s.x + {n}
s.x, s.y = s.y, s.x
s.d["a"] = {n}
s.d["b"] = s.x
s.d["a"] += {n}
s.d.pop("b", None)
s.d.setdefault("b", {n})
s.d.update(a={n})
s.l.append({n})
s.l[0] = {n}
s.l[0] += {n}
s.l[1].append({n})
s.l.insert(0, {n})
s.l = [{n}, [s.x]]
s.q.append({n})
s.q.popleft()
s.c["k"] += {n}
s.c.update("k")
s.dd["k"].append({n})
s.box.value = {n}
s.box.add({n})
s.box = Box({n})
s.slot.p += {n}
s.slot.r.append(s.slot.p)
Box.shared += {n}
s.box.shared = {n}
add_total({n})
put({n})
put(get() + {n})
del s.d["a"]
s.l.pop()
s.l[:] = s.slot.r
(a,), s.y = s.l[1], 5
s.slot.r += s.iterator
setattr(s, "x", {n})
s.iterator = iter([{n}])
if s.x: s.y = {n}
if "b" not in s.d: s.d["b"] = {n}
assert s.x < 3
""".strip().splitlines()
MEETS = """
await asyncio.sleep(0)
await asyncio.sleep(1)
await asyncio.sleep({n})
s.event.set()
s.event.clear()
await asyncio.wait_for(s.event.wait(), {n})
await s.event.wait()
s.queue.put_nowait({n})
out.append(s.queue.get_nowait())
await s.queue.put({n})
out.append(await asyncio.wait_for(s.queue.get(), 1))
out.append(await s.queue.get())
s.queue.task_done()
s.sem.release()
s.future.set_result({n})
out.append(await asyncio.wait_for(asyncio.shield(s.future), {n}))
s.future.cancel()
s.tasks[0].cancel()
s.tasks[-1].cancel()
asyncio.current_task().cancel()
s.tasks.append(asyncio.create_task(helper(s, out)))
out.append(await asyncio.gather(value({n}), read(s)))
out.append(await asyncio.gather(helper(s, out), helper(s, out)))
await asyncio.wait([asyncio.ensure_future(helper(s, out))], timeout={n})
await asyncio.shield(helper(s, out))
asyncio.get_running_loop().call_soon(s.l.append, {n})
asyncio.get_running_loop().call_later(1, s.box.add, {n})
s.tasks[0].add_done_callback(lambda task: out.append(s.x))
s.x += await value({n})
s.x = s.x + await value({n})
s.d["a"] += await read(s)
s.l.append(await value({n}))
out.append((s.x, await value({n}), s.x))
out.append(await anext(s.agen))
out.append([await value(n) for n in s.l[:2]])
await s.tasks[0]
put(get() + await value({n}))
for task in asyncio.as_completed([asyncio.ensure_future(helper(s, out))], timeout={n}): await task
out.append(len(asyncio.all_tasks()))
s.group.create_task(helper(s, out))
""".strip().splitlines()
BLOCKS = """
async with s.lock:
async with s.sem:
async with asyncio.timeout({n}):
async with s.cond:
with contextlib.suppress(asyncio.CancelledError):
for i in range(2):
for k in list(s.d):
if s.x < 2:
try: / finally:
try: / except asyncio.CancelledError:
async with s.cond: / notify
async with s.cond: / wait
async with asyncio.TaskGroup() as group: / spawn
async with asyncio.TaskGroup() as s.group:
""".strip().splitlines()
STARTS = """
s.tasks += [asyncio.create_task(f(s, out)) for f in workers]
s.tasks += [asyncio.ensure_future(f(s, out)) for f in workers]; await asyncio.sleep(0)
""".strip().splitlines()
ENDS = """
await asyncio.wait(s.tasks)
await asyncio.gather(*s.tasks, return_exceptions=True)
await asyncio.sleep(9)
await asyncio.wait(s.tasks, return_when=asyncio.FIRST_COMPLETED)
await asyncio.gather(*s.tasks)
for task in asyncio.as_completed(s.tasks): await task
""".strip().splitlines()


class _Writer:
    """Draws the bodies of coroutines; at most `waits` statements in all of them may suspend.

    A program has few kinds of statements, so that its tasks get in each other's way.
    """

    def __init__(self, draw: st.DrawFn, waits: int) -> None:
        self.draw = draw
        self.waits = waits
        self.writes, self.reads, self.meets, self.blocks = (
            draw(st.lists(st.sampled_from(texts), min_size=few, max_size=many, unique=True))
            for texts, few, many in ((WRITES, 2, 4), (READS, 1, 3), (MEETS, 2, 4), (BLOCKS, 1, 2))
        )

    def pick(self, texts: list[str]) -> str:
        text = self.draw(st.sampled_from(texts))
        return text.replace("{n}", str(self.draw(st.sampled_from([1, 2]))))

    def statement(self, depth: int) -> list[str]:
        kinds = ["write"] * 4 + ["read"] * 2
        if self.waits > 0:
            kinds += ["meet"] * 4 + ["block"] * (2 * (depth < 2))
        kind = self.draw(st.sampled_from(kinds))
        if kind == "write":
            return [self.pick(self.writes)]
        if kind == "read":
            return [f"out.append({self.pick(self.reads)})"]
        self.waits -= 1
        return [self.pick(self.meets)] if kind == "meet" else self.block(depth)

    def block(self, depth: int) -> list[str]:
        head, _, tail = self.pick(self.blocks).partition(" / ")
        body = _indented(self.body(depth + 1))
        if tail == "notify":
            return [head, *body, "    s.cond.notify()"]
        if tail == "wait":
            return [head, "    await asyncio.wait_for(s.cond.wait_for(lambda: s.x > 0), 1)", *body]
        if tail == "spawn":
            return [head, *(["    group.create_task(helper(s, out))"] * 2), *body]
        if tail:
            return [head, *body, tail, *_indented(self.body(2))]
        return [head, *body]

    def body(self, depth: int = 0) -> list[str]:
        return [line for _ in range(self.draw(st.integers(1, 3 - depth // 2))) for line in self.statement(depth)]

    def coroutine(self, name: str) -> list[str]:
        shield = self.draw(st.sampled_from(["Exception", "Exception", "KeyError"]))
        caught = [f"except {shield} as error:", "    out.append(type(error).__name__)"]
        return [f"async def {name}(s, out):", *_indented(["try:", *_indented(self.body()), *caught])]


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


@st.composite
def aio_programs(draw: st.DrawFn, waits: int = 4) -> str:
    """The source of a module with `main`, a coroutine function without arguments that returns text."""
    writer = _Writer(draw, waits)
    names = [f"worker{n}" for n in range(draw(st.sampled_from([2, 2, 2, 3])))]
    workers = [line for name in names for line in writer.coroutine(name)]
    writer.waits = 0
    helper = ["async def helper(s, out):", *_indented([*writer.body(2), writer.pick(writer.writes)])]
    before = writer.body(2) if draw(st.booleans()) else []
    main = [
        *("global total", "total, Box.shared, cell, s, outs = 0, 0, 0, State(), []"),
        *("def get():", "    return cell", "def put(n):", "    nonlocal cell", "    cell = n"),
        *(*helper, *workers, f"workers = [{', '.join(names)}]", "out = []", "try:"),
        *_indented([*before, draw(st.sampled_from(STARTS)), draw(st.sampled_from(ENDS))]),
        *("except BaseException as error:", "    out.append(type(error).__name__)"),
        'return f"{out} {cell} {s.show()}"',
    ]
    return "\n".join([PRELUDE, "", "async def main():", *_indented(main), ""])


BRANCHES = """
if s.{a}: s.{b} = {n}
if not s.{a}: s.{b} = s.{c} + {n}
if s.{a}: s.{b} = s.{c} + {n}
if not s.{a}: s.{b} = {n}
if s.{a}: s.t[{n}].cancel()
if s.d.get(s.{a}): s.{b} = {n}
s.d[s.{a}] = {n}
s.{a} = {n}
s.{a} += {n}
s.t[{n}].cancel()
""".strip().splitlines()


JOINS = """
if s.g.done(): s.{b} = {n}
if not s.g.done(): s.{b} = s.{a} + {n}
if s.t[{n}].done() and not s.g.done(): s.{a} += 1
s.g.cancel()
asyncio.current_task().add_done_callback(lambda _: s.log.append({n}))
s.t[{n}].add_done_callback(lambda _: s.log.append(s.{a}))
s.t[{n}].cancel()
""".strip().splitlines()


@st.composite
def branching_programs(draw: st.DrawFn, joined: bool = False) -> str:
    """Short tasks whose steps touch other things where they come after other steps; or that look at a join."""
    names = [f"worker{n}" for n in range(3 if joined else draw(st.sampled_from([3, 3, 4])))]
    statements = [*BRANCHES[:4], *JOINS] if joined else BRANCHES
    main = ["s = State()", "s.a, s.b, s.c, s.d, s.t, s.log = 0, 0, 0, {}, [], []"]
    for name in names:
        main.append(f"async def {name}():")
        for step in range(draw(st.sampled_from([1, 1, 2])) if len(names) < 4 else 1):
            main += ["    await asyncio.sleep(0)"] * step
            for _ in range(draw(st.sampled_from([1, 1, 2]))):
                text = draw(st.sampled_from(statements))
                for hole in "abc":
                    text = text.replace("{" + hole + "}", draw(st.sampled_from("abc")))
                main.append("    " + text.replace("{n}", str(draw(st.integers(0, 2)))))
    main.append(f"s.t += [asyncio.create_task(f()) for f in ({', '.join(names)})]")
    if joined:
        main.append("s.g = asyncio.gather(*s.t[:2], return_exceptions=True)")
    main += [
        "await asyncio.sleep(1)",
        "return repr((s.a, s.b, s.c, s.log, sorted(s.d.items()), [task.cancelled() for task in s.t]))",
    ]
    return "\n".join(["import asyncio", "class State: pass", "", "async def main():", *_indented(main), ""])


UPDATES = """
{d}[{k}] = {n}
{d}[{k}] = len({d})
{d}.pop({k}, None)
{d}.setdefault({k}, {n})
{d}.update({e})
{d}.clear()
s.u.add({k})
s.u.discard({k})
if {k} in {d}: {e}[{k}] = {n}
if {d}: {e}.pop({k}, None)
if len({d}) > 1: s.u.add({k})
out.append(len({d}))
out.append({d} == {e})
out.append(sorted({d}))
out.append(sum({d}.values()))
out.append({d}.keys() == s.u)
out.append(list({d}))
out.append([n for n in {d}.values()])
s.n += {n}
s.n -= 1
s.n += 0.5
s.r.append({k})
s.r.append(s.n)
s.r += [{k}]
if s.r: out.append(s.r.pop())
out.append(len(s.r))
out.append(sorted(map(str, s.r)))
out.append({k} in s.r)
out.append(s.r[0] if s.r else None)
out.append(list(s.r))
if s.r: s.n += 1
{d}[0] += 1
{d}[{k}] = {d}.get({k}, 0) + 1
s.c[{k}] += 1
s.l[{k}] -= 2
s.l[0] = s.c[1]
out.append(s.l[{k}])
out.append(s.c[0])
count += 1
State.all += 1
s.all += 1
s.n = {n}
count = {n}
if s.n > 1: {d}[{k}] = 1
if count: s.n += 1
out.append(s.n)
out.append((s.n, count))
out.append(getattr(s, "all"))
s.n, count = count, s.n
""".strip().splitlines()
LAST = """
s.d == s.e
sorted(s.d.items()), sorted(s.e), sorted(s.u)
len(s.d), len(s.u), len(s.r), s.n, s.all
sorted(s.r), s.n
s.l, s.c == Counter([0, 1])
list(s.d), len(s.e)
""".strip().splitlines()


@st.composite
def updating_programs(draw: st.DrawFn) -> str:
    """Tasks that add and remove keys, most of them their own, or count; and some that look."""
    tasks = draw(st.sampled_from([2, 3, 3]))
    statements = draw(st.lists(st.sampled_from(UPDATES), min_size=2, max_size=5, unique=True))
    main = ["s, State.all, count = State(), 0, 0", "s.d, s.e, s.u, s.n = {}, {}, set(), 0"]
    main.append("s.c, s.l, s.r = Counter(), [0, 1, 2], []")
    for task in range(tasks):
        main += [f"async def worker{task}():", "    nonlocal count", "    out = []"]
        for step in range(draw(st.sampled_from([1, 1, 2]))):
            main += ["    await asyncio.sleep(0)"] * step
            for _ in range(draw(st.sampled_from([1, 1, 2]))):
                one, two = draw(st.permutations(["s.d", "s.e"]))
                text = draw(st.sampled_from(statements)).replace("{d}", one).replace("{e}", two)
                key = draw(st.sampled_from([task, task, 0, 1]))
                main.append("    " + text.replace("{k}", str(key)).replace("{n}", str(draw(st.integers(0, 1)))))
        main.append("    return out")
    workers = ", ".join(f"worker{task}()" for task in range(tasks))
    main += [f"outs = await asyncio.gather({workers})", f"return repr((outs, {draw(st.sampled_from(LAST))}))"]
    return "\n".join(
        [
            "import asyncio",
            "from collections import Counter",
            "class State: all = 0",
            "",
            "async def main():",
            *_indented(main),
            "",
        ]
    )
