"""Two steps whose footprints do not conflict commute: on generated code over shared state, run in both orders."""

from __future__ import annotations

import types
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from porcini.core.footprints import Footprint
from porcini.langs.aio.hook import instrument_source, prepare, recording
from porcini.langs.aio.log import CREATED
from porcini.langs.aio.recorder import Recorder
from strategies import PROGRAMS

SHARED = """
import collections, dataclasses, copy, functools, heapq, itertools, json, math, operator, bisect
counter = 0
class Box:
    shared = 0
    kinds = {}
    def __init__(self, v=0, more=None):
        self.v = v
        self.more = more if more is not None else []
    @property
    def twice(self): return self.v * 2
    @twice.setter
    def twice(self, v): self.v = v // 2
    @functools.cached_property
    def cached(self): return len(self.more)
    def __eq__(self, other): return isinstance(other, Box) and self.v == other.v
    def __hash__(self): return 1
    def __repr__(self): return f'Box({getattr(self, "v", None)!r}, {getattr(self, "more", None)!r})'
    def __bool__(self): return self.v != 0
    def add(self, x): self.more.append(x); return len(self.more)
class Slot:
    __slots__ = ('p', 'q')
    def __init__(self): self.p = 0; self.q = [0, 0]
    def __repr__(self): return f'Slot({getattr(self, "p", None)}, {getattr(self, "q", None)})'
@dataclasses.dataclass
class Data:
    a: int = 0
    b: list = dataclasses.field(default_factory=list)
class MyDict(dict):
    def __missing__(self, k): return -1
class MyList(list):
    pass
def cells():
    n = 0
    l = []
    def get(): return n, list(l)
    def put(v):
        nonlocal n
        n = v
        return n
    def push(v): l.append(v); return len(l)
    return get, put, push
class State: pass
def setup():
    global counter
    counter = 0
    Box.shared = 0
    Box.kinds.clear()
    s = State()
    s.x = 0; s.y = 0
    s.box = Box(); s.other = Box(1)
    s.d = {'a': 1, 'b': [2], 3: 'c'}
    s.l = [1, 2, [3]]
    s.t = (s.l, s.d, 5)
    s.set = {1, 2}
    s.q = collections.deque([1, 2])
    s.c = collections.Counter('ab')
    s.dd = collections.defaultdict(list)
    s.od = collections.OrderedDict(a=1, b=2)
    s.md = MyDict(a=1); s.ml = MyList([4, 5])
    s.slot = Slot(); s.data = Data(); s.data2 = Data(0)
    s.alias = s.l
    s.heap = [1, 3, 5]
    s.boxes = {}
    s.it = iter(s.l); s.count = itertools.count()
    s.get, s.put, s.push = cells()
    s.ba = bytearray(b'abc')
    s.gens = []
    return s
def show(s):
    hidden = 'get', 'put', 'push', 'it', 'count', 'data', 'data2'
    fields = {k: v for k, v in sorted(vars(s).items()) if k not in hidden}
    data = vars(s.data), vars(s.data2)
    shared = globals().get('counter'), Box.__dict__.get('shared'), Box.kinds
    return repr((shared, fields, data, s.get(), list(s.it), next(s.count)))
"""

CELLS = """
s.x
s.y
s.box.v
s.other.v
s.slot.p
s.data.a
s.d['a']
s.l[0]
s.l[1]
s.slot.q[0]
s.dd['k']
s.c['a']
s.c['z']
s.md['a']
s.ml[0]
s.od['a']
Box.shared
counter
s.box.twice
s.q[0]
s.alias[1]
s.d['new']
s.ml[-1]
s.md['zz']
s.boxes[s.box]
s.d[True]
s.ba[0]
""".strip().splitlines()
WHOLES = """
s.d
s.l
s.set
s.q
s.c
s.dd
s.od
s.md
s.ml
s.t
s.box
s.other
s.data
s.data2
s.slot.q
s.box.more
s.other.more
s.alias
s.heap
s.boxes
s.data.b
Box.kinds
s.ba
""".strip().splitlines()
READS = """
len({w})
list({w})
bool({w})
not {w}
{w} == {v}
str({w})
[e for e in {w}]
f'{{{w}}}'
sorted(map(str, {w}))
{c} in {w}
1 in {w}
'a' in {w}
[*{w}]
list(enumerate({w}))
{w} or 3
1 if {w} else 2
copy.copy({w})
copy.deepcopy({w})
any({w})
sum(1 for _ in {w})
list(reversed({w}))
{w} is {v}
max({w}, default=0)
dict({w})
json.dumps({w})
tuple({w})
next(iter({w}), None)
list(itertools.chain({w}, {v}))
list(zip({w}, {v}))
repr({w})
{w}.copy()
{w} != {v}
hash({w})
(lambda z: len(z))({w})
{w}[0:2]
list({w}.items())
list({w}.values())
set({w})
{w} < {v}
functools.reduce(lambda a, e: (a, e), {w}, 0)
getattr(s, 'x')
hasattr(s, 'zz')
getattr(s.box, 'shared')
s.box.shared
s.get()
s.box.cached
s.other.cached
s.box.twice
{w}.get('a')
{w}.get('zz')
{w}.index(2)
{w}.count(1)
math.fsum({w})
operator.itemgetter(0)({w})
match_({w})
dataclasses.asdict({w})
counter
{c}
{c} + 1
-{c}
s.slot.q[{c}]
dict.get(s.d, 'a')
list.__len__(s.l)
min(s.l[0], {c})
(y := {w}) and len(y)
type({w})
isinstance({w}, dict)
s.c.most_common()
{w} | {v}
{w} + {v}
id({w}) > 0
list(filter(None, {w}))
'%s' % ({w},)
'{{}}'.format({w})
bisect.bisect(s.heap, 2)
{w}.keys() & {{'a'}}
""".strip().splitlines()
WRITES = """
{c} = {n}
{c} += {n}
{c} = {c2}
del {c}
{w}.append({n})
{w}.pop()
{w}.clear()
{w}.add({n})
{w}.remove(1)
{w}.update({v})
{w}.insert(0, {n})
{w}.sort()
{w}.extend({v})
{w}.popleft()
{w}.setdefault('k', {n})
{w}.pop('a')
{w}.pop('zz', None)
{w}.discard(1)
{w}.reverse()
{w} += {v}
{w} |= {v}
s.c.update('ab')
s.dd['k'].append({n})
s.dd['j'].append({n})
s.od.move_to_end('a')
heapq.heappush(s.heap, {n})
heapq.heappop(s.heap)
s.put({n})
s.push({n})
s.box.add({n})
s.other.add({n})
setattr(s, 'x', {n})
delattr(s, 'y')
s.box = Box({n})
s.l[0:1] = [{n}, {n}]
s.l[-1] = {n}
s.d['b'].append({n})
s.l[2].append({n})
s.data.b.append({n})
s.fresh = {n}
s.boxes['b'] = Box({n})
s.boxes[{n}] = {n}
s.boxes[Box({n})] = {n}
a, *s.slot.q = {w}
s.x, s.y = s.y, s.x
next(s.it)
next(s.count)
object.__setattr__(s, 'y', {n})
s.q.rotate(1)
s.q.appendleft({n})
s.c.subtract('a')
Box.kinds['q'] = {n}
Box.shared += {n}
s.box.shared = {n}
{w}[{n}] = {n}
{w}['a'] = {n}
del {w}[0]
for s.x in {w}: pass
s.l = s.l + [{n}]
s.alias = []
bump()
s.box.more = s.other.more
s.d = dict(s.d)
bisect.insort(s.heap, {n})
s.data = s.data2
s.alias, s.l = s.l, s.ml
s.l.extend(x for x in list({w}))
s.box.__init__({n})
s.slot.q[0], s.slot.q[1] = s.slot.q
list.append(s.l, {n})
vars(s)['x'] = {n}
s.__dict__.update(y={n})
s.ba.extend(b'x')
del s.box.cached
s.box.twice = {n}
s.box.twice += {n}
""".strip().splitlines()

SUSPENDED = """
s.x += await val({n})
{c} += await val({n})
{c} = await val({c2})
s.l[-1] += await val({n})
out.append(repr({w} == await val({v})))
out.append(repr({w} + await val({v})))
for e in {w}: out.append(repr(e)); await pause()
for k, v in list({w}): out.append(repr(v)); await pause()
g = (e for e in {w}); await pause(); out.append(repr(list(g)))
i = iter({w}); await pause(); out.append(repr(next(i))); await pause(); out.append(repr(list(i)))
v = {w}.items(); await pause(); out.append(repr(list(v)))
v = {w}.keys(); await pause(); out.append(repr('a' in v))
m = map(str, {w}); await pause(); out.append(repr(list(m)))
z = zip({w}, {v}); await pause(); out.append(repr(list(z)))
r = reversed({w}); await pause(); out.append(repr(list(r)))
l = {w}; await pause(); l.append({n})
l = {w}; await pause(); l += {v}
l = {w}; await pause(); out.append(repr(l))
{w}.append(await val({n}))
{w}.append(len({v}) + await val({n}))
{w}[await val({n})] = {n}
out.append(repr({w}[await val({n})]))
out.append(repr([e for e in {w} if await val(e)]))
out.append(repr([{w} == await val(e) for e in {v}]))
out.append(f'{{await val(1)}} {{{w}}}')
f = {w}.append; await pause(); f({n})
f = {w}.get; await pause(); out.append(repr(f('a')))
get = lambda: {c}; await pause(); out.append(repr(get()))
async for e in agen({w}): out.append(repr(e))
out.append(repr([e async for e in agen({w})]))
async with manager(s): out.append(repr({c}))
with scope(s): await pause()
n = {c}; await pause(); {c} = n
n = len({w}); await pause(); {w}.append(n)
if not {w}: await pause(); {w}.append({n})
while len({w}) > 2: {w}.pop(); await pause()
g = gen({w}); out.append(repr(next(g))); await pause(); out.append(repr(next(g))); del g
x, y = {c}, await val({c2}); out.append(repr((x, y)))
out.append(repr(max({c}, await val({n}))))
out.append(repr(sum(e for e in {w}))); await pause()
await pause(); del s.box
s.x, s.y = s.y, await val(s.x)
""".strip().splitlines()

HELPERS = """
import types, contextlib
@types.coroutine
def pause(): yield
async def val(x):
    await pause()
    return x
async def agen(xs):
    for x in xs:
        await pause()
        yield x
def gen(xs):
    try:
        for x in xs: yield x
    finally: Box.shared += 1
class manager:
    def __init__(self, s): self.s = s
    async def __aenter__(self): await pause(); self.s.x += 1
    async def __aexit__(self, *e): await pause(); self.s.x -= 1
@contextlib.contextmanager
def scope(s):
    s.y += 1
    try: yield
    finally: s.y -= 1
def bump():
    global counter
    counter += 1
    return counter
def match_(v):
    match v:
        case [a, b, *_]: return 'two', a, b
        case {'a': a}: return 'a', a
        case Box(v=0, more=[]): return 'empty'
        case Data(a, b): return a, b
    return None
"""


@st.composite
def statements(draw: Any, templates: Sequence[tuple[str, Sequence[str]]]) -> str:
    shape, choices = draw(st.sampled_from(templates))
    text = draw(st.sampled_from(choices)).format(
        w=draw(st.sampled_from(WHOLES)),
        v=draw(st.sampled_from(WHOLES)),
        c=draw(st.sampled_from(CELLS)),
        c2=draw(st.sampled_from(CELLS)),
        n=draw(st.sampled_from([0, 1, 2, 7])),
    )
    body = f"        {shape.format(text)}"
    return f"    try:\n{body}\n    except Exception as e: out.append(type(e).__name__)\n"


AT_ONCE = [("{}", WRITES), ("out.append(repr({}))", READS)]
IN_STEPS = [*AT_ONCE, ("{}", SUSPENDED), ("await pause()\n        {}", WRITES)]


def function(name: str, body: Sequence[str]) -> str:
    return f"async def {name}(s, out):\n    global counter\n{''.join(body)}"


@dataclass
class World:
    """A state that two coroutines work on, A and B, step by step, and what is seen of them."""

    code: types.CodeType
    recorder: Recorder = field(default_factory=Recorder)
    out: dict[str, list[str]] = field(default_factory=lambda: {"A": [], "B": []})
    footprints: dict[tuple[str, int], Footprint] = field(default_factory=dict)

    def run(self, order: Sequence[str]) -> World:
        """Each process in the order moves to its next pause; those that ended do nothing."""
        module: Any = types.ModuleType("law")
        prepare(vars(module), "law")
        exec(self.code, vars(module))
        self.recorder.learn(module)
        with recording(self.recorder):
            self.recorder.start_run()
            self.recorder.begin_step("0", 0)
            state = module.setup()
            CREATED.append(state)
            running = {name: getattr(module, name)(state, self.out[name]) for name in "AB"}
            for name in "AB":
                self.recorder.name(self.out[name], f"out of {name}")
            self.recorder.end_step()
            for name in order:
                self.step(name, running)
        self.shown = module.show(state)
        return self

    def step(self, name: str, running: dict[str, Any]) -> None:
        index = sum(process == name for process, _ in self.footprints)
        self.recorder.begin_step(name, index)
        if name in running:
            try:
                running[name].send(None)
            except StopIteration:
                del running[name]
        self.footprints[name, index] = self.recorder.end_step()


def commutes(code: types.CodeType, order: str, at: int) -> None:
    """If two adjacent steps do not conflict, the other order does the same, step by step."""
    one = World(code).run(order)
    first, second = ((name, order[:i].count(name)) for i, name in ((at, order[at]), (at + 1, order[at + 1])))
    if first[0] != second[0] and not one.footprints[first].conflicts(one.footprints[second]):
        two = World(code).run(order[:at] + order[at + 1] + order[at] + order[at + 2 :])
        assert one.shown == two.shown
        assert one.out == two.out
        assert one.footprints == two.footprints


_settings = settings(max_examples=PROGRAMS // 14, deadline=None, suppress_health_check=[HealthCheck.too_slow])
_at_once = st.lists(statements(AT_ONCE), min_size=1, max_size=3)
_in_steps = st.lists(statements(IN_STEPS), min_size=1, max_size=3)


@_settings
@given(_at_once, _at_once)
def test_steps_without_conflict_commute(first: list[str], second: list[str]) -> None:
    source = SHARED + HELPERS + function("A", first) + function("B", second)
    commutes(instrument_source(source, "law.py", "law"), "AB", 0)


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
@_settings
@given(_in_steps, _in_steps, st.text("AB", min_size=2, max_size=8), st.data())
def test_steps_of_suspended_coroutines_commute(first: list[str], second: list[str], order: str, data: Any) -> None:
    source = SHARED + HELPERS + function("A", first) + function("B", second)
    at = data.draw(st.integers(0, len(order) - 2))
    commutes(instrument_source(source, "law.py", "law"), order, at)
