"""Random Promela models with everything that the language has, for `comparison`: SPIN judges all of them.

Two to four processes over small values, so that their graphs of states are small; nothing has to end, and choices
are open everywhere. Each model has some of the features below, so that most features meet most others sooner or
later, and a model that shows something wrong is still short. What SPIN rejects is thrown away.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from conformance.promela.text import (
    Block,
    Braces,
    Choice,
    Labelled,
    Line,
    Model,
    Proctype,
    Statement,
    begins_with_else,
)

SELECTS = (
    "select(i : 0 .. 1)",
    "select(i : 1 .. 2)",
    "select(i : x .. 2)",
    "select(i : 0\n .. 1)",
    "select(i : 0 .. 33)",
)
TIMEOUTS = ("timeout && {}", "timeout || {}", "{} && timeout")

FEATURES = {
    "meetings": 12,
    "atomic": 12,
    "buffered": 8,
    "runs": 8,
    "d_step": 8,
    "labels": 7,
    "messages": 3,
    "types": 3,
    "arrays": 3,
    "overflow": 3,
    "asserts": 3,
    "counting": 3,
    "ends": 3,
    "timeout": 2,
    "typedef": 2,
    "loops": 2,
    "select": 2,
    "printf": 1,
    "declarations": 2,
    "channel arrays": 2,
    "channels in channels": 2,
    "meeting arrays": 2,
    "else beside channels": 2,
    "unless": 3,
    "provided": 2,
    "initial lists": 2,
    "priority": 2,
    "last": 2,
}

DECLARATIONS = {
    "x": "byte x",
    "y": "byte y = 1",
    "b": "bit b",
    "f": "bool f = true",
    "s": "short s",
    "n": "int n",
    "u": "unsigned u : 3",
    "m": "mtype m = red",
    "a": "byte a[2]",
    "t": "T t",
    "ts": "T ts[2]",
    "c": "chan c = [1] of { byte }",
    "d": "chan d = [2] of { mtype, byte }",
    "e": "chan e = [2] of { byte, bit }",
    "q": "chan q[2] = [1] of { byte }",
    "w": "chan w = [1] of { chan }",
    "r": "chan r = [0] of { byte }",
    "v": "chan v = [0] of { mtype, byte }",
    "z": "chan z[2] = [0] of { byte }",
}
LISTED = {"a": "byte a[2] = {1, 2}"}
TYPEDEF = "typedef T { byte u; bit w[2] }"
"""SPIN maps an array of bits to one of bytes, so only bits are assigned to its cells."""

Lists = dict[str, Sequence[str]]
VALUES: Lists = {
    "": (
        "0",
        "1",
        "2",
        "x",
        "y",
        "i",
        "b",
        "(x + 1) % 3",
        "(x + y) % 3",
        "(y + 2) % 3",
        "1 - b",
        "!x",
        "(b -> x : y)",
    ),
    "arrays": ("a[0]", "a[x % 2]", "a[i % 2]", "a[1] % 3"),
    "typedef": ("t.u", "t.w[y % 2]", "ts[x % 2].u", "ts[1].w[0]"),
    "types": (
        "f",
        "(s + 4) % 3",
        "(red - m) % 3",
        "n % 3",
        "u % 3",
        "x & y",
        "x | 2",
        "x ^ 1",
        "~x & 3",
        "(y << 1) % 3",
    ),
    "counting": ("_pid % 3", "_nr_pr % 3", "_pid", "_nr_pr"),
    "last": ("_last % 3",),
    "priority": ("_priority % 3", "get_priority(0) % 3", "get_priority(x)"),
    "buffered": ("len(c)", "len(e)"),
    "overflow": ("255", "x - 1", "256 + y", "0 - x", "-1", "s", "u"),
}
ASSIGNMENTS: Lists = {
    "": ("x = {}", "x = {}", "y = {}", "y = {}", "b = {}", "i = {}", "i = {}", "b = !b"),
    "arrays": ("a[0] = {}", "a[1] = {}", "a[x % 2] = {}", "a[i % 2] = {}"),
    "typedef": ("t.u = {}", "t.w[x % 2] = b", "ts[y % 2].u = {}", "ts[0].w[b] = b", "t.w[1] = !t.w[1]"),
    "types": ("s = x - y", "f = !f", "m = red", "m = green", "n = x - 2", "u = {}", "s = {}", "n = {}", "f = {}"),
    "overflow": (
        *("y = x + 254", "s = 32766 + x", "u = u + 5", "n = 2147483647", "n = n + x", "b = x + 1", "y--", "x = s"),
        *(
            "s = 32767; s++",
            "u = x + 7",
            "f = x + 1",
            "s = -32768 - b",
            "n = -n",
            "x = n",
            "u--",
            "b++",
            "i = i - 1",
        ),
    ),
}
TESTS: Lists = {
    "": ("x == y", "x < 2", "b", "!b", "x > 0 && !b", "b || y > 0", "true", "i == x", "y != 2", "!(x == 1)", "x"),
    "arrays": ("a[0] > i", "a[b] == 0", "a[0] == a[1]"),
    "typedef": ("t.u == 1", "t.w[0] != t.w[1]", "ts[0].u < ts[1].u"),
    "types": ("f", "m == red", "m != green", "s < 0", "n <= 0", "u >= 2"),
    "last": ("_last == 0", "_last > 0", "_last == 1"),
    "priority": ("_priority > 1", "get_priority(1) == 2"),
    "counting": ("_pid == 0", "_nr_pr > 2", "_nr_pr < 3", "_nr_pr == 2", "_pid == _nr_pr - 1"),
    "overflow": ("y > 200", "s < 0", "x == 255", "u == 7", "n < 0", "n + n < 0", "n * n == 1", "-n - 2 > 0"),
}
CHANNEL_TESTS: Lists = {
    "buffered": (
        "empty(c)",
        "nempty(c)",
        "full(c)",
        "nfull(e)",
        "len(e) == 1",
        "c?[1]",
        "c?[_]",
        "e??[1, _]",
        "e?[0, 1]",
    ),
    "messages": ("d?[red, _]", "d??[eval(m), 1]", "full(d)", "nempty(d)", "d??[green, _]"),
    "channel arrays": ("len(q[0]) < len(q[1])", "q[x % 2]?[_]", "empty(q[1])"),
}
LENGTHS: Lists = {
    "buffered": ("len(c) == 1", "len(e) > 0", "len(e) == 2"),
    "messages": ("len(d) == 1", "len(d) == 2"),
    "channel arrays": ("len(q[0]) == 1", "len(q[0]) == len(q[1])"),
}
"""What formulas may say of channels: SPIN reads no `full` and no `c?[x]` there."""
SENDS: Lists = {
    "buffered": ("c!{}", "c!{}", "c!!{}", "e!{},b", "e!!{},b", "e!!{},1"),
    "messages": ("d!red,{}", "d!m,{}", "d!!green({})", "d!!m,{}", "d!green(1)"),
    "channel arrays": ("q[0]!{}", "q[x % 2]!{}", "q[1]!{}"),
    "channels in channels": ("w!c", "w!mine", "got!{}", "w!r"),
    "meetings": ("r!{}", "r!{}", "r!1", "v!red,{}", "v!m({})"),
    "meeting arrays": ("z[0]!{}", "z[x % 2]!{}", "z[1]!1"),
    "runs": ("h!{}",),
}
RECEIVES: Lists = {
    "buffered": (
        *("c?{}", "c?{}", "c?1", "c?_", "c?eval({})", "c??{}", "c??2", "c?<{}>", "c??<1>", "e??1,_", "e?{},_"),
        *("e??{},1", "e?<{},_>", "e??<_,eval(b)>", "e?{},_"),
    ),
    "messages": (
        "d?m,{}",
        "d?red,{}",
        "d?_,_",
        "d??green,{}",
        "d??m,1",
        "d?<m,{}>",
        "d?eval(m),{}",
        "d??_,eval({})",
    ),
    "channel arrays": ("q[0]?{}", "q[b]?{}", "q[1]?_", "q[y % 2]?1"),
    "channels in channels": ("w?got", "w?<got>", "got?{}", "mine?{}"),
    "meetings": ("r?{}", "r?{}", "r?1", "r?_", "r?eval({})", "v?m,{}", "v?red,_", "v?_,eval({})", "v?eval(m),1"),
    "meeting arrays": ("z[0]?{}", "z[b]?{}", "z[1]?_"),
    "runs": ("h?{}", "h?1", "h?_"),
}
PLACES: Lists = {"": ("x", "y", "i", "i"), "arrays": ("a[0]", "a[x % 2]"), "typedef": ("t.u", "ts[b].u")}
"""What messages are received into. There is no `bit`: `pan` puts the variable, cut to one bit, back into the
channel when it takes a receive back. For the same reason no variable names the channel that it is received from:
`pan` puts the message of `q[y % 2]?y` back into the channel that the new `y` names, and goes on from there; nor is
one received beside a cell that it selects (`e?ts[b].u,b`)."""
CLAIMS = ("x < 3", "b || y != 2", "x != 2 || !b", "i < 3", "x == 0", "y > 0", "y != 2", "!(x == 1 && y == 2)")
FORMULAS = (
    *("[] {0}", "<> {0}", "[] <> {0}", "<> [] {0}", "[] ({0} -> <> {1})", "{0} U {1}", "[] ({0} -> ({1} U {2}))"),
    *("({0} U {1}) || [] {2}", "<> ({0} && <> {1})", "{0} W {1}", "!([] <> {0} && <> [] {1})", "{0} V {1}"),
    *("[] <> {0} -> [] <> {1}", "[] ({0} -> [] {1})", "<> {0} || [] {1}", "<> {0} -> (!{0} U {1})"),
)


@dataclass(frozen=True, slots=True)
class Shape:
    """What models may be like: `features` with their weights."""

    features: tuple[tuple[str, int], ...] = tuple(FEATURES.items())
    most_features: int = 8
    statements: int = 6
    """of a process, about"""


_LATE = (("meetings", 4), ("runs", 3), ("else beside channels", 3), ("timeout", 2), ("buffered", 1), ("atomic", 1))
_MISSED = (("meetings", 4), ("else beside channels", 4))
_ESCAPED = (
    ("unless", 6),
    ("provided", 4),
    ("meetings", 4),
    ("buffered", 2),
    ("atomic", 2),
    ("d_step", 1),
    ("runs", 1),
)
# There is no `set_priority`, nor an assignment to `_priority`: SPIN's verifier does not take them back.
_URGENT = (("priority", 4), ("provided", 1), ("buffered", 2), ("atomic", 2), ("runs", 2), ("last", 2))
SHAPES = (Shape(), Shape(), Shape(_LATE, 5, 4), Shape(_MISSED, 3, 4), Shape(_ESCAPED, 4, 5), Shape(_URGENT, 4, 5))
"""Two fifths of the models are of everything; some are about who is there to be met, which reductions got
wrong."""


@dataclass(frozen=True, slots=True)
class Where:
    """What is around a statement."""

    depth: int = 0
    in_loop: bool = False
    in_d_step: bool = False
    counting: bool = False
    """inside of a `for`, whose variable is taken"""

    @property
    def deeper(self) -> Where:
        return replace(self, depth=self.depth + 1)


def generate(random: Random, shape: Shape | None = None) -> Model:
    return Writer(random, shape or random.choice(SHAPES)).model()


class Writer:
    """Writes one model."""

    def __init__(self, random: Random, shape: Shape) -> None:
        self.random, self.shape, self.left = random, shape, 0
        names, weights = zip(*shape.features, strict=True)
        self.features = {"", *random.choices(names, weights, k=random.randint(2, shape.most_features))}
        if self.has("priority"):  # SPIN takes only one of these
            self.features -= {"meetings", "meeting arrays", "channels in channels"}
        self.late = False
        """Is the process at hand one that is started late? Only those have parameters."""
        self.labels: list[str] = []
        """Of the process at hand: where it may jump to."""
        self.propositions: list[str] = []
        """What formulas may say of processes."""
        self.names = 0
        self.unanswered: list[str] = []
        """Sends and receives of other processes, of which nobody does the other half yet."""
        self.answerable: list[str] = []
        """Those of the process at hand."""

    def chance(self, one_in: int) -> bool:
        return self.random.randrange(one_in) == 0

    def has(self, feature: str) -> bool:
        return feature in self.features

    def pick(self, lists: Lists) -> str:
        return self.random.choice([each for name, many in lists.items() if self.has(name) for each in many])

    # Models and processes

    def model(self) -> Model:
        wanted, proctypes, pid = self.random.randint(2, 3), [], 0
        for name in "PQS"[:wanted]:
            runs = self.has("runs") and name == "PQS"[wanted - 1]
            many = 2 if pid == 0 and not runs and wanted == 2 and self.chance(3) else 1
            proctypes.append(self._proctype(name, pid, many, runs))
            pid += many
        if self.has("runs"):
            proctypes.insert(self.random.choice([0, len(proctypes)]), self._late(pid))
        formulas = tuple(self._formula() for _ in range(self.random.randint(2, 3)))
        return Model(self.declarations(proctypes, formulas), tuple(proctypes), formulas)

    def declarations(self, proctypes: Sequence[Proctype], formulas: Sequence[str]) -> tuple[str, ...]:
        """Those that are needed."""
        text = Model((), tuple(proctypes), tuple(formulas)).text()
        words = set(re.findall(r"(?<![.:])\b[a-z]\w*", text))
        known = DECLARATIONS | (LISTED if self.has("initial lists") else {})
        found = [each for name, each in known.items() if name in words]
        if words & {"t", "ts"}:
            found.insert(0, TYPEDEF)
        if words & {"red", "green", "m", "d", "v"}:
            found.insert(0, "mtype = { red, green }")
        return tuple(found)

    def _proctype(self, name: str, pid: int, many: int, runs: bool) -> Proctype:
        how_many = f"active [{many}]" if many > 1 else "active"
        head = "init" if runs and self.chance(2) else f"{how_many} proctype {name}()"
        if self.has("priority") and self.chance(3):
            head += f" priority {self.random.randint(1, 3)}"
        if self.has("provided") and self.chance(3) and head != "init":
            head += f" provided ({self.pick(TESTS)})".replace("i == x", "b")
        proctype = self._labelled(Proctype(head, (), self._body()))
        if runs:  # before all labels, so that nobody starts processes without end
            proctype = replace(proctype, body=(*self._starts(), *proctype.body))
        proctype = self._declared(head, proctype.body)
        for number in range(pid, pid + many) if head != "init" else ():
            self._note_propositions(proctype, name, number)
        return proctype

    def _late(self, pid: int) -> Proctype:
        """Started by the process before `pid`, so that the first of them has this number, or none."""
        self.late = True
        proctype = self._labelled(self._declared("proctype R(byte g; chan h)", self._body()))
        self._note_propositions(proctype, "R", pid)
        return proctype

    def _starts(self) -> Block:
        channels = (
            ["c"] * self.has("buffered") + ["r"] * self.has("meetings") + ["z[1]"] * self.has("meeting arrays")
        )
        many = self.random.choice([1, 1, 2])
        into = ["", "", "i = "]
        urgent = f" priority {self.random.randint(1, 3)}" if self.has("priority") else ""
        runs = [
            Line(f"{self.random.choice(into)}run R({self._value()}, {channel}){urgent}")
            for channel in self.random.choices(channels or ["c"], k=many)
        ]
        return (Braces("atomic", tuple(runs)),) if self.chance(2) else tuple(runs)

    def _body(self) -> Block:
        self.labels = [f"L{n}" for n in range(self.random.randint(1, 2))] if self.has("labels") else []
        self.left = self.shape.statements
        self.unanswered, self.answerable = self.unanswered + self.answerable, []
        body = self._sequence(Where(), 4)
        if self.chance(3):  # for ever, so that others find somebody to talk to
            others = [self._sequence(Where(2, in_loop=True), 1)] * self.random.randrange(2)
            body = (Choice("do", tuple(map(_guarded, (body, *others)))),)
        return body

    def _declared(self, head: str, body: Block) -> Proctype:
        text = "\n".join(Proctype(head, (), body).lines())
        words = set(re.findall(r"\b[a-z]\w*", text))
        found = ["byte i"] if "i" in words else []
        found += ["byte j"] if "j" in words else []
        found += ["byte k"] if "k" in words else []
        found += ["chan mine = [1] of { byte }"] if "mine" in words else []
        found += ["chan got = [1] of { byte }"] if "got" in words else []
        return Proctype(head, tuple(found), body)

    def _labelled(self, proctype: Proctype) -> Proctype:
        """With its labels in some places, where they are jumped to or where formulas can see them."""
        wanted = list(self.labels)
        wanted += [f"end{n}" for n in range(self.random.randint(1, 2))] if self.has("ends") else []
        body = proctype.body
        for label in wanted:
            found = list(places(body))
            if found:
                body = put(body, self.random.choice(found), label)
        text = "\n".join(Proctype("", (), body).lines())
        gone = [label for label in wanted if f"{label}:" not in text]
        without = tuple(_without_jumps(statement, gone) for statement in body)
        return replace(proctype, body=without)

    def _note_propositions(self, proctype: Proctype, name: str, pid: int) -> None:
        text = "\n".join(proctype.lines())
        self.propositions += [f"{name}[{pid}]@{label}" for label in set(re.findall(r"\b(L\d|end\d):", text))]
        if "byte i" in proctype.declarations:
            self.propositions += [f"{name}[{pid}]:i == 1"]

    # Formulas

    def _formula(self) -> str:
        return self.random.choice(FORMULAS).format(*(f"({self.proposition()})" for _ in range(3)))

    def proposition(self) -> str:
        if self.propositions and self.chance(2):
            return self.random.choice(self.propositions)
        found = self.pick(TESTS | LENGTHS)  # SPIN counts the claim as a process
        return "x == 1" if re.search(r"\b(i|_pid|_nr_pr|_priority|get_priority)\b", found) else found

    # Expressions

    def _value(self) -> str:
        return self.random.choice(["g", self.pick(VALUES)]) if self.late else self.pick(VALUES)

    def _condition(self, plain: bool = False) -> str:
        if self.has("timeout") and not plain and self.chance(6):
            return self.random.choice(["timeout", *TIMEOUTS]).format(self.pick(TESTS))
        return self.pick(TESTS if plain or self.chance(2) else TESTS | CHANNEL_TESTS)

    def _talk(self) -> str:
        """A send or a receive, or an assignment where there is nobody to talk to."""
        lists = SENDS if self.chance(2) else RECEIVES
        known = {name: many for name, many in lists.items() if self.has(name) and (name != "runs" or self.late)}
        if self.unanswered and not self.chance(4):
            lists, known = self._answers(self.unanswered.pop(self.random.randrange(len(self.unanswered))))
        if not any(known.values()):
            return self._assignment()
        found = self.pick(known)
        self.answerable.append(found)
        return found.format(self._value() if lists is SENDS else self.pick(PLACES))

    def _answers(self, talk: str) -> tuple[Lists, Lists]:
        """Receives for a send, sends for a receive, over the same channel."""
        lists = RECEIVES if "!" in talk else SENDS
        channel = re.split(r"[!?\[]", talk)[0]
        same = [
            each for name in lists if self.has(name) for each in lists[name] if re.match(rf"{channel}\b", each)
        ]
        return lists, {"": same}

    def _assignment(self) -> str:
        return self.pick(ASSIGNMENTS).format(self._value())

    # Statements

    def _sequence(self, where: Where, most: int) -> Block:
        found: list[Statement] = []
        for _ in range(self.random.randint(1, most)):
            if not found or self.left > 0:
                found += self._statement(where)
        return tuple(found)

    def _statement(self, where: Where) -> Block:
        self.left -= 1
        kinds = {"assign": 5, "skip": 1, "assert": 2 * self.has("asserts"), "printf": 2 * self.has("printf")}
        if not where.in_d_step:
            kinds |= {"guard": 2, "talk": 6, "goto": 2 * bool(self.labels), "break": where.in_loop}
            kinds |= {"declare": 2 * (self.has("declarations") and where.depth == 0)}
        if where.depth < 3 and self.left > 0:
            kinds |= {"if": 3, "for": 2 * (self.has("loops") and not where.counting), "select": self.has("select")}
        if where.depth < 3 and self.left > 0 and not where.in_d_step:
            kinds |= {"do": 3, "atomic": 4 * self.has("atomic"), "d_step": 4 * self.has("d_step")}
            kinds |= {"unless": 4 * self.has("unless"), "block": self.has("unless"), "skips": 1}
        kind = self.random.choices(list(kinds), list(kinds.values()))[0]
        return getattr(self, f"_write_{kind}")(where)

    def _write_assign(self, where: Where) -> Block:
        return tuple(map(Line, self._assignment().split("; ")))

    def _write_skip(self, where: Where) -> Block:
        return (Line("skip"),)

    def _write_skips(self, where: Where) -> Block:
        return Line("skip"), Line("skip")

    def _write_assert(self, where: Where) -> Block:
        return (Line(f"assert({self.random.choice(CLAIMS)})"),)

    def _write_printf(self, where: Where) -> Block:
        return (Line('printf("x is %d\\n", x)'),)

    def _write_guard(self, where: Where) -> Block:
        return (Line(self._condition()),)

    def _write_talk(self, where: Where) -> Block:
        return (Line(self._talk()),)

    def _write_goto(self, where: Where) -> Block:
        return (Line(f"goto {self.random.choice(self.labels)}"),)

    def _write_break(self, where: Where) -> Block:
        return (Line("break"),)

    def _write_declare(self, where: Where) -> Block:
        self.names += 1
        name = f"k{self.names}"
        return Line(f"byte {name} = {self._value()}"), Line(
            self.random.choice(["i = {}", "x = {} % 3"]).format(name)
        )

    def _write_select(self, where: Where) -> Block:
        return (Line(self.random.choice(SELECTS)),)

    def _write_for(self, where: Where) -> Block:
        heads = ["for (j : 0 .. 1)", "for (j : 1 .. 2)", "for (j : x .. 2)"] + ["for (j in a)"] * self.has(
            "arrays"
        )
        inner = replace(where.deeper, counting=True, in_loop=False)
        return (Braces(self.random.choice(heads), self._sequence(inner, 2)),)

    def _write_atomic(self, where: Where) -> Block:
        return (Braces("atomic", self._sequence(where.deeper, 3)),)

    def _write_d_step(self, where: Where) -> Block:
        """It may begin with anything but a send, which may be one of a meeting; what follows must not wait."""
        inner = Where(where.depth + 1, in_d_step=True, counting=where.counting)
        first = self.random.choice([self._assignment().split("; ")[0], self._condition(plain=True), self._talk()])
        first = "x = 1" if "!" in first and not first.startswith("!") and "=" not in first else first
        return (Braces("d_step", (Line(first), *self._sequence(inner, 2))),)

    def _write_block(self, where: Where) -> Block:
        return (Braces("", self._sequence(where.deeper, 2)),)

    def _write_unless(self, where: Where) -> Block:
        begins = self.random.choice([self._condition, self._condition, self._talk])
        first: Statement = Line(begins())
        if self.chance(4):
            first = self._choice("if", where.deeper)
        rest = () if self.chance(3) else self._sequence(where.deeper, 1)
        return (Braces("", self._sequence(where.deeper, 3), (first, *rest)),)

    def _write_if(self, where: Where) -> Block:
        return (self._choice("if", where.deeper),)

    def _write_do(self, where: Where) -> Block:
        if self.chance(3):
            again = (Line("k < 2"), Line("k++"), *self._sequence(replace(where.deeper, in_loop=True), 2))
            return (Choice("do", (again, (Line("else"), Line("break")))),)
        return (self._choice("do", replace(where.deeper, in_loop=True)),)

    def _choice(self, head: str, where: Where) -> Statement:
        otherwise = where.in_d_step or self.chance(3)
        plain = otherwise and not (self.has("else beside channels") and not where.in_d_step)
        options = [self._option(where, plain) for _ in range(self.random.randint(1, 3))]
        if otherwise:
            leave = (Line("break"),) if head == "do" and self.chance(2) else self._sequence(where, 1)
            options.append((Line("else"), *leave) if self.chance(2) or head == "do" else (Line("else"),))
        return Choice(head, tuple(options))

    def _option(self, where: Where, plain: bool) -> Block:
        rest = () if self.chance(3) else self._sequence(where, 2)
        if plain:
            return (Line(self._condition(plain=True)), *rest)
        if self.chance(4) and where.depth < 3 and not where.in_d_step:
            return _guarded((*self._statement(where), *rest))
        return (Line(self._talk() if self.chance(2) else self._condition()), *rest)


def _guarded(option: Block) -> Block:
    return (Line("true"), *option) if begins_with_else(option) else option


# Labels in trees ------------------------------------------------------------------------------------------------

Path = tuple[int, ...]
_NO_LABEL = ("else", "byte ", "goto ", "break", "select")


def places(block: Block, first: bool = False) -> list[Path]:
    """Where a label can stand, as numbers of statements and options from the outside to the inside; not at the
    start of an option, and not inside of a `d_step`."""
    found: list[Path] = []
    for index, statement in enumerate(block):
        match statement:
            case Line(text) if not text.startswith(_NO_LABEL) and not (first and index == 0):
                found.append((index,))
            case Choice(_, options):
                found += [] if first and index == 0 else [(index,)]
                found += [(index, n, *rest) for n, option in enumerate(options) for rest in places(option, True)]
            case Braces("atomic", body):
                found += [] if first and index == 0 else [(index,)]
                found += [(index, 0, *rest) for rest in places(body)]
    return found


def put(block: Block, path: Path, label: str) -> Block:
    index, *rest = path
    statement = block[index]
    if not rest:
        changed: Statement = Labelled(label, statement)
    elif isinstance(statement, Choice):
        number, *inner = rest
        options = [put(o, tuple(inner), label) if n == number else o for n, o in enumerate(statement.options)]
        changed = replace(statement, options=tuple(options))
    else:
        assert isinstance(statement, Braces)
        changed = replace(statement, body=put(statement.body, tuple(rest[1:]), label))
    return (*block[:index], changed, *block[index + 1 :])


def _without_jumps(statement: Statement, labels: Sequence[str]) -> Statement:
    """A jump to a label that found no place does nothing."""
    match statement:
        case Line(text) if text.removeprefix("goto ") in labels:
            return Line("skip")
        case Labelled(label, inner):
            return Labelled(label, _without_jumps(inner, labels))
        case Choice(head, options):
            return Choice(head, tuple(tuple(_without_jumps(each, labels) for each in o) for o in options))
        case Braces(head, body, escape):
            blocks = (tuple(_without_jumps(each, labels) for each in block) for block in (body, escape))
            return Braces(head, *blocks)
    return statement
