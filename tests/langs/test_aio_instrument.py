"""Instrumented Python code does what it did, and says what it reads and writes."""

from __future__ import annotations

import asyncio
import contextlib
import io
import itertools
import sys
import textwrap
import traceback
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from porcini.core.footprints import Footprint
from porcini.langs.aio.hook import (
    import_hook,
    instrument_loaded,
    instrument_source,
    instrumented_asyncio,
    prepare,
    recompiled,
    recording,
)
from porcini.langs.aio.recorder import Recorder

_numbers = itertools.count()


def load(source: str, instrument: bool = True, name: str | None = None) -> Any:
    """A module from source."""
    name = name or f"snippet{next(_numbers)}"
    module = types.ModuleType(name)
    source = textwrap.dedent(source)
    module.__dict__["__name__"] = name
    sys.modules[name] = module
    if instrument:
        prepare(vars(module), name)
        exec(instrument_source(source, "snippet.py", name), vars(module))
    else:
        exec(compile(source, "snippet.py", "exec", dont_inherit=True), vars(module))
    return module


def steps(module: Any, *calls: Callable[[], object], recorder: Recorder | None = None) -> list[Footprint]:
    """The footprints of these calls, each a step of its own process."""
    recorder = recorder or Recorder()
    recorder.learn(module)
    found = []
    with recording(recorder):
        recorder.start_run()
        for number, call in enumerate(calls):
            recorder.begin_step(str(number), 0)
            call()
            found.append(recorder.end_step())
    return found


def step(source: str, function: str = "f") -> Footprint:
    """The footprint of one call of `f`."""
    module = load(source, name="m")
    return steps(module, getattr(module, function))[0]


# Semantics ----------------------------------------------------------------------------------------------------

PRELUDE = """
import asyncio, dataclasses, enum, contextlib, functools, collections
trace = []
def t(value, *tag):
    trace.append((str(value), tag))
    return value
class O:
    def __init__(self, **kw): self.__dict__.update(kw)
    def __getattr__(self, n):
        if n.startswith('no'): raise AttributeError(n)
        trace.append(('getattr', n)); return n
"""

SNIPPETS = {
    "attributes": """
def f():
    o = O(a=1, b=O(c=[1, 2]))
    o.a += 5; o.b.c[0] += 7; o.b.c += [3]; o.z = o.a
    del o.z
    return o.a, o.b.c, o.missing, t(o).b.c[t(1)]
""",
    "order": """
def f():
    d = {}
    t(d, 1)[t('k', 2)] = t(5, 3)
    t(d, 4)[t('k', 5)] += t(6, 7)
    t(O(x=1), 8).x = t(9, 10)
    t(O(x=1), 11).x += t(9, 12)
    a, t(d, 13)[t('j', 14)] = t((1, 2), 15)
    t(print, 16)
    return t(max, 17)(t(1, 18), *t([2, 3], 19), **t({}, 20)), t(1, 21) < t(2, 22) < t(0, 23) < t(9, 24), d
""",
    "chain": "def f():\n    return [1 < x < 3 <= x + 1 for x in range(5)], 1 in [1] in [[1]], 3 not in {1: 2}",
    "walrus": """
def f():
    if (n := len([1, 2, 3])) > 2 and (m := n * 2): pass
    xs = [y := 5, y**2]
    total = [last := i for i in range(3)]
    d = {}
    d[(k := 'a')] = (v := 3)
    return n, m, xs, total, last, d, k, v, (lambda: (q := 4) + q)()
""",
    "closures": """
def f():
    n = 0
    def inc(by=1):
        nonlocal n
        n += by
        return n
    fs = [lambda: n for _ in range(2)]
    inc(); inc(2)
    def outer(x):
        def inner():
            nonlocal x
            x = x + [n]
            return x
        return inner
    g = outer([0])
    g()
    return n, [h() for h in fs], g(), (lambda a: (lambda: a))(3)()
""",
    "globals": """
counter = 0
def bump():
    global counter, fresh
    counter += 1
    fresh = counter
    for counter2 in range(2): pass
    return counter
def f():
    return bump(), bump(), counter, fresh
""",
    "classes": """
class Base:
    kind = 'base'
    def __init__(self, x): self.__x = x
    @property
    def x(self): return self.__x
    @x.setter
    def x(self, v): self.__x = v * 2
    @classmethod
    def make(cls, x): return cls(x)
    @staticmethod
    def st(a): return a + 1
class Sub(Base):
    __slots__ = ('y',)
    def __init__(self, x):
        super().__init__(x)
        self.y = self.x
    def who(self): return __class__.__name__, super().x
def f():
    s = Sub.make(3)
    s.x += 4
    class Local(Sub):
        z = s.x
        w = [s.x for _ in range(2)]
        def m(self): return super().who(), self.z, s.y
    l = Local(1)
    return s.x, s.who(), Sub.st(4), l.m(), Local.w, l._Base__x, Sub.kind
""",
    "generators": """
def gen(n):
    for i in range(n):
        got = yield i
        if got: yield got * 10
    return 'end'
def deleg():
    r = yield from gen(2)
    yield r
    yield from [7, 8]
def f():
    g = gen(3)
    a = [next(g), g.send(2), next(g)]
    g.close()
    return a, list(deleg()), sum(x * y for x in range(3) for y in range(x)), list(x for x in (y for y in [1, 2]))
""",
    "comprehensions": """
def f():
    m = [[1, 2], [3, 4]]
    return [r[i] for r in m for i in range(2) if r[i] > 1], {r[0]: r for r in m}, {c for r in m for c in r}, [
        (lambda: a)() for a, (b, *c) in [(1, (2, 3, 4))]], [m[0][m[0][0]] for _ in m]
""",
    "match": """
@dataclasses.dataclass
class P:
    x: int
    y: object = None
class Color(enum.Enum):
    RED = 1
def which(v):
    match v:
        case P(x=0, y=[a, *rest]): return 'p0', a, rest
        case P(x, None): return 'p', x
        case {'k': k, **rest}: return 'map', k, rest
        case [1, 2, *_]: return 'seq'
        case Color.RED: return 'red'
        case str() as s if len(s) > 1: return 'str', s
        case 1 | 2: return 'num'
        case _: return 'other'
def f():
    return [which(v) for v in (P(0, [1, 2, 3]), P(5), {'k': 1, 'z': 2}, [1, 2, 3], Color.RED, 'ab', 'a', 2, None)]
""",
    "unpacking": """
def f():
    a, (b, *c), d = 1, [2, 3, 4], 5
    [x, y] = 'ab'
    (q), = [9]
    o = O()
    o.p, o.q = 3, 4
    l = [0, 0, 0]
    i = 0
    i, l[i] = 1, 9
    for l[2] in range(3): pass
    for o.r, o.s in [(1, 2)]: pass
    l[0], l[1] = l[1], l[0]
    return a, b, c, d, x, y, q, o.p, o.q, l, o.r, o.s, [*l, *c], {**{'a': 1}, 'b': 2}, (*l, 1), {*l}
""",
    "strings": """
def f():
    d = {'a': [1, 2]}
    o = O(v=3.14159, w=4)
    return f"{d['a'][0]!r:>{o.w}} {o.v:.2f} {d} {o.v=}", "%s %s" % (d, 1), "{0[a]}".format(d), f"{'x' if d else 'y'}"
""",
    "context": """
@contextlib.contextmanager
def cm(x):
    trace.append(('in', x))
    try: yield x
    except ValueError as e: trace.append(('swallow', str(e)))
    finally: trace.append(('out', x))
class CM:
    def __enter__(self): return self
    def __exit__(self, *e): trace.append(('exit', e[0] is None)); return False
def f():
    o = O()
    with cm(1) as o.x, cm(2) as y, CM() as c:
        trace.append((o.x, y))
        raise ValueError('v')
    with contextlib.suppress(KeyError):
        {}['no']
    return o.x
""",
    "exceptions": """
def f():
    out = []
    try:
        try: [][3]
        except IndexError as e: out.append(str(e)); raise KeyError('k') from e
        else: out.append('else')
        finally: out.append('fin')
    except (KeyError, ValueError) as e:
        out.append((repr(e), repr(e.__cause__)))
    try: {}.pop('x')
    except KeyError as e: out.append(repr(e))
    try: O().no
    except AttributeError as e: out.append(str(e))
    try: None + 1
    except TypeError as e: out.append(str(e))
    try: [1] + (2,)
    except TypeError as e: out.append(str(e))
    try:
        o = O(a=1); o.a += 'x'
    except TypeError as e: out.append(str(e))
    try:
        def g(): x += 1
        g()
    except UnboundLocalError as e: out.append(type(e).__name__)
    try: f(1, 2)
    except TypeError as e: out.append(str(e))
    try: undefined
    except NameError as e: out.append(str(e))
    try: 3()
    except TypeError as e: out.append(str(e))
    return out
""",
    "augmented": """
def f():
    l = [1]; alias = l
    l += [2]; l *= 2
    s = {1}; s |= {2}; s -= {1}
    d = {'a': [1], 'n': 1}; d['a'] += [2]; d['n'] <<= 3; d |= {'z': 0}
    o = O(l=[1], n=7, b=True); al = o.l; o.l += (2,); o.n //= 2; o.n **= 2; o.n %= 5; o.b &= False
    tup = ([1],)
    try: tup[0] += [2]
    except TypeError as e: err = str(e)
    x = 'a'; x += 'b'; x *= 2
    l[1:2] += [8] if False else []
    l[-1] -= 1
    return l, alias, s, d, o.l is al, o.l, o.n, o.b, tup, err, x
""",
    "dataclasses": """
@dataclasses.dataclass(order=True)
class D:
    a: int
    b: list = dataclasses.field(default_factory=list)
    c: dict = dataclasses.field(default_factory=dict, compare=False)
    def __post_init__(self): self.b.append(self.a)
@dataclasses.dataclass(frozen=True, slots=True)
class F:
    x: int = 0
N = collections.namedtuple('N', 'a b')
def f():
    d = D(1); e = D(1, b=[2])
    d.b.append(3)
    try: F().x = 3
    except dataclasses.FrozenInstanceError as err: m = str(err)
    n = N(1, b=2)
    return d, e, d == e, d < e, dataclasses.replace(d, a=5), F(2), m, n._replace(a=7), n.a, dataclasses.asdict(d)
""",
    "containers": """
class Dict(dict):
    def __missing__(self, k): return 'miss ' + k
class Lst(list):
    def __getitem__(self, i): return ('own', super().__getitem__(i))
def f():
    dd = collections.defaultdict(list)
    dd['a'].append(1); dd['a'].append(2)
    c = collections.Counter('hello'); c.update('ll'); c['z'] += 1
    od = collections.OrderedDict(a=1, b=2); od.move_to_end('a')
    q = collections.deque([1, 2], maxlen=2); q.append(3); q.appendleft(0)
    d = {'x': 1}; d.setdefault('y', []).append(1); d.update(z=2); d.pop('x')
    s = {1, 2}; s.add(3); s.discard(1)
    l = [3, 1, 2]; l.sort(); l.insert(0, 9); l.reverse(); l.pop(); l.pop(0); l.remove(2); del l[0]; l.extend(range(5)); l[1:3] = 'ab'
    del d['y']
    b = bytearray(b'abc'); b[0] = 65; b.append(66)
    return dict(dd), c, od, list(q), d, s, l, Dict()['k'], Lst([1])[0], sorted(d.items()), list(enumerate(l)), \\
        dict(zip('ab', l)), list(map(str, l)), list(filter(None, l)), list(reversed(l)), max(l, key=str), \\
        any(x == 'a' for x in l), b, d.keys() & {'z'}, [*d.values()], 'z' in d, 5 not in s, len(q), bool(l), not l, str(d), \\
        next(iter(l)), next(iter([]), None), list(dict.items(d)), dict.get(d, 'q', 4), functools.reduce(lambda a, b: a, l), \\
        set().union([1]), frozenset([1]) | {2}, 'a,b'.split(','), ','.join(['a', 'b']), l.index('a'), (1, 2).count(1)
""",
    "dynamic": """
def f():
    o = O()
    setattr(o, 'a', 1)
    return getattr(o, 'a'), hasattr(o, 'nope'), getattr(o, 'nope', 5), vars(o), delattr(o, 'a'), o.__dict__, isinstance(o, O), type(o).__name__, \\
        sorted(k for k in locals() if not k.startswith('@')), callable(o), object.__setattr__(o, 'k', 3), o.k, \\
        functools.partial(max, 3)(2), len(globals()) > 3
""",
    "decorators": """
def deco(arg):
    def wrap(fn):
        @functools.wraps(fn)
        def inner(*a, **k):
            trace.append((arg, a))
            return fn(*a, **k)
        inner.calls = []
        return inner
    return wrap
@deco('x')
@functools.lru_cache(None)
def g(n): return n if n < 2 else g(n - 1) + g(n - 2)
def f():
    g.calls.append(1)
    @deco('y')
    def h(a, /, b=[], *c, d, **e):
        b.append(a)
        return a, b, c, d, e
    return g(5), h(1, d=2), h(1, d=3, z=4), h.__name__, g.calls
""",
    "operators": """
class V:
    def __init__(self, x): self.x = x
    def __add__(self, o): return V(self.x + o.x)
    def __iadd__(self, o): self.x += o.x; return self
    def __eq__(self, o): return self.x == o.x
    def __bool__(self): return self.x > 0
    def __len__(self): return self.x
    def __contains__(self, k): return k == self.x
    def __iter__(self): yield from range(self.x)
    def __call__(self, y): return self.x + y
    def __getitem__(self, k): return k
    def __setitem__(self, k, v): trace.append((k, v))
    def __delitem__(self, k): trace.append(k)
    def __neg__(self): return -self.x
    def __repr__(self): return f'V({self.x})'
    def __format__(self, s): return s
    def __hash__(self): return 1
def f():
    a, b = V(1), V(2)
    c = a; c += b
    o = O(v=V(3)); ov = o.v; o.v += a
    a[1] = 2; a[1:2, ...] = 3; a[a] += 'q' if 0 else a; del a[5]
    return a + b, a == b, bool(a), not V(0), len(a), 3 in a, list(b), a(4), a[7], -a, f'{a:zz}', {a: 1}[a], c is a, ov is o.v, (V(0) or b), (V(0) and b), 1 if a else 2, {*b}, [*b]
""",
    "async": """
class Agen:
    def __init__(self): self.n = 0
    def __aiter__(self): return self
    async def __anext__(self):
        self.n += 1
        if self.n > 3: raise StopAsyncIteration
        await asyncio.sleep(0)
        return self.n
class ACM:
    async def __aenter__(self): await asyncio.sleep(0); trace.append('ain'); return self
    async def __aexit__(self, *e): await asyncio.sleep(0); trace.append('aout')
async def agen(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i
async def val(x): await asyncio.sleep(0); return x
@contextlib.asynccontextmanager
async def acm(x):
    await asyncio.sleep(0)
    yield x
async def main():
    d = {}; o = O(n=1); l = [1, 2, 3]
    async with ACM() as a, acm(5) as b: trace.append(b)
    d[await val('k')] = await val(1)
    d['k'] += await val(2)
    o.n += await val(3)
    n = 1; n += await val(4)
    l += await val([4])
    l.append(await val(5))
    r = [x async for x in Agen()] + [await val(x) for x in l] + [x async for x in agen(3) if x]
    async for x in agen(2): r.append(x)
    else: r.append('else')
    for x in l: r.append(await val(x))
    for k, v in d.items(): r.append((k, await val(v)))
    g = await asyncio.gather(val(1), val(2))
    lock, q, ev = asyncio.Lock(), asyncio.Queue(), asyncio.Event()
    async def worker():
        nonlocal n
        async with lock: n += 1
        await q.put(n)
        ev.set()
    async with asyncio.TaskGroup() as tg:
        for _ in range(3): tg.create_task(worker())
    await ev.wait()
    try:
        async with asyncio.timeout(0.001): await asyncio.sleep(1)
    except TimeoutError: r.append('timeout')
    try: await asyncio.wait_for(asyncio.sleep(5), 0.001)
    except asyncio.TimeoutError: r.append('timeout')
    done, pending = await asyncio.wait([asyncio.ensure_future(val(1))])
    t = asyncio.create_task(asyncio.sleep(9)); await asyncio.sleep(0); t.cancel()
    try: await t
    except asyncio.CancelledError: r.append('cancelled')
    gen = (y for y in [1, 2]); s = {z async for z in agen(2)}; dd = {z: await val(z) for z in range(2)}
    return d, o.n, n, l, r, g, q.qsize(), len(done), list(gen), s, dd, [c async for c in (await val(q) async for q in agen(2))]
def f(): return asyncio.run(main())
""",
    "scoping": """
x = 'global'
def f():
    class A:
        x = 'class'
        y = [x for _ in range(1)]
        def m(self): return x
    def g():
        x = 'local'
        class B:
            y = x
            def m(self): return x
        return B().m(), B.y
    def h():
        try: raise ValueError(1)
        except ValueError as e: k = lambda: e
        try: return k()
        except NameError: return 'unbound'
    fs = []
    for i in range(3): fs.append(lambda: i)
    import os.path as p, sys
    def late(): return later
    later = 5
    del x if False else i
    return A().m(), A.y, g(), h(), late(), p.__name__, sys.__name__
""".replace("    del x if False else i\n", ""),
    "docstrings": '''
def f():
    """doc"""
    def g():
        "inner doc"
        n = 1
        def h():
            nonlocal n
            n += 1
        h()
        return n
    return f.__doc__, g.__doc__, g()
''',
}


def outcome(source: str, instrument: bool, recorded: bool) -> tuple[object, object]:
    module = load(PRELUDE + textwrap.dedent(source), instrument, name="snippet")
    with contextlib.ExitStack() as stack:
        if recorded:
            stack.enter_context(instrumented_asyncio())
            recorder = stack.enter_context(recording(Recorder()))
            recorder.learn(module)
            recorder.start_run()
            recorder.begin_step("0", 0)
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        result = repr(module.f())
        if recorded:
            recorder.end_step()
    return result, module.trace


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("name", SNIPPETS)
def test_instrumented_code_does_the_same(name: str, recorded: bool) -> None:
    import re

    def clean(found: object) -> str:
        return re.sub("0x[0-9a-f]+", "ID", str(found))

    plain = outcome(SNIPPETS[name], instrument=False, recorded=False)
    assert clean(outcome(SNIPPETS[name], instrument=True, recorded=recorded)) == clean(plain)
