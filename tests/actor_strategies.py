"""ABS programs made by Hypothesis, as text: a few actors of two or three classes that pass references around.

References arrive in messages and are stored in fields, tasks wait for conditions and for futures, blocking or not,
objects share a group or do not, calls go to null, assertions fail. Calls only go to methods of a higher number, so
that every program ends.

With inputs `n` and `p` values and ways depend on these; what they do not get into is lists.
"""

from __future__ import annotations

from hypothesis import strategies as st

LAST = 2
"""Methods are m0, m1 and m2."""

INTS = ["v", "x", "y", "x + 1", "x + v", "y - x", "length(log)", "1 - y"]
BOOLS = [
    "b",
    "!b",
    "x > 0",
    "x < 2",
    "y == x",
    "v > 0 && b",
    "isEmpty(log)",
    "peer != null",
    "peer == o",
    "o != this",
]
INPUT_INTS = [
    *INTS,
    "n()",
    "n() - x",
    "x + n()",
    "truncate(abs(y))",
    "max(x, v)",
    "plus(x)",
    "x * n()",
    "y % n()",
    "div(v, x)",
]
INPUT_BOOLS = [
    *BOOLS,
    "p()",
    "p() && x > n()",
    "n() != x",
    "y % 2 == 0",
    "x > 0 || div(y, x) > 0",
    "!p() || b",
    "odd(v)",
]
INPUTS = """
def Int n() = 1;
def Bool p() = True;
def Int plus(Int k) = case k { 0 => n(); 1 => 2; _ => if k > n() then k - 1 else k + 1; };
def Bool odd(Int k) = let (Int r) = k % 2 in r == 1 && p();
"""
RECEIVERS = ["o", "o", "o", "peer", "this"]


class _Method:
    """Draws the body of one method."""

    def __init__(self, draw: st.DrawFn, number: int, waits: bool, inputs: bool, lowest: int) -> None:
        self.draw = draw
        self.ints, self.bools = (INPUT_INTS, INPUT_BOOLS) if inputs else (INTS, BOOLS)
        self.elements = ["length(log)", "3"] if inputs else INTS
        self.number = number
        self.waits = waits
        self.lowest = lowest
        """The first method that tasks may be started of."""
        self.names = 0

    def pick(self, options: list[str]) -> str:
        return self.draw(st.sampled_from(options))

    def name(self) -> str:
        self.names += 1
        return f"l{self.names}"

    def call(self, lowest: int | None = None) -> str:
        callee = self.draw(st.integers(self.lowest if lowest is None else lowest, LAST))
        return f"m{callee}({self.pick(self.ints)}, {self.pick(['this', 'o', 'this'])})"

    def statement(self, depth: int = 0) -> str:
        kinds = ["field"] * 5 + ["peer", "log", "assert"]
        if self.lowest <= LAST:
            kinds += ["send"] * 4 + ["keep", "new"]
            if self.waits:
                kinds += ["await call", "get call"]
                if self.number < LAST:
                    kinds += ["sync"]
        if self.waits:
            kinds += ["await"] * 3 + ["await kept", "get kept", "suspend"]
        if depth == 0:
            kinds += ["if"] * 2 + ["while"]
        kind = self.pick(kinds)
        match kind:
            case "field":
                return self.pick(["x = {};", "y = {};", "x = x + {};"]).format(self.pick(self.ints))
            case "peer":
                return self.pick(["peer = o;", "b = !b;", "b = x > 0;", "peer = null;"])
            case "log":
                return f"log = Cons({self.pick(self.elements)}, log);"
            case "assert":
                return f"assert {self.pick(self.bools)};"
            case "send":
                return f"{self.pick(RECEIVERS)}!{self.call()};"
            case "keep":
                return f"kept = {self.pick(RECEIVERS)}!{self.call()};"
            case "new":
                made = self.name()
                where = self.pick(["new", "new", "new local"])
                return f"A {made} = {where} {self.pick(['P', 'Q'])}(o); {made}!{self.call()};"
            case "await call":
                return f"y = await {self.pick(RECEIVERS)}!{self.call()};"
            case "get call":
                future = self.name()
                return f"Fut<Int> {future} = {self.pick(RECEIVERS)}!{self.call()}; x = {future}.get;"
            case "sync":
                if self.draw(st.booleans()):
                    return f"x = this.{self.call(self.number + 1)};"
                return f"x = o.m{LAST}({self.pick(self.ints)}, o);"  # which never waits
            case "await":
                return f"await {self.pick(self.bools)};"
            case "await kept":
                return "if (kept != null) { await kept?; }"
            case "get kept":
                return "if (kept != null) { y = kept.get; }"
            case "suspend":
                return "suspend;"
            case "if":
                other = f" else {{ {self.statement(1)} }}" if self.draw(st.booleans()) else ""
                return f"if ({self.pick(self.bools)}) {{ {self.statement(1)} }}{other}"
            case _:
                index = self.name()
                return f"Int {index} = 0; while ({index} < 2) {{ {index} = {index} + 1; {self.statement(1)} }}"

    def body(self) -> str:
        count = self.draw(st.integers(1, 3))
        return " ".join(self.statement() for _ in range(count)) + f" return {self.pick(self.ints)};"


@st.composite
def actor_programs(draw: st.DrawFn, *, inputs: bool = False, endless: bool = False) -> str:
    """Three to five actors of two or three classes, and up to four messages to begin with. If they may be
    `endless`, methods start tasks of any method."""
    lines = [INPUTS] if inputs else []
    lines += ["interface A { Int m0(Int v, A o); Int m1(Int v, A o); Int m2(Int v, A o); }"]
    classes = draw(st.sampled_from(["PQ", "PQR"]))
    for name in classes:
        lines.append(f"class {name}(A peer) implements A {{")
        lines.append("    Int x = 0; Int y = 1; Bool b = False; List<Int> log = Nil; Fut<Int> kept;")
        for number in range(LAST + 1):
            waits = number < LAST and draw(st.integers(0, 2)) > 0
            method = _Method(draw, number, waits, inputs, 0 if endless else number + 1)
            lines.append(f"    Int m{number}(Int v, A o) {{ {method.body()} }}")
        lines.append("}")
    lines.append("{")
    actors = draw(st.integers(3, 5))
    for k in range(actors):
        peer = draw(st.sampled_from(["null", *(f"a{i}" for i in range(k))]))
        lines.append(f"    A a{k} = new {draw(st.sampled_from(classes))}({peer});")
    first = "n()" if inputs else "0"
    for k in range(draw(st.integers(2, 4))):
        to, other = draw(st.sampled_from([0, *range(actors)])), draw(st.integers(0, actors - 1))
        lines.append(f"    a{to}!m{draw(st.sampled_from([0, 0, 1, 1, 2]))}({k or first}, a{other});")
    lines.append("}")
    return "\n".join(lines)
