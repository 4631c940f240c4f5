"""Promela models made by Hypothesis, as text: small, over the whole language, and full of traps.

Choices are open, channels are full, empty or met at, messages do not match, atomic sequences block or hand the
turn on, processes start processes and die late, values wrap around, jumps go everywhere. Values stay small, and
so do the state spaces. One statement to a line, so that a model is easily made smaller by leaving out lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

Pick = Callable[[Sequence[str]], str]

GLOBALS = """\
mtype = {red, green};
typedef T { byte u; bit w[2] };
byte x;
byte y = 1;
bit b;
bool f = true;
short s;
byte a[2];
mtype m = red;
T t;
"""
CHANNELS = {
    "c": "chan c = [1] of { byte };",
    "d": "chan d = [2] of { mtype, byte };",
    "q": "chan q[2] = [1] of { byte };",
    "w": "chan w = [1] of { chan };",
    "r": "chan r = [0] of { byte };",
    "v": "chan v = [0] of { mtype, byte };",
}
PALETTES = ["c", "c", "d", "q", "cd", "cq", "cw"]
MEETING_PALETTES = ["cr", "cr", "dr", "qr", "cv", "rv", "crw", "r"]

SMALL = [
    *("0", "1", "2", "x", "y", "i", "(x + 1) % 3", "(x + y) % 3", "(i + 1) % 3", "(y + 2) % 3", "a[0]"),
    *("a[x % 2]", "b", "f", "(s + 4) % 3", "t.u", "t.w[y % 2]", "_pid % 3", "_pid % 3", "len(c)", "x ^ 1"),
    *("(b -> x : y)", "!x", "x / 2", "(y << 1) % 3", "x & y", "1 - b", "n", "(red - m) % 3", "(x == y) + 1"),
]
ASSIGN = [
    *("x = {}", "x = {}", "y = {}", "y = {}", "i = {}", "i = {}", "a[0] = {}", "a[x % 2] = {}", "a[i % 2] = {}"),
    *("b = {}", "f = {}", "t.u = {}", "t.w[x % 2] = b", "s = {}", "b = !b", "f = x", "s = x - y", "s = -x"),
    *("m = red", "m = green", "s = s % 2", "y = x + 254", "s = 32766 + x", "f = !f", "b = x + 1"),
]
TESTS = [
    *("x == y", "x < 2", "b", "!b", "f", "!f", "a[0] > i", "m == red", "x != 1 && !b", "b || y > 0", "t.u == 1"),
    *("len(c) == 0", "empty(c)", "full(d)", "nfull(c)", "nempty(d)", "c?[1]", "d?[red, _]", "d??[eval(m), 1]"),
    *("s < 0", "x > 0 && y > 0", "!(x == 1)", "i == x", "t.w[0] != t.w[1]", "x", "len(q[0]) < len(q[1])"),
    *("_pid == 0", "a[b] == 0", "x < 2 && nempty(c)", "true", "true", "1"),
]
CLAIMS = [
    *("x < 3", "b || y != 2", "x != 2 || !b", "a[0] < 2", "i < 3", "f || !b", "m == red || x < 2", "x == 0"),
    *("y > 0", "y != 2"),
]
SENDS = [
    *("c!{}", "c!{}", "c!!{}", "d!red,{}", "d!m,{}", "d!!green({})", "d!!m,{}", "q[0]!{}", "q[x % 2]!{}"),
    *("q[1]!{}",),
]
RECEIVES = [
    *("c?{}", "c?{}", "c?1", "c?_", "c?eval({})", "c??{}", "c??2", "c?<{}>", "c??<1>", "d?m,{}", "d?red,{}"),
    *("d?_,_", "d??green,{}", "d??m,1", "d?<m,{}>", "d?eval(m),{}", "d??_,eval({})", "q[0]?{}"),
    *("q[y % 2]?{}", "q[1]?_", "q[{} % 2]?1"),
]
MEET_SENDS = ["r!{}", "r!{}", "r!1", "v!red,{}", "v!m({})"]
MEET_RECEIVES = ["r?{}", "r?{}", "r?1", "r?_", "r?eval({})", "v?m,{}", "v?red,_", "v?_,eval({})", "v?eval(m),1"]
PLACES = ["x", "y", "i", "i", "b", "a[0]", "a[x % 2]", "t.u"]


@dataclass(frozen=True, slots=True)
class Shape:
    """What a model may be made of."""

    processes: int = 3
    statements: int = 16
    rendezvous: bool = True
    atomic: bool = True
    timeouts: bool = True
    endless: bool = True
    asserts: bool = True
    runs: bool = True
    remote: bool = True
    """`proctype[pid]@label` and `_nr_pr`"""


@dataclass(frozen=True, slots=True)
class Where:
    """What is around a statement."""

    depth: int = 0
    loop: bool = False
    counting: bool = False
    """inside a `for`, whose variable is taken"""
    atomic: bool = False
    d_step: bool = False


def asks(test: str, channel: str) -> bool:
    return any(part in test for part in (f"({channel})", f"{channel}?", f"({channel}["))


class Writer:
    """Writes one model; every decision is a pick from a list, whose first entry is the simplest."""

    def __init__(self, pick: Pick, shape: Shape) -> None:
        self.pick, self.shape = pick, shape
        self.left = shape.statements
        self.names = 0
        self.seen: list[str] = []
        """Labels of processes whose number is known, as expressions."""
        self.channels = pick(MEETING_PALETTES + PALETTES if shape.rendezvous else PALETTES)
        absent = [name for name in CHANNELS if name not in self.channels]
        self.smalls = [e for e in SMALL if not any(f"({name})" in e for name in absent)]
        self.tests = [e for e in TESTS if not any(asks(e, name) for name in absent)]
        self.sends = [e for e in SENDS + MEET_SENDS if e[0] in self.channels]
        self.receives = [e for e in RECEIVES + MEET_RECEIVES if e[0] in self.channels]

    def flip(self, one_in: int) -> bool:
        return self.pick(["no"] * (one_in - 1) + ["yes"]) == "yes"

    def model(self) -> str:
        lines: list[str] = []
        active = 0
        wanted = 2 + int(self.pick([str(n) for n in range(self.shape.processes - 1)]))
        started = self.shape.runs and self.flip(3)
        if started:
            lines += self.proctype("R", "proctype R(byte g; chan h)", [], parameters=True)
            wanted -= 1
        kinds = iter("PQSU")
        while active < wanted:
            name = next(kinds)
            if wanted - active > 1 and self.flip(4):
                lines += self.proctype(name, f"active [2] proctype {name}()", [active, active + 1])
                active += 2
            else:
                starts = started and active == wanted - 1
                head = "init" if starts and self.flip(2) else f"active proctype {name}()"
                lines += self.proctype(name if head != "init" else "init", head, [active], starts=starts)
                active += 1
        return GLOBALS + "\n".join([*(CHANNELS[name] for name in self.channels), *lines]) + "\n"

    def proctype(
        self, name: str, head: str, pids: list[int], parameters: bool = False, starts: bool = False
    ) -> list[str]:
        self.parameters = parameters
        self.labels = [f"{self.pick(['L', 'L', 'end'])}{n}" for n in range(int(self.pick(["0", "0", "1", "2"])))]
        self.mine = False
        body: list[str] = []
        if starts:
            body += self.starts()
        for segment in range(len(self.labels) + 1):
            self.segment = segment
            part = self.sequence(Where(), 3 if self.segment == 0 else 2)
            if self.segment:
                if part[0].startswith(("goto", "d_step", "for", "select")):  # SPIN wants a statement there
                    part = ["skip;", *part]
                part = [f"{self.labels[self.segment - 1]}:", *part]
            body += part
        if self.shape.remote and name != "init":
            self.seen += [f"{name}[{pid}]@{label}" for pid in pids for label in self.labels]
        lines = [f"{head} {{", "  byte i;", "  byte j;", "  byte n;"]
        if self.mine:
            lines += ["  chan mine = [1] of { byte };", "  chan got;"]
        return [*lines, *(f"  {line}" for line in body), "}"]

    def starts(self) -> list[str]:
        channels = [{"q": "q[1]"}.get(name, name) for name in self.channels if name in "cqr"] or ["0"]
        lines = [
            f"{self.pick(['', '', 'i = '])}run R({self.small()}, {self.pick(channels)});"
            for _ in range(int(self.pick(["1", "1", "2"])))
        ]
        if self.shape.atomic and self.flip(2):
            return ["atomic {", *(f"  {line}" for line in lines), "}"]
        return lines

    # Expressions

    def small(self) -> str:
        return self.pick(self.smalls + ["_nr_pr % 3"] * self.shape.remote + ["g"] * (2 * self.parameters))

    def test(self, plain: bool = False) -> str:
        """A condition; `plain` if it may stand beside an `else`, where SPIN wants no channels."""
        known = [test for test in self.tests if "?" not in test and "(" not in test] if plain else self.tests
        return self.pick([*known, *self.seen, "_nr_pr > 2", "_nr_pr < 3"] if self.shape.remote else known)

    def guard(self, plain: bool = False) -> str:
        if not plain and self.shape.timeouts and self.flip(12):
            return "timeout"
        return self.test(plain)

    def filled(self, pattern: str, values: Callable[[], str]) -> str:
        return pattern.format(values())

    def place(self) -> str:
        return self.pick(PLACES)

    def talk(self, meet: bool = True) -> str:
        if self.parameters and meet and set("cqr") & set(self.channels) and self.flip(3):
            if self.flip(2):
                return f"h!{self.small()}"
            return self.filled(self.pick(["h?{}", "h?1", "h?eval({})"]), self.place)
        sends, receives = self.sends, self.receives
        if not meet:
            sends, receives = ([e for e in part if e[0] not in "rv"] for part in (sends, receives))
        if not sends:
            return self.assign()
        if self.flip(2):
            return self.filled(self.pick(sends), self.small)
        return self.filled(self.pick(receives), self.place)

    def assign(self) -> str:
        return self.filled(self.pick(ASSIGN), self.small)

    # Statements

    def sequence(self, where: Where, most: int) -> list[str]:
        lines = self.statement(where)
        for _ in range(most - 1):
            if self.left > 0 and not self.flip(4):
                lines += self.statement(where)
        return lines

    def statement(self, where: Where) -> list[str]:
        self.left -= 1
        shape = self.shape
        if where.d_step:
            kinds = ["assign"] * 4 + ["skip"]
        else:
            kinds = ["assign"] * 4 + ["skip", "guard"] + ["talk"] * 4
            if self.targets():
                kinds += ["goto"]
            if where.loop:
                kinds += ["break"]
            if where.depth == 0 and self.segment == 0:
                kinds += ["declare"] + ["pass on"] * (3 * ("w" in self.channels))
        if shape.asserts:
            kinds += ["assert"]
        if where.depth < 3 and self.left > 0:
            kinds += ["if", "if"]
            if not where.counting:
                kinds += ["for"]
            if not where.d_step:
                kinds += ["select"]
                kinds += ["do", "do"]
                if shape.atomic:
                    kinds += ["atomic", "atomic", "d_step"]
        return self.written(self.pick(kinds), where)

    def targets(self) -> list[str]:
        return self.labels if self.shape.endless else self.labels[self.segment :]

    def written(self, kind: str, where: Where) -> list[str]:
        deeper = Where(where.depth + 1, where.loop, where.counting, where.atomic, where.d_step)
        match kind:
            case "skip":
                return ["skip;"]
            case "assert":
                return [f"assert({self.pick(CLAIMS)});"]
            case "guard":
                return [f"{self.guard()};"]
            case "talk":
                return [f"{self.talk()};"]
            case "goto":
                return [f"goto {self.pick(self.targets())};"]
            case "break":
                return ["break;"]
            case "declare":
                self.names += 1
                return [f"byte k{self.names} = {self.small()};", f"i = k{self.names};"]
            case "pass on":
                self.mine = True
                return [["w!mine;"], ["w?got;", f"got!{self.small()};"], ["mine?i;"]][int(self.pick("012"))]
            case "if":
                return self.choice(deeper, False)
            case "do":
                return self.loop(deeper)
            case "for":
                inner = Where(deeper.depth, False, True, where.atomic, where.d_step)
                heads = ["j : 0 .. 1", "j : 1 .. 2", "j in a", "j : x .. 2"]
                # SPIN has one more state for a block that begins with `do`.
                return [f"for ({self.pick(heads)}) {{", *self.within(["skip;", *self.sequence(inner, 2)]), "}"]
            case "select":
                return [self.pick(["select (i : 0 .. 1);", "select (i : 1 .. 2);", "select (i : x .. 2);"])]
            case "atomic":
                inner = Where(deeper.depth, where.loop, where.counting, True)
                return ["atomic {", *self.within(self.sequence(inner, 3)), "}"]
            case "d_step":
                return self.d_step(deeper)
            case _:
                return [f"{self.assign()};"]

    def d_step(self, where: Where) -> list[str]:
        inner = Where(where.depth, False, where.counting, where.atomic, True)
        first = self.pick(["assign", "guard", "talk"])
        head = {
            "assign": self.assign,
            "guard": lambda: self.test(plain=True),
            "talk": lambda: self.talk(meet=False),
        }[first]()
        return ["d_step {", *self.within([f"{head};", *self.sequence(inner, 2)]), "}"]

    @staticmethod
    def within(lines: list[str]) -> list[str]:
        return [f"  {line}" for line in lines]

    def option(self, first: list[str], rest: list[str]) -> list[str]:
        lines = [*first, *rest]
        return [f":: {lines[0]}", *(f"   {line}" for line in lines[1:])]

    def choice(self, where: Where, loops: bool) -> list[str]:
        """Options without a bound; where there is an `else` there is no talk."""
        otherwise = where.d_step or self.flip(3)
        lines: list[str] = []
        for _ in range(int(self.pick(["1", "2", "2", "3"]))):
            first = self.first(where, otherwise)
            rest = [] if first[-1].startswith(("goto", "break")) or self.flip(3) else self.sequence(where, 2)
            lines += self.option(first, rest)
        if otherwise:
            last = self.sequence(where, 1) if self.flip(2) else []
            if loops and self.flip(2):
                last = ["break;"]
            lines += self.option(["else;"], last)
        return ["do" if loops else "if", *lines, "od;" if loops else "fi;"]

    def first(self, where: Where, otherwise: bool) -> list[str]:
        """What an option begins with."""
        kinds = ["guard"] * 4
        if not where.d_step:
            kinds += ["assign"] + ["talk"] * 4 * (not otherwise)
            if self.targets():
                kinds += ["goto"]
            if where.loop:
                kinds += ["break"]
            if self.shape.atomic and not otherwise and where.depth < 3:
                kinds += ["atomic", "d_step"]
            if not otherwise and where.depth < 3:
                kinds += ["inner"]
        kind = self.pick(kinds)
        if kind == "guard":
            return [f"{self.guard(plain=otherwise)} ->"]
        if kind == "inner":
            inner = Where(where.depth + 1, where.loop, where.counting, where.atomic)
            options = [self.option(self.first(Where(9, where.loop), False), []) for _ in range(2)]
            return ["if", *(line for option in options for line in option), "fi;", *self.sequence(inner, 1)]
        if kind == "atomic":
            inner = Where(where.depth + 1, where.loop, where.counting, True)
            head = f"{self.guard()} ->" if self.flip(2) else f"{self.talk()};"
            return ["atomic {", *self.within([head, *self.sequence(inner, 2)]), "}"]
        return self.written(kind, where)

    def loop(self, where: Where) -> list[str]:
        inner = Where(where.depth, True, where.counting, where.atomic)
        label = ""
        if self.flip(5):
            self.names += 1
            label = f"end_{self.names}: "
        if self.shape.endless and not where.atomic and self.flip(2):
            lines = self.choice(inner, True)
        else:
            lines = ["do"]
            for _ in range(int(self.pick(["1", "2"]))):
                first = [f"{self.pick(['n < 2', 'n < 1', 'n < 2 && b', 'n < 2 && x < 2'])} ->", "n++;"]
                if self.shape.atomic and self.flip(4):
                    first = ["atomic {", *self.within(first), "}"]
                lines += self.option(first, self.sequence(inner, 2))
            otherwise = self.flip(2)
            if self.flip(2):
                first = ["break;"] if self.flip(2) else [f"{self.guard(plain=otherwise)} ->", "break;"]
                lines += self.option(first, [])
            if otherwise:
                lines += self.option(["else ->"], ["break;"])
            lines += ["od;"]
        return [label + lines[0], *lines[1:]]


@st.composite
def promela_models(draw: st.DrawFn, shape: Shape | None = None, **limits: object) -> str:
    """The text of a model; `limits` are fields of `Shape`."""
    shape = shape or Shape(**limits)  # type: ignore[arg-type]
    return Writer(lambda options: draw(st.sampled_from(options)), shape).model()
