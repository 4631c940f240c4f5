"""Programs in the three example languages made by Hypothesis, as Maude terms: small, and full of traps.

Cells and channels are shared by few names, locks are released by those who do not have them, branches wait for
what never comes, loops end or go round for ever, and the same alternative stands twice. A guarded command is also
given as the text that `langs/gcl` reads.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from textwrap import dedent

from hypothesis import strategies as st

from porcini.properties.ltl.formula import (
    And,
    Atom,
    Formula,
    Not,
    Or,
    Release,
    Until,
    always,
    eventually,
    iff,
    implies,
    weak_until,
)

LANGUAGES = Path(__file__).parent.parent / "examples" / "maude"
_numbers = count()
"""Modules are global in a process of Maude's: no two programs may share a name."""

_PROPS = {
    "threads": r"""
      ops x y : Int -> Prop [ctor] .    op held : -> Prop [ctor] .
      op ends : Tid -> Prop [ctor] .    op reg : Tid Int -> Prop [ctor] .
      var I : Int .  var T : Tid .  var C : Code .
      var V : Env .  var S : Conf .  var P : Prop .
      eq ['x = I] S                 |= x(I) = true .
      eq ['y = I] S                 |= y(I) = true .
      eq lock('m, T) S              |= held = true .
      eq < T | done | V > S         |= ends(T) = true .
      eq < T | C | 'r |-> I , V > S |= reg(T, I) = true .

      op same : -> Prop [ctor] .  ops saw over : Tid Int -> Prop [ctor] .
      ops has turned echo : Tid -> Prop [ctor] .
      op anyone : -> Prop [ctor] .
      op someone : Conf -> Bool .  var J : Int .  var N : Name .
      eq  ['x = I] ['y = I] S           |= same = true .
      eq  ['x = I] < T | done | V > S   |= saw(T, I) = true .
      eq  ['x = I] < T | C | 'r |-> I , V > S |= echo(T) = true .
      ceq < T | C | 'r |-> I , V > S    |= over(T, J) = true if I > J .
      eq  lock(N, T) S                  |= has(T) = true .
      eq  < T | C | 'r |-> I , V > S    |= turned(T) = I =/= 0 .
      eq  S                             |= anyone = someone(S) .
      eq  someone(lock(N, T) S)         = true .
      eq  someone(S)                    = false [owise] .
      eq  S                             |= P = false [owise] .
    """,
    "channels": r"""
      op first : Int -> Prop [ctor] .  ops fullC fullD : -> Prop [ctor] .
      op ends : Tid -> Prop [ctor] .        op var : Tid Int -> Prop [ctor] .
      var I : Int .  var T : Tid .  var N : Nat .  var M : Queue .  var C : Code .
      var V : Env .  var S : Conf .  var P : Prop .
      eq chan('c, N, I @ M) S       |= first(I) = true .
      eq chan('c, 0, M) S           |= fullC = true .
      eq chan('d, 0, M) S           |= fullD = true .
      eq < T | done | V > S         |= ends(T) = true .
      eq < T | C | 'v |-> I , V > S |= var(T, I) = true .

      ops alike roomy : -> Prop [ctor] .  op over : Int -> Prop [ctor] .  op left : Tid Int -> Prop [ctor] .
      op any : -> Prop [ctor] .  op filled : Conf -> Bool .
      var J : Int .  var M' : Queue .  var X : Name .
      eq  chan('c, N, M) chan('d, N, M') S        |= alike = true .
      eq  chan('c, N, I @ M) < T | done | V > S   |= left(T, I) = true .
      ceq chan('c, N, I @ M) S                    |= over(J) = true if I > J .
      eq  chan('d, N, M) S                        |= roomy = N > 0 .
      eq  S                                       |= any = filled(S) .
      eq  filled(chan(X, N, I @ M) S)             = true .
      eq  filled(S)                               = false [owise] .
      eq  S                                       |= P = false [owise] .
    """,
    "gcl": r"""
      ops x y : Int -> Prop [ctor] .  op b : -> Prop [ctor] .  op ends : Tid -> Prop [ctor] .
      var I : Int .  var T : Tid .  var N : Nat .  var M : Env .  var S : Conf .  var P : Prop .
      eq store('x |-> I , M) S    |= x(I) = true .
      eq store('y |-> I , M) S    |= y(I) = true .
      eq store('b |-> true , M) S |= b = true .
      eq < T | N | skip > S       |= ends(T) = true .

      op same : -> Prop [ctor] .  op over : Int -> Prop [ctor] .  op left : Int -> Prop [ctor] .
      var J : Int .
      eq  store('x |-> I , 'y |-> I , M) S      |= same = true .
      ceq store('x |-> I , M) S                 |= over(J) = true if I > J .
      eq  store('x |-> I , M) < T | N | skip > S |= left(I) = true .
      eq S                        |= P = false [owise] .
    """,
}
_SEES = r"""
      protecting GCL-POR .  op sees : Prop -> Footprint .
      eq sees(x(I)) = reads(variable('x)) .
      eq sees(y(I)) = reads(variable('y)) .
      eq sees(b)    = reads(variable('b)) .
"""
"""Of the other propositions about a store, the rules tell."""
ATOMS = {
    "threads": [
        *("x(0)", "x(1)", "y(0)", "y(1)", "held", "ends(0)", "ends(1)", "reg(0, 1)", "reg(1, 0)"),
        *(
            "same",
            "saw(0, 0)",
            "saw(1, 1)",
            "over(0, 0)",
            "has(0)",
            "has(1)",
            "turned(1)",
            "echo(0)",
            "echo(1)",
            "anyone",
        ),
    ],
    "channels": [
        *("first(0)", "first(0)", "first(1)", "fullC", "fullD", "ends(0)", "ends(1)", "var(0, 1)", "var(1, 0)"),
        *("alike", "left(0, 0)", "left(1, 0)", "over(0)", "roomy", "any"),
    ],
    "gcl": [
        *("x(0)", "x(1)", "y(0)", "y(1)", "b", "ends(0)", "ends(0 / 0)", "ends(0 / 1)"),
        *("same", "over(0)", "left(0)"),
    ],
}


@dataclass(frozen=True)
class Program:
    """A program: its initial state as a term, and the names of propositions that could be asked."""

    language: str
    initial: str
    gcl: str | None = None

    @property
    def atoms(self) -> list[str]:
        return ATOMS[self.language]

    def written(self, folder: Path, *, derived: bool = False, more: str = "") -> Path:
        """A file of modules and one with their description. `derived`: nobody says what steps touch."""
        name = f"TEST{next(_numbers)}"
        language = self.language.upper()
        path = folder / f"{name.lower()}.maude"
        sees = dedent(_SEES) if self.language == "gcl" and not derived else ""
        for file in (f"{self.language}.maude", "expressions.maude"):
            shutil.copy(LANGUAGES / file, folder)
        path.write_text(
            f"sload {self.language}\nsload model-checker\n"
            f"mod {name} is\n  protecting {language} .\n"
            f"  op init : -> Conf .\n  eq init = {self.initial} .\n{more}endm\n"
            f"mod {name}-PROPS is\n  protecting {name} .\n  including SATISFACTION .\n  subsort Conf < State .\n"
            f"{dedent(_PROPS[self.language])}{sees}endm\n",
            encoding="utf-8",
        )
        keys = {"module": name, "initial": "init", "state": "Conf", "thread": "Thread", "tid": "Tid"}
        keys["propositions"] = f"{name}-PROPS"
        if not derived:
            keys["dependence"] = keys["future"] = f"{language}-POR"
        described = "".join(f'{key} = "{value}"\n' for key, value in keys.items())
        path.with_suffix(".toml").write_text(described, encoding="utf-8")
        return path

    def loaded(self, load: Callable[[str], object], *, derived: bool = False):
        """What `load` makes of the file; Maude has read it then, and it may go."""
        with tempfile.TemporaryDirectory() as folder:
            return load(str(self.written(Path(folder), derived=derived)))


class _Budget:
    """How many steps a program may still ask for."""

    def __init__(self, left: int) -> None:
        self.left = left


# Threads with cells and locks

_REGISTER = ["0", "1", "'r", "1 - 'r", "'s"]
_TEST = ["'r =? 0", "'r < 1", "'r != 's", "('r =? 1) or ('s =? 0)", "not ('r =? 1)"]


def _thread(draw: st.DrawFn, budget: _Budget, depth: int, endless: bool) -> str:
    parts = []
    while budget.left > 0 and len(parts) < 4 and (not parts or draw(st.integers(0, 2))):
        parts.append(_instruction(draw, budget, depth, endless))
    return " ; ".join(parts) or "skip"


def _instruction(draw: st.DrawFn, budget: _Budget, depth: int, endless: bool) -> str:
    kinds = [
        "load",
        "load",
        "store",
        "store",
        "acquire",
        "acquire",
        "release",
        "release",
        "set",
        "yield",
        "critical",
    ]
    if depth < 2:
        kinds += ["if", "if", "while", "while"]
    kind = draw(st.sampled_from(kinds))
    budget.left -= 1
    cell, lock = draw(st.sampled_from(["'x", "'x", "'y"])), draw(st.sampled_from(["'m", "'m", "'n"]))
    value = draw(st.sampled_from(_REGISTER))
    if kind == "load":
        register = draw(st.sampled_from(["'r", "'r", "'s"]))
        return f"load {cell} into {register}"
    if kind == "store":
        return f"store {value} into {cell}"
    if kind in ("acquire", "release"):
        return f"{kind} {lock}"
    if kind == "set":
        return f"'r := {value}"
    if kind == "critical":
        return f"acquire {lock} ; store {value} into {cell} ; release {lock}"
    if kind == "if":
        test = draw(st.sampled_from(_TEST))
        one, two = (_thread(draw, budget, depth + 1, endless) for _ in range(2))
        return f"if {test} then {one} else {two} end"
    if kind == "while" and endless and draw(st.booleans()):
        test = draw(st.sampled_from(["true", *_TEST]))
        return f"while {test} do {_thread(draw, budget, depth + 1, endless)} end"
    if kind == "while":
        return f"'i := 0 ; while 'i < 1 do {_thread(draw, budget, 2, False)} ; 'i := 'i + 1 end"
    return "yield"


@st.composite
def thread_programs(draw: st.DrawFn, threads: int = 3, steps: int = 6, endless: bool = True) -> Program:
    budget = _Budget(steps)
    parts = ["['x = 0]", f"['y = {draw(st.integers(0, 1))}]", "lock('m, free)"]
    parts.append(draw(st.sampled_from(["lock('n, free)", "lock('n, 0)", "lock('n, 1)"])))
    for tid in range(draw(st.integers(2, threads))):
        parts.append(f"< {tid} | {_thread(draw, budget, 0, endless)} | 'r |-> 0 , 's |-> {tid} , 'i |-> 0 >")
    return Program("threads", " ".join(parts))


# Processes with channels

_MESSAGE = ["0", "1", "'v", "1 - 'v"]
_LOCAL = ["'v =? 0", "'v < 1", "true", "not ('v =? 0)"]


def _communication(draw: st.DrawFn) -> str:
    channel = draw(st.sampled_from(["'c", "'c", "'d"]))
    return f"{channel} ? 'v" if draw(st.booleans()) else f"{channel} ! {draw(st.sampled_from(_MESSAGE))}"


def _process(draw: st.DrawFn, budget: _Budget, depth: int, endless: bool, looping: bool, most: int = 3) -> str:
    parts: list[str] = []
    while budget.left > 0 and len(parts) < most and (not parts or draw(st.integers(0, 2))):
        kinds = ["talk"] * 6 + ["set"] + ["break"] * looping
        if depth < 2:
            kinds += ["if", "if", "do", "do"]
        kind = draw(st.sampled_from(kinds))
        budget.left -= 1
        if kind == "talk":
            parts.append(_communication(draw))
        elif kind == "set":
            parts.append(f"'v := {draw(st.sampled_from(_MESSAGE))}")
        elif kind == "break":
            parts.append("break")
        elif kind == "if":
            parts.append(f"if {_alternatives(draw, budget, depth, endless, looping)} fi")
        elif endless:
            parts.append(f"do {_alternatives(draw, budget, depth, endless, True)} od")
        else:
            inner = _process(draw, budget, 2, False, False, 2)
            parts.append(f"'i := 0 ; do :: 'i < 1 -> {inner} ; 'i := 'i + 1 :: 'i >= 1 -> break od")
    return " ; ".join(parts) or "skip"


def _alternatives(draw: st.DrawFn, budget: _Budget, depth: int, endless: bool, looping: bool) -> str:
    found = []
    for _ in range(draw(st.integers(1, 3))):
        guard = _communication(draw) if draw(st.integers(0, 2)) else draw(st.sampled_from(_LOCAL))
        code = _process(draw, budget, depth + 1, endless, looping, 2) if draw(st.booleans()) else "skip"
        found.append(f":: {guard} -> {code}")
    return " ".join(found)


@st.composite
def channel_programs(draw: st.DrawFn, threads: int = 3, steps: int = 6, endless: bool = True) -> Program:
    budget = _Budget(steps)
    contents = ["1, nil", "0, 1", "1, 0", "1, 0", "1, 1", "1, 0 @ 1"]  # with room and a message, both ends can go
    parts = [f"chan('c, {draw(st.sampled_from(contents))})"]
    parts.append(f"chan('d, {draw(st.sampled_from(['1, nil', '2, nil', '1, 0']))})")
    for tid in range(draw(st.integers(2, threads))):
        parts.append(f"< {tid} | {_process(draw, budget, 0, endless, False)} | 'v |-> 0 , 'i |-> 0 >")
    return Program("channels", " ".join(parts))


@st.composite
def talking_programs(draw: st.DrawFn) -> Program:
    """Both ends of a channel with a message and room: what a step changes depends on who went before."""
    parts = [f"chan('c, {draw(st.sampled_from(['1, 0', '1, 1', '2, 0', '1, 0 @ 1']))})", "chan('d, 1, nil)"]
    for tid, end in enumerate("?!"):
        said = ["'c ? 'v" if end == "?" else f"'c ! {draw(st.sampled_from('01'))}"]
        if draw(st.booleans()):
            said.append(_communication(draw))
        parts.append(f"< {tid} | {' ; '.join(said)} | 'v |-> 0 >")
    return Program("channels", " ".join(parts))


# Guarded commands, in both languages

Both = tuple[str, str]
"""A piece of a program for Maude, and for `langs/gcl`."""

_NUMBER: list[Both] = [
    *(("0", "0"), ("1", "1"), ("2", "2"), ("'x", "x"), ("'y", "y"), ("1 - 'x", "1 - x"), ("1 - 'y", "1 - y")),
]
_GROWING: list[Both] = [("'x + 1", "x + 1"), ("'y - 'x", "y - x"), ("2 * 'x", "2 * x"), ("'x + 'y", "x + y")]
_GUARD: list[Both] = [
    ("true", "True"),
    ("true", "True"),
    ("is 'b", "b"),
    ("not (is 'b)", "not b"),
    ("'x =? 0", "x == 0"),
    ("'x < 2", "x < 2"),
    ("'y >= 'x", "y >= x"),
    ("'x != 'y", "x != y"),
    ("(is 'b) and ('x < 2)", "b and x < 2"),
    ("(is 'b) or ('y =? 1)", "b or y == 1"),
    ("not ((is 'b) and ('x =? 'y))", "not (b and x == y)"),
    ("(is 'b) =? ('x > 0)", "b == (x > 0)"),
]


def _simple(draw: st.DrawFn, budget: _Budget, depth: int, endless: bool) -> Both:
    kinds = ["int"] * 4 + ["bool", "bool", "skip"]
    if depth < 2 and budget.left > 1:
        kinds += ["spawn", "nested"]
    kind = draw(st.sampled_from(kinds))
    budget.left -= 1
    if kind == "int":
        target, value = (
            draw(st.sampled_from("xy")),
            draw(st.sampled_from(_NUMBER if endless else _NUMBER + _GROWING)),
        )
        return f"'{target} := {value[0]}", f"{target} := {value[1]}"
    if kind == "bool":
        guard = draw(st.sampled_from(_GUARD))
        return f"'b := ({guard[0]})", f"b := {guard[1]}"
    if kind == "skip":
        return "skip", "skip"
    inner = _statements(draw, budget, depth + 1, endless, 2)
    before = "spawn" if kind == "spawn" else ""
    return f"{before}({inner[0]})", f"{before}({inner[1]})"


def _statement(draw: st.DrawFn, budget: _Budget, depth: int, endless: bool) -> Both:
    kind = draw(st.sampled_from(["guarded"] * 5 + ["choice", "choice", "loop"]))
    if kind == "loop" and not endless:
        name, most = draw(st.sampled_from("xy")), draw(st.integers(1, 2))
        return f"('{name} < {most}) |>* '{name} := '{name} + 1", f"{name} < {most} |>* {name} := {name} + 1"
    guard = draw(st.sampled_from(_GUARD))
    first = _simple(draw, budget, depth + (kind == "loop"), endless)
    while kind == "loop" and "spawn" in first[0]:  # or there would be ever more processes
        first = _simple(draw, budget, 2, endless)
    if kind == "loop":
        return f"({guard[0]}) |>* {first[0]}", f"{guard[1]} |>* {first[1]}"
    if kind == "guarded":
        return f"({guard[0]}) |> {first[0]}", f"{guard[1]} |> {first[1]}"
    second = _simple(draw, budget, depth, endless)
    return f"{first[0]} <| {guard[0]} |> {second[0]}", f"{first[1]} <| {guard[1]} |> {second[1]}"


def _statements(draw: st.DrawFn, budget: _Budget, depth: int, endless: bool, most: int) -> Both:
    parts = [_statement(draw, budget, depth, endless)]
    while budget.left > 0 and len(parts) < most and draw(st.booleans()):
        parts.append(_statement(draw, budget, depth, endless))
    return " ; ".join(one for one, _ in parts), "; ".join(two for _, two in parts)


@st.composite
def gcl_programs(draw: st.DrawFn, processes: int = 2, steps: int = 6, endless: bool = True) -> Program:
    """The initial process spawns a few others, and may go on itself."""
    budget = _Budget(steps)
    flag = draw(st.sampled_from(["true", "false"]))
    parts = []
    for _ in range(draw(st.integers(1, processes))):
        one, two = _statements(draw, budget, 1, endless, 3)
        parts.append((f"true |> spawn({one})", f"True |> spawn({two})"))
    if draw(st.booleans()):
        parts.append(_statement(draw, budget, 0, endless))
    code = " ; ".join(one for one, _ in parts)
    text = ";\n".join(two for _, two in parts)
    return Program(
        "gcl",
        f"let 'x |-> 0 , 'y |-> 1 , 'b |-> {flag} in ({code})",
        f"x |-> 0, y |-> 1, b |-> {flag},\n{text}",
    )


def maude_programs(steps: int = 6, endless: bool = True) -> st.SearchStrategy[Program]:
    return st.one_of(
        thread_programs(steps=steps, endless=endless),
        channel_programs(steps=steps, endless=endless),
        gcl_programs(steps=steps, endless=endless),
    )


# Formulas

_ONE = [Not, always, eventually, always, eventually]
_TWO = [And, Or, Until, Release, implies, iff, weak_until]


@st.composite
def stutter_free_formulas(draw: st.DrawFn, atoms: list[str], largest: int = 6) -> Formula:
    """Formulas without X."""
    some = [Atom(text) for text in draw(st.lists(st.sampled_from(atoms), min_size=1, max_size=2, unique=True))]

    def of_size(size: int) -> Formula:
        if size == 1:
            return draw(st.sampled_from(some))
        if size == 2 or draw(st.booleans()):
            return draw(st.sampled_from(_ONE))(of_size(size - 1))
        left = draw(st.integers(1, size - 2))
        return draw(st.sampled_from(_TWO))(of_size(left), of_size(size - 1 - left))

    return of_size(draw(st.integers(2, largest)))


# Theories, not only programs: operators with all sorts of syntax, and with names that could be ours

_JOINS = ["_,_", "_;_", "_;;_", "_in_", "_&_", "__", "_`,`,_", "_if_", "_:=_"]
_JOIN_ATTRIBUTES = ["", "prec 20", "prec 60", "prec 95", "prec 121", "prec 60 gather (e E)"]
_PAIRS = ["f", "<_,_>", "{_|_}", "[_|_]", "ready", "enabled", "moved", "_Now_", "thread_:_", "Start_,_", "state"]
_TESTS = ["member", "Known", "Waiting", "_in_", "_less_", "has_[_]", "_,_is", "Can"]
_CONSTANTS = ["U", "C", "Start", "noWay", "nothing", "noInfo", "way0", "P", "true2", "nil", "none"]
_SORTS = ["Way", "Location", "PState", "ThreadList", "MThread", "Access", "Bag"]


def _applied(name: str, *args: str) -> str:
    """An operator with its arguments: all of it, and each of them, in brackets."""
    if "_" not in name:
        return f"{name}({', '.join(f'({each})' for each in args)})"
    text, *rest = name.replace("`", "").split("_")
    return f"({text}{''.join(f' ({arg}) {word}' for arg, word in zip(args, rest, strict=True))})"


@dataclass(frozen=True)
class TheoryText:
    """A theory with a set, threads and a cell, and a formula to ask."""

    body: str
    formula: str

    def loaded(self, load: Callable[[str], object]):
        name = f"THEORY{next(_numbers)}"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{name.lower()}.maude"
            path.write_text(f"sload model-checker\n{self.body}".replace("NAME", name), encoding="utf-8")
            keys = {"module": name, "initial": "init", "state": "Conf", "thread": "Thread", "tid": "Nat"}
            keys["propositions"] = f"{name}-PROPS"
            described = "".join(f'{key} = "{value}"\n' for key, value in keys.items())
            path.with_suffix(".toml").write_text(described, encoding="utf-8")
            return load(str(path))


@st.composite
def theories(draw: st.DrawFn) -> TheoryText:
    join, attributes = draw(st.sampled_from(_JOINS)), draw(st.sampled_from(_JOIN_ATTRIBUTES))
    thread, cell = draw(st.lists(st.sampled_from(_PAIRS), min_size=2, max_size=2, unique=True))
    test = draw(st.sampled_from([each for each in _TESTS if each != join]))  # or Maude itself could not tell
    bag = draw(st.sampled_from(_SORTS))
    constants = draw(st.lists(st.sampled_from(_CONSTANTS), max_size=3, unique=True))
    guarded, wide = draw(st.booleans()), draw(st.booleans())
    wanted = draw(st.lists(st.integers(1, 2), min_size=2, max_size=3))

    def joined(one: str, two: str) -> str:
        return _applied(join, one, two)

    soup = "__" if join != "__" else "_+++_"
    threads = [_applied(thread, str(tid), str(number)) for tid, number in enumerate(wanted)]
    parts = [*threads, _applied(cell, "1", "empty"), _applied(cell, "2", "empty")]
    around = f" {soup.strip('_')} "
    where = "X" if draw(st.booleans()) else "1"
    body = f"""mod NAME is
  protecting NAT .  sorts {bag} Thread Cell Conf .  subsort Nat < {bag} .  subsorts Thread Cell < Conf .
  op no-one : -> Conf [ctor] .  op {soup} : Conf Conf -> Conf [ctor assoc comm id: no-one] .
  op empty : -> {bag} [ctor] .  op {join} : {bag} {bag} -> {bag} [ctor assoc comm id: empty {attributes}] .
  op {thread} : Nat Nat -> Thread [ctor] .  op ended : Nat -> Thread [ctor] .
  op {cell} : Nat {bag} -> Cell [ctor] .
  op {test} : Nat {bag} -> Bool .  {f"op {test.replace('_', '')} : Nat Nat {bag} -> Bool ." if wide else ""}
  sort Other .  {" ".join(f"op {each} : -> Other ." for each in constants)}
  vars I X : Nat .  var Ns : {bag} .
  eq {_applied(test, "X", joined("X", "Ns"))} = true .  eq {_applied(test, "X", "Ns")} = false [owise] .
  {"crl" if guarded else "rl"} [step] : {_applied(thread, "I", "X")}{around}{_applied(cell, where, "Ns")}
    => ended(I){around}{_applied(cell, where, joined("X", "Ns"))}
    {f"if not ({_applied(test, 'X', 'Ns')})" if guarded else ""} .
  op init : -> Conf .  eq init = {around.join(parts)} .
endm
mod NAME-PROPS is
  protecting NAME .  including SATISFACTION .  subsort Conf < State .
  ops has left : Nat -> Prop [ctor] .  vars I X K : Nat .  var Ns : {bag} .  var S : Conf .
  eq {_applied(cell, "K", joined("X", "Ns"))}{around}S |= has(X) = true .
  eq {_applied(thread, "I", "X")}{around}S |= left(I) = true .
  eq S |= P:Prop = false [owise] .
endm
"""
    formulas = ["<> has(1)", "[] ~ has(2)", "[] (has(1) -> has(2))", "<> [] ~ left(0)", "has(1) U has(2)"]
    return TheoryText(body, draw(st.sampled_from(formulas)))
