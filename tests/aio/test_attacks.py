"""Races of two tasks in places where few look: Porcini finds each outcome that any order of ready handles has.

Each case was found by attacking the instrumentation, and was a wrong "holds" once: a setup, what the two tasks do,
and what is looked at in the end.
"""

from __future__ import annotations

import ast
import importlib
import sys
import textwrap
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aio.corpus_reference import explore as every_order
from porcini import Limits, explore
from porcini.langs.aio.program import observed

FOREIGN = """
import json, logging
seen = []
class B:
    state = [1]
    def __bytes__(self): return bytes(self.state)
    def __floor__(self): return len(self.state)
    def __trunc__(self): return len(self.state)
    def __complex__(self): return complex(len(self.state))
class I(B):
    def __index__(self): return len(self.state)
class Formatting(logging.Formatter):
    def __init__(self, into):
        super().__init__()
        self.into = into
    def format(self, record):
        self.into.append(record.getMessage())
        return ""
def filtering(items): return lambda record: bool(items)
def counting(items): return lambda record: items.append("counted")
def register(function):
    seen.append(function)
    return function
class Base:
    def __init_subclass__(cls): seen.append(cls)
class Meta(type):
    def __init__(cls, *args): seen.append(cls)
async def coroutine(): seen.append(1)
class Encoder(json.JSONEncoder):
    def default(self, value):
        seen.append(value)
        return 0
"""
"""A module that is not instrumented."""

PRELUDE = """
import abc, asyncio, bisect, collections, contextlib, contextvars, copy, ctypes, dataclasses, decimal, functools
import enum, gc, inspect, io, itertools, json, logging, math, operator, random, re, string, sys, traceback, types
import typing, weakref
import foreign
class O:
    def __init__(self, **fields):
        for name, value in fields.items(): setattr(self, name, value)
class P: pass
class Del:
    def __init__(self, log, n): self.log, self.n = log, n
    def __del__(self): self.log.append(self.n)
class Slots:
    __slots__ = ("a",)
class A1:
    def f(self): return "A1"
class A2:
    def f(self): return "A2"
class Cls:
    n = 0
    @classmethod
    def bump(cls, by): cls.n += by
class Sub(Cls):
    n = 0
class H(logging.Handler):
    def __init__(self):
        super().__init__()
        self.seen = []
    def emit(self, record): self.seen.append(record.getMessage())
class R(H):
    def emit(self, record): self.seen.append(record.user)
def with_n_of(one, other):
    names = one.__code__.co_freevars
    theirs = other.__closure__[other.__code__.co_freevars.index("n")]
    cells = [theirs if name == "n" else cell for name, cell in zip(names, one.__closure__)]
    return types.FunctionType(one.__code__, globals(), "put", (), tuple(cells))
def gen2():
    n = 1
    yield n
    n = 2
    yield n
G = 0
CV = contextvars.ContextVar("CV")
def put(v):
    global G
    G = v
def glob_writer():
    global G
def fresh():
    global G
    G = 0
    Cls.n = 0
    if "n" in Sub.__dict__: del Sub.n
    del foreign.B.state[1:]
"""

CASES = {
    "bytearray_match_later": (
        'b=bytearray(b"ab");m=re.compile(b"a").match(b)',
        "b[0]=99",
        "return m.group()",
        "res",
    ),
    "ctypes_val": ("c=ctypes.c_int(0)", "c.value=1", "c.value=2", "c.value"),
    "stringio_print": ("s=io.StringIO()", 'print("a",file=s)', 'print("b",file=s)', "s.getvalue()"),
    "insort_key": ("l=[]", "bisect.insort([1],2,key=lambda x:l.append(x) or x)", "l.append(0)", "l"),
    "map_setattr": ("o=P()", 'list(map(setattr,[o],["x"],[1]))', 'list(map(setattr,[o],["x"],[2]))', "o.x"),
    "map_opset": (
        "d={}",
        'list(map(operator.setitem,[d],["x"],[1]))',
        'list(map(operator.setitem,[d],["x"],[2]))',
        "d",
    ),
    "map_next": ("it=iter([1,2])", "return list(map(next,[it]))", "return list(map(next,[it]))", "res"),
    "map_getattr": ("o=O(x=0)", "o.x=1", 'return list(map(getattr,[o],["x"]))', "res"),
    "map_attrgetter": ("o=O(x=0)", "o.x=1", 'return list(map(operator.attrgetter("x"),[o]))', "res"),
    "iter_in": ("it=iter([1,2,3])", "return 2 in it", "return list(it)", "res"),
    "iter_extend": ("it=iter([1,2])", "l=[];l.extend(it);return l", "l=[];l+=it;return l", "res"),
    "iter_slice": ("it=iter([1,2])", "l=[];l[:]=it;return l", "l=[];l[:]=it;return l", "res"),
    "iter_lenhint": ("it=iter([1,2])", "next(it)", "return operator.length_hint(it)", "res"),
    "gen_frame_locals": ("g=gen2()", "next(g)", 'return g.gi_frame.f_locals.get("n")', "res"),
    "gen_running": ("g=gen2()", "next(g)", "return inspect.getgeneratorstate(g)", "res"),
    "gen_in": ("g=(x for x in [1,2,3])", "return 1 in g", "return next(g)", "res"),
    "vars_held": ("o=O(x=0);v=vars(o)", 'v["x"]=1', "return o.x", "res"),
    "dict_held": ("o=O(x=0);v=o.__dict__", 'v["x"]=1', "return o.x", "res"),
    "dict_held_read": ("o=O(x=0);v=o.__dict__", "o.x=1", 'return v["x"]', "res"),
    "dict_held_len": ("o=P();v=o.__dict__", "o.x=1", "return len(v)", "res"),
    "dict_shared": ("o=O(x=0);p=P();p.__dict__=o.__dict__", "o.x=1", "return p.x", "res"),
    "borg": ('d={"x":0};o=P();p=P();o.__dict__=d;p.__dict__=d', "o.x=1", "return p.x", "res"),
    "borg2": ('d={"x":0};o=P();o.__dict__=d', "o.x=1", 'return d["x"]', "res"),
    "setattr_bound_map": ("o=O(x=0)", 'list(map(o.__setattr__,["x"],[1]))', "return o.x", "res"),
    "slots_desc": ("o=Slots();o.a=0", "Slots.a.__set__(o,1)", "return o.a", "res"),
    "slots_desc2": ('o=Slots();o.a=0;d=Slots.__dict__["a"]', "d.__set__(o,1)", "d.__set__(o,2)", "o.a"),
    "class_assign": ("o=A1()", "o.__class__=A2", "return o.f()", "res"),
    "class_assign_t": ("o=A1()", "o.__class__=A2", "return type(o).__name__", "res"),
    "class_assign_i": ("o=A1()", "o.__class__=A2", "return isinstance(o,A1)", "res"),
    "class_assign_m": (
        "o=A1()",
        "o.__class__=A2",
        "match o:\n    case A1(): return 1\n    case _: return 2",
        "res",
    ),
    "class_type_setattr": ("class C: x=0", 'type.__setattr__(C,"x",1)', "return C.x", "res"),
    "class_shadow": ("", "Sub.n=1", "return Sub.n", "res"),
    "classmethod_bump": ("", "Sub.bump(1)", "return Sub.n", "res"),
    "subclasses": ("class C: pass", 'type("D",(C,),{})', "return len(C.__subclasses__())", "res"),
    "abc_register": ("class C(abc.ABC): pass", "C.register(int)", "return isinstance(1,C)", "res"),
    "abc_register_issub": ("class C(abc.ABC): pass", "C.register(int)", "return issubclass(int,C)", "res"),
    "partial_setstate": (
        'f=functools.partial(int,"1")',
        'f.__setstate__((int,("2",),{},None))',
        "return f()",
        "res",
    ),
    "partial_keywords": ("f=functools.partial(dict,a=1)", 'f.keywords["a"]=2', "return f()", "res"),
    "singledispatch_reg": (
        "l=[]\n@functools.singledispatch\ndef s(a): return 0",
        "s.register(int,lambda a:1)",
        "return s(1)",
        "res",
    ),
    "defaults_assign": ("def f(a=0): return a", "f.__defaults__=(1,)", "return f()", "res"),
    "kwdefaults_assign": ("def f(*,a=0): return a", 'f.__kwdefaults__["a"]=1', "return f()", "res"),
    "code_assign": ("def f(): return 0\ndef g(): return 1", "f.__code__=g.__code__", "return f()", "res"),
    "method_attr": ("class C:\n    def f(self): pass\nC.f.n=0;c=C()", "C.f.n=1", "return c.f.n", "res"),
    "method_func_attr": (
        "class C:\n    def f(self): pass\nC.f.n=0;c=C()",
        "c.f.__func__.n=1",
        "return c.f.n",
        "res",
    ),
    "globals_held": ("g=globals()", 'g["G"]=1', "return G", "res"),
    "func_globals": ("", 'glob_writer.__globals__["G"]=1', "return G", "res"),
    "sys_stdout": (
        "s=io.StringIO();old=sys.stdout;sys.stdout=s",
        'print("a",end="")',
        'print("b",end="")',
        '(setattr(sys,"stdout",old), s.getvalue())',
    ),
    "log_level": (
        'h=H();g=logging.getLogger("hunt");g.handlers[:]=[h];g.propagate=False;g.setLevel(10)',
        "g.setLevel(50)",
        'g.warning("b")',
        "h.seen",
    ),
    "log_isenabled": (
        'g=logging.getLogger("hunt");g.setLevel(10)',
        "g.setLevel(50)",
        "return g.isEnabledFor(20)",
        "res",
    ),
    "log_geteff": (
        'g=logging.getLogger("hunt");g.setLevel(10)',
        "g.setLevel(50)",
        "return g.getEffectiveLevel()",
        "res",
    ),
    "log_addhandler": (
        'g=logging.getLogger("hunt");g.handlers[:]=[]',
        "g.addHandler(logging.NullHandler())",
        "return len(g.handlers)",
        "res",
    ),
    "log_haslog": (
        'g=logging.getLogger("hunt");g.handlers[:]=[];g.propagate=False',
        "g.addHandler(logging.NullHandler())",
        "return g.hasHandlers()",
        "res",
    ),
    "log_stream": (
        's=io.StringIO();g=logging.getLogger("hunt");g.handlers[:]=[logging.StreamHandler(s)];g.propagate=False;g.setLevel(10)',
        'g.warning("a")',
        'g.warning("b")',
        "s.getvalue()",
    ),
    "log_disable": (
        'g=logging.getLogger("hunt");logging.disable(0);g.setLevel(10)',
        "logging.disable(50)",
        "return g.isEnabledFor(20)",
        "(res,logging.disable(0))[0]",
    ),
    "log_disabled": (
        'h=H();g=logging.getLogger("hunt");g.handlers[:]=[h];g.propagate=False;g.setLevel(10)',
        "g.disabled=True",
        'g.warning("x")',
        '(list(h.seen),setattr(g,"disabled",False))[0]',
    ),
    "log_arg": (
        'l=[];h=H();g=logging.getLogger("hunt");g.handlers[:]=[h];g.propagate=False;g.setLevel(10)',
        "l.append(1)",
        'g.warning("%s",l)',
        "h.seen",
    ),
    "decimal_ctx": (
        "decimal.getcontext().prec=28",
        "decimal.getcontext().prec=5",
        "return str(decimal.Decimal(1)/3)",
        "res",
    ),
    "random_choice": ("r=random.Random(1)", "return r.choice(range(100))", "return r.randint(0,100)", "res"),
    "ddict_factory3": ("d=collections.defaultdict(int)", "d.default_factory=list", 'return d["b"]', "res"),
    "ddict_map": ("d=collections.defaultdict(list)", 'list(map(d.__getitem__,["a"]))', "return len(d)", "res"),
    "ddict_itemgetter": ("d=collections.defaultdict(list)", 'operator.itemgetter("a")(d)', "return len(d)", "res"),
    "ddict_format": ("d=collections.defaultdict(list)", '"{0[a]}".format(d)', "return len(d)", "res"),
    "ddict_formatmap": ("d=collections.defaultdict(list)", '"{a}".format_map(d)', "return len(d)", "res"),
    "ddict_percent": ("d=collections.defaultdict(list)", '"%(a)s" % d', "return len(d)", "res"),
    "ddict_opget": ("d=collections.defaultdict(list)", 'operator.getitem(d,"a")', "return len(d)", "res"),
    "ddict_template": (
        "d=collections.defaultdict(list)",
        'string.Template("$a").substitute(d)',
        "return len(d)",
        "res",
    ),
    "format_attr": ("o=O(x=0)", "o.x=1", 'return "{0.x}".format(o)', "res"),
    "format_attr2": ("o=O(x=0)", "o.x=1", 'return "{o.x}".format(o=o)', "res"),
    "format_attr3": ("o=O(p=O(x=0))", "o.p.x=1", 'return "{0.p.x}".format(o)', "res"),
    "format_item": ('o=O(p={"a":0})', 'o.p["a"]=1', 'return "{0.p[a]}".format(o)', "res"),
    "format_map_attr": ("o=O(x=0)", "o.x=1", 'return "{o.x}".format_map({"o":o})', "res"),
    "format_bound": ('o=O(x=0);f="{0.x}".format', "o.x=1", "return f(o)", "res"),
    "format_formatter": ("o=O(x=0)", "o.x=1", 'return string.Formatter().format("{0.x}",o)', "res"),
    "locals_obj": ("o=O(x=0)", "o.x=1", 'return "{o.x}".format(**{"o":o})', "res"),
    "attrgetter": ("o=O(x=0)", "o.x=1", 'return operator.attrgetter("x")(o)', "res"),
    "attrgetter_held": ('o=O(x=0);g=operator.attrgetter("x")', "o.x=1", "return g(o)", "res"),
    "attrgetter_deep": ('o=O(p=O(x=0));g=operator.attrgetter("p.x")', "o.p.x=1", "return g(o)", "res"),
    "attrgetter_group": (
        "a=[O(x=1,n=1),O(x=2,n=2)]",
        "a[0].x=2",
        'return len([k for k,g in itertools.groupby(a,operator.attrgetter("x"))])',
        "res",
    ),
    "attrgetter_filter": (
        "a=[O(x=0,n=1)]",
        "a[0].x=2",
        'return len(list(filter(operator.attrgetter("x"),a)))',
        "res",
    ),
    "methodcaller_pop": (
        "l=[1,2]",
        'return operator.methodcaller("pop")(l)',
        'return operator.methodcaller("pop")(l)',
        "res",
    ),
    "copy_deep_memo": ("l=[];m={}", "copy.deepcopy(l,m)", "return len(m)", "res"),
    "weakref_dead": ("o=O(p=P());r=weakref.ref(o.p)", "o.p=None", "return r() is None", "res"),
    "weakref_del": ("o=O(p=P());r=weakref.ref(o.p)", "del o.p", "return r() is None", "res"),
    "weakref_finalize": ("l=[];o=O(p=P());weakref.finalize(o.p,l.append,1)", "o.p=None", "l.append(2)", "l"),
    "weakref_proxy": ("o=O(x=0);p=weakref.proxy(o)", "p.x=1", "return o.x", "res"),
    "weakref_proxy_r": ("o=O(x=0);p=weakref.proxy(o)", "o.x=1", "return p.x", "res"),
    "weakref_listpop": ("l=[P()];r=weakref.ref(l[0])", "l.pop()", "return r() is None", "res"),
    "weakref_clear": ("l=[P()];r=weakref.ref(l[0])", "l.clear()", "return r() is None", "res"),
    "ctxvar_ctx": ("c=contextvars.copy_context()", "c.run(CV.set,1)", "return c.get(CV)", "res"),
    "ctxvar_ctx2": ("c=contextvars.copy_context()", "c.run(CV.set,1)", "return c.run(CV.get)", "res"),
    "ctxvar_ctx3": ("c=contextvars.copy_context()", "c.run(CV.set,1)", "c.run(CV.set,2)", "c[CV]"),
    "ctxvar_ctx_in": ("c=contextvars.Context()", "c.run(CV.set,1)", "return CV in c", "res"),
    "ctxvar_ctx_len": ("c=contextvars.Context()", "c.run(CV.set,1)", "return len(c)", "res"),
    "ctxvar_ctx_iter": ("c=contextvars.Context()", "c.run(CV.set,1)", "return len(list(c))", "res"),
    "ctxvar_ctx_copy": ("c=contextvars.Context()", "c.run(CV.set,1)", "return c.copy().get(CV)", "res"),
    "exc_shared": ("e=ValueError()", "e.args=(1,)", "e.args=(2,)", "e.args"),
    "exc_args_r": ("e=ValueError(0)", "e.args=(1,)", "return str(e)", "res"),
    "exc_note": ("e=ValueError(0)", 'e.add_note("a")', 'e.add_note("b")', "e.__notes__"),
    "exc_note_r": ("e=ValueError(0)", 'e.add_note("a")', 'return hasattr(e,"__notes__")', "res"),
    "exc_cause": ("e=ValueError(0)", "e.__cause__=KeyError()", "return e.__cause__ is None", "res"),
    "exc_ctx": (
        "e=ValueError(0)",
        "try:\n    raise KeyError\nexcept KeyError:\n    try: raise e\n    except ValueError: pass",
        "return e.__context__ is None",
        "res",
    ),
    "exc_tb": (
        "e=ValueError(0)",
        "try: raise e\nexcept ValueError: pass",
        "return e.__traceback__ is None",
        "res",
    ),
    "exc_withtb": (
        "e=ValueError(0)",
        "try: raise e\nexcept ValueError: pass",
        "return len(traceback.format_exception(e))",
        "res",
    ),
    "exc_group": ('g=ExceptionGroup("g",[ValueError(0)])', "g.exceptions[0].args=(1,)", "return repr(g)", "res"),
    "exc_stopiter": ("e=StopIteration(0)", "e.value=1", "return e.value", "res"),
    "exc_oserr": ('e=OSError(1,"a")', "e.errno=5", "return str(e)", "res"),
    "exc_oserr2": ('e=OSError(1,"a")', 'e.filename="z"', "return e.filename", "res"),
    "exc_sysexc": ("e=ValueError(0)", "e.__suppress_context__=True", "return e.__suppress_context__", "res"),
    "closure_cell2": ("n=0\ndef get(): return n", "get.__closure__[0].cell_contents=5", "return get()", "res"),
    "closure_cell3": (
        "n=0\ndef get(): return n\nc=get.__closure__[0]",
        "c.cell_contents=5",
        "return c.cell_contents",
        "res",
    ),
    "dict_proxy10": (
        "d={};v=types.MappingProxyType(d)",
        'd["a"]=1',
        'match v:\n    case {"a":x}: return x\n    case _: return 0',
        "res",
    ),
    "list_in_other": ("l=[1];m=[5]", "m[:]=l", "l.append(3)", "m"),
    "list_unpack_nested": ("l=[[1],2]", "l[0][0]=5", "(a,),b=l; return a", "res"),
    "list_unpack_nested2": ("l=[[[1]],2]", "l[0][0][0]=5", "((a,),),b=l; return a", "res"),
    "list_for_unpack4": ("l=[([1,2],3)]", "l[0][0][0]=5", "for (a,b),c in l: return a", "res"),
    "list_for_unpack5": (
        "l=[([1,2],3)];z=list(zip(l,l))",
        "l[0][0][0]=5",
        "for ((a,b),c),d in z: return a",
        "res",
    ),
    "list_comp_unpack2": ("l=[([1,2],3)]", "l[0][0][0]=5", "return [a for (a,b),c in l]", "res"),
    "list_star_tuple": ("t=([1],)", "t[0].append(2)", "(a,),=t,; (b,*c),=t; return c", "res"),
    "attr_dict2": (
        "class AD(dict):\n    __getattr__=dict.get\n    __setattr__=dict.__setitem__\nd=AD()",
        "d.x=1",
        'return d["x"] if "x" in d else 0',
        "res",
    ),
    "attr_dict3": (
        "class AD(dict):\n    def __init__(s): s.__dict__=s\nd=AD()",
        "d.x=1",
        'return d.get("x")',
        "res",
    ),
    "protocol": (
        "@typing.runtime_checkable\nclass Pc(typing.Protocol):\n    x:int\nc=P()",
        "c.x=1",
        "return isinstance(c,Pc)",
        "res",
    ),
    "doc": ("def f(): pass", 'f.__doc__="x"', "return f.__doc__", "res"),
    "name": ("def f(): pass", 'f.__name__="x"', "return f.__name__", "res"),
    "repr_func": ("def f(): pass", 'f.__qualname__="x"', "return repr(f)[:12]", "res"),
    "from_import": ("", "put(1)", "from attacked import G\nreturn G", "res"),
    "dataclass_factory": (
        "l=[1,2]\n@dataclasses.dataclass\nclass C:\n    n:int=dataclasses.field(default_factory=l.pop)",
        "return C().n",
        "return C().n",
        "res",
    ),
    "shared_exception_text": ("l=[];e=ValueError(l)", "l.append(1)", "return str(e)", "res"),
    "subclass_of_list": ("class L(list): pass\nl=[1]", "l.append(2)", "return L(l)", "res"),
    "values_in_views": ("d={1:[1],2:[2]}", "d[1].append(3)", "return sum(d.values(),[])", "res"),
    "own_iterator": (
        "class B:\n    def __init__(s): s.i=iter([1,2])\n    def __iter__(s): return s.i\nb=B()",
        "return list(b)",
        "return [x for x in b]",
        "res",
    ),
    "suspended_own_iterator": (
        "class B:\n    def __init__(s): s.l=[1]\n    def __iter__(s): return iter(s.l)\nb=B()",
        "r=[]\nfor x in b:\n    r.append(x)\n    await asyncio.sleep(0)\nreturn r",
        "await asyncio.sleep(0); b.l.append(2)",
        "res",
    ),
    "key_compared": ("l=[]", "l.append(1)", "return l in [[],[5]]", "res"),
    "dict_of_iterators": (
        "i=iter([1,2])",
        "return dict([i])",
        "return list(i)",
        "res",
    ),
    "super_data": (
        "class A:\n    n=0\nclass B(A):\n    def f(s): return super().n\nb=B()",
        "A.n=1",
        "return b.f()",
        "res",
    ),
    "locals_cell": ("n=0", "nonlocal n\nn=1", 'if 0: n\nreturn locals().get("n")', "res"),
    "contexts": (
        "c=contextvars.copy_context()\nasync def put(): CV.set(1)\nasync def get(): return CV.get(0)",
        "await asyncio.create_task(put(),context=c)",
        "return await asyncio.create_task(get(),context=c)",
        "res",
    ),
    "reduce_c": ("l=[]", "functools.reduce(operator.iadd,[[1]],l)", "l.append(2)", "l"),
    "task_name": ('t=asyncio.current_task();t.set_name("a")', 't.set_name("b")', "return t.get_name()", "res"),
    "wrapped_call": ("l=[]", "l.append.__call__(1)", "l.append.__call__(2)", "l"),
    "redirected": (
        "s=io.StringIO()",
        'with contextlib.redirect_stdout(s):\n    print("a",end="")\n    await asyncio.sleep(0)',
        'with contextlib.redirect_stdout(s): print("b",end="")',
        "s.getvalue()",
    ),
    "coroutine_twice": (
        "async def f(): pass\nc=f()\nasync def a():\n    try: return await c\n    except RuntimeError: return 0",
        "return await a()",
        "return await a()",
        "res",
    ),
    "timeout_when": (
        "tm=asyncio.timeout(50)\nawait tm.__aenter__()",
        "tm.reschedule(100)",
        "return tm.when()",
        "(res,tm.reschedule(None))[0]",
    ),
    "last_reference": (
        "l=[];d=Del(l,1);o=O(a=d,b=d);del d",
        "o.a=None",
        "o.b=None; l.append(2)",
        "l",
    ),
    "local_with_finaliser": (
        "l=[]",
        "d=Del(l,1); await asyncio.sleep(0)",
        "l.append(2)",
        "l",
    ),
    "rebound_with_finaliser": (
        "l=[]",
        "d=Del(l,1); await asyncio.sleep(0); d=None; l.append(5)",
        "await asyncio.sleep(0); l.append(2)",
        "l",
    ),
    "dead_proxy": (
        "o=O(p=P());o.p.x=1;p=weakref.proxy(o.p)",
        "o.p=None",
        "try: return p.x\nexcept ReferenceError: return -1",
        "res",
    ),
    "weak_method": (
        "class C:\n    def f(s): pass\no=O(p=C());r=weakref.WeakMethod(o.p.f)",
        "o.p=None",
        "return r() is None",
        "res",
    ),
    "future_as_text": (
        "f=asyncio.get_running_loop().create_future()",
        "f.set_result(1)",
        'return "pending" in repr(f)',
        "res",
    ),
    "update_by_name": ("d={}", "d.update(key=1)", 'return d.get("key")', "res"),
    "update_clash": ("d={}", "d.update(obj=1,number=2)", "return sorted(d)", "res"),
    "move_by_name": ("d=collections.OrderedDict(a=1,b=2)", 'd.move_to_end(key="a")', "return list(d)", "res"),
    "pop_by_name": ("d=collections.OrderedDict(a=1)", 'd.pop(key="a")', "return len(d)", "res"),
    "insort_by_name": ("l=[2]", "bisect.insort(a=l,x=1)", "return list(l)", "res"),
    "shuffle_by_name": ("l=[1,2,3];r=random.Random(1)", "r.shuffle(x=l)", "return list(l)", "res"),
    "deepcopy_by_name": ("l=[1]", "l.append(2)", "return copy.deepcopy(x=l,memo=None)", "res"),
    "compress_by_name": ("l=[1,2]", "l[0]=5", "return list(itertools.compress(data=l,selectors=[1,1]))", "res"),
    "compress_by_name2": ("l=[1,1]", "l[0]=0", "return list(itertools.compress(data=[1,2],selectors=l))", "res"),
    "deque_by_name": ("l=[1]", "l.append(2)", "return list(collections.deque(iterable=l))", "res"),
    "bytes_by_name": ("l=[1]", "l.append(2)", "return bytes(source=l)", "res"),
    "generic_alias": ("l=[1]", "l.append(2)", "return list[int](l)", "res"),
    "method_of_descriptor": ("l=[1];m=types.MethodType(list.append,l)", "m(2)", "m(3)", "l"),
    "view_disjoint": ("d={1:1};l=[2]", "l.append(1)", "return d.keys().isdisjoint(l)", "res"),
    "view_or": ("d={1:1};l=[2]", "l.append(3)", "return sorted(d.keys().__or__(l))", "res"),
    "view_and_list": ("d={1:1};l=[2]", "l.append(1)", "return d.keys() & l", "res"),
    "view_and_iterator": (
        "d={1:1,2:2};i=iter([1,2])",
        "return len(d.keys() & i)",
        "return len([d.keys() | i for _ in '1'][0])+len(list(i))",
        "res",
    ),
    "view_own_iterator": (
        "class B:\n    def __init__(s): s.l=[1]\n    def __iter__(s): return iter(s.l)\nb=B();d={1:1,2:2}",
        "b.l.append(2)",
        "return len(d.keys() & b)",
        "res",
    ),
    "print_to_bound": ("l=[];o=P();o.write=l.append", 'print("a",file=o)', "l.append(1)", "l"),
    "print_flushes": (
        "class W:\n    def write(s,t): pass\nl=[];o=W();o.flush=l.clear",
        'print("a",file=o,flush=True)',
        "l.append(1)",
        "l",
    ),
    "bytes_of_unknown": ("o=foreign.B()", "foreign.B.state.append(2)", "return bytes(o)", "res"),
    "floor_of_unknown": ("o=foreign.B()", "foreign.B.state.append(2)", "return math.floor(o)", "res"),
    "trunc_of_unknown": ("o=foreign.B()", "foreign.B.state.append(2)", "return math.trunc(o)", "res"),
    "complex_of_unknown": ("o=foreign.B()", "foreign.B.state.append(2)", "return complex(o)", "res"),
    "range_of_unknown": ("o=foreign.I()", "foreign.B.state.append(2)", "return len(range(o))", "res"),
    "replaced": (
        "@dataclasses.dataclass(eq=False,repr=False)\nclass D:\n    a:int=0\no=D()",
        "o.a=1",
        "return dataclasses.replace(o).a",
        "res",
    ),
    "asdict": (
        "@dataclasses.dataclass(eq=False,repr=False)\nclass D:\n    a:int=0\no=D()",
        "o.a=1",
        "return dataclasses.asdict(o)",
        "res",
    ),
    "log_filter": (
        "h=H();g=logging.getLogger('hunt');g.handlers[:]=[h];g.propagate=False;g.setLevel(10);l=[1]\n"
        "h.addFilter(foreign.filtering(l))",
        "l.clear()",
        'g.warning("a")',
        "h.seen",
    ),
    "log_formatter": (
        "l=[];h=logging.StreamHandler(sys.__stderr__);h.setFormatter(foreign.Formatting(l))\n"
        "g=logging.getLogger('hunt2');g.handlers[:]=[h];g.propagate=False;g.setLevel(10)",
        'g.warning("a")',
        "l.append(1)",
        "l",
    ),
    "log_filters_of_handler": (
        "l=[];h=logging.StreamHandler(sys.__stderr__);h.addFilter(foreign.counting(l))\n"
        "g=logging.getLogger('hunt3');g.handlers[:]=[h];g.propagate=False;g.setLevel(10)",
        'g.warning("a")',
        "l.append(1)",
        "l",
    ),
    "log_adapter": (
        "h=R();g=logging.getLogger('hunt4');g.handlers[:]=[h];g.propagate=False;g.setLevel(10)\n"
        "a=logging.LoggerAdapter(g,{'user':1})",
        "a.extra['user']=2",
        'a.warning("a")',
        "h.seen",
    ),
    "decorated": ("l=[]", "@l.append\ndef f(): pass\nl[:]=[1]", "l.append(2)", "l"),
    "decorated_by_unknown": (
        "foreign.seen.clear()",
        "@foreign.register\ndef f(): pass",
        "return len(foreign.seen)",
        "res",
    ),
    "class_of_unknown": ("foreign.seen.clear()", "class C(foreign.Base): pass", "return len(foreign.seen)", "res"),
    "metaclass_unknown": (
        "foreign.seen.clear()",
        "class C(metaclass=foreign.Meta): pass",
        "return len(foreign.seen)",
        "res",
    ),
    "made_by_type": ("foreign.seen.clear()", 'type("C",(foreign.Base,),{})', "return len(foreign.seen)", "res"),
    "instance_starred": (
        "@typing.runtime_checkable\nclass Pc(typing.Protocol):\n    x:int\nc=P()",
        "c.x=1",
        "return isinstance(*(c,Pc))",
        "res",
    ),
    "contexts_in_dict": (
        "c=contextvars.copy_context();k={'context':c}\n"
        "async def put(): CV.set(1)\nasync def get(): return CV.get(0)",
        "await asyncio.create_task(put(),**k)",
        "return await asyncio.create_task(get(),**k)",
        "res",
    ),
    "function_of_cells": (
        "n=0\ndef get(): return n\ndef make():\n    n=0\n    def put():\n        nonlocal n; n=1\n    return put\n"
        "put=with_n_of(make(),get)",
        "put()",
        "return get()",
        "res",
    ),
    "cycle_collected": (
        "o=O();o.me=o;l=[o];r=weakref.ref(o);del o",
        "l.clear(); gc.collect()",
        "return r() is None",
        "res",
    ),
    "exception_shown": ("l=[];e=ValueError(l)", "l.append(1)", "return e.__str__()", "res"),
    "namespace_shown": ("o=types.SimpleNamespace(x=0)", "o.x=1", "return o.__repr__()", "res"),
    "bytearray_compared": ("b=bytearray(b'a')", "b[0]=98", "return b.__eq__(b'a')", "res"),
    "matched_attribute": (
        "class L(list): pass\nl=L();l.x=0",
        "l.x=1",
        "match l:\n    case L(x=1): return 1\n    case _: return 0",
        "res",
    ),
    "matched_own_iterator": (
        "m=[1,2]\nclass L(list):\n    def __iter__(s): return iter(m)\nl=L([1,2])",
        "m[0]=5",
        "match l:\n    case [a,b]: return a\n    case _: return 0",
        "res",
    ),
    "copied_attribute": ("class L(list): pass\nl=L();l.x=0", "l.x=1", "return copy.copy(l).x", "res"),
    "sent_by_hand": (
        "async def f():\n    await asyncio.sleep(0)\nc=f()\ndef go():\n    try: c.send(None); return 1\n"
        "    except (StopIteration, RuntimeError): return 2",
        "return go()",
        "return go()",
        "(res,c.close())[0]",
    ),
    "sent_unknown": (
        "foreign.seen.clear();c=foreign.coroutine()",
        "try: c.send(None)\nexcept StopIteration: pass",
        "return len(foreign.seen)",
        "res",
    ),
    "delegated_unknown": (
        "foreign.seen.clear()\nclass A:\n    def __await__(s): yield from foreign.coroutine().__await__()",
        "await A()",
        "return len(foreign.seen)",
        "res",
    ),
    "cached_by_foreign": (
        "foreign.seen.clear();f=functools.lru_cache(None)(foreign.register)",
        "f(1)",
        "return len(foreign.seen)",
        "res",
    ),
    "encoder_unknown": (
        "foreign.seen.clear()",
        "json.dumps([P()],cls=foreign.Encoder)",
        "return len(foreign.seen)",
        "res",
    ),
    "shared_manager": (
        "@contextlib.contextmanager\ndef cm(): yield\nc=cm()\ndef use():\n    try:\n        with c: return 1\n"
        "    except (RuntimeError,AttributeError): return 2",
        "return use()",
        "return use()",
        "res",
    ),
    "shared_async_manager": (
        "@contextlib.asynccontextmanager\nasync def cm(): yield\nc=cm()\nasync def use():\n    try:\n"
        "        async with c: return 1\n    except (RuntimeError,AttributeError): return 2",
        "return await use()",
        "return await use()",
        "res",
    ),
    "module_put_in": (
        "sys.modules.pop('zz',None)",
        "sys.modules['zz']=types.ModuleType('zz')",
        "try:\n    import zz\n    return 1\nexcept ImportError: return 0",
        "(res,sys.modules.pop('zz',None))[0]",
    ),
    "enum_of_dict": ("d={'a':1}", "d['b']=2", "return len(enum.Enum('E',d))", "res"),
    "enum_looked_up": (
        "class E(enum.Enum):\n    A=[1]\nl=[1]",
        "l.append(2)",
        "try: return E(l).name\nexcept ValueError: return 0",
        "res",
    ),
    "class_of_dict": ("d={}", "d['x']=1", "return hasattr(type('X',(),d),'x')", "res"),
    "class_of_meta": (
        "class M(type): pass\nd={}",
        "d['x']=1",
        "return hasattr(M('X',(),d),'x'),hasattr(type(*('X',(),d)),'x')",
        "res",
    ),
    "classes_that_are_equal": (
        "class M(type):\n    def __eq__(c,o): return isinstance(o,M)\n    def __hash__(c): return 7\n"
        "class A(metaclass=M): pass\nclass B(metaclass=M): pass\nd={}",
        "d[A]=1",
        "d[B]=2",
        "list(d.values())",
    ),
    "waited_for": (
        "l=[];t=asyncio.ensure_future(asyncio.sleep(0))",
        "l.append(t)",
        "try: return len((await asyncio.wait(l))[0])\nexcept ValueError: return 0",
        "res",
    ),
    "waited_for_later": (
        "l=[asyncio.ensure_future(asyncio.sleep(0))];w=asyncio.wait(l)",
        "l.append(asyncio.ensure_future(asyncio.sleep(0)))",
        "return len((await asyncio.ensure_future(w))[0])",
        "res[1]",
    ),
    "task_named_by_dict": (
        "d={}",
        "d['x']=1",
        "return asyncio.create_task(asyncio.sleep(0),name=d)",
        "res[1].get_name()",
    ),
    "kept_callback": (
        "l=[];e=json.JSONEncoder(default=l.append)",
        "e.encode([P()])",
        "l.append(1)",
        "type(l[0]).__name__",
    ),
    "property_in_c": ("class L(list): size=property(list.__len__)\nl=L()", "l.append(1)", "return l.size", "res"),
    "setter_in_c": ("class L(list): last=property(None,list.append)\nl=L()", "l.last=1", "return list(l)", "res"),
    "match_value": ("", "Cls.n=1", "match 1:\n    case Cls.n: return 1\n    case _: return 2", "res"),
}


def source() -> str:
    parts = [PRELUDE]
    for name, (setup, one, two, result) in CASES.items():
        inner = f"async def one():\n{_block(one)}\nasync def two():\n{_block(two)}\n"
        inner += f"res = await asyncio.gather(one(), two())\nreturn repr({result})"
        parts.append(f"async def case_{name}():\n    fresh()\n{_block(setup)}\n{_block(inner)}\n")
    return "\n".join(parts)


def _block(text: str) -> str:
    return textwrap.indent(text or "pass", "    ")


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder: Path = tmp_path_factory.mktemp("attacks")
    (folder / "attacked.py").write_text(source())
    foreign = types.ModuleType("foreign")
    exec(compile(FOREIGN, "<foreign>", "exec"), vars(foreign))
    sys.modules["foreign"] = foreign
    sys.path.insert(0, str(folder))
    yield importlib.import_module("attacked")
    sys.path.remove(str(folder))
    del sys.modules["attacked"], sys.modules["foreign"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_each_outcome_of_a_race_is_found(attacked: Any, name: str) -> None:
    function = getattr(attacked, f"case_{name}")
    wanted = {
        str(observed(ast.literal_eval(shown[0]))) if kind == "ok" else kind
        for kind, *shown in every_order(function, max_runs=3000).outcomes
    }
    report = explore(function, limits=Limits(timeout=20, max_executions=5000))
    found = {str(*o.state.values()) if o.kind == "terminated" else o.kind for o in report.outcomes}
    assert found == wanted
    assert len(wanted) > 1
    assert report.stopped == "exhausted"
