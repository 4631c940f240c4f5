"""Random languages as rewrite theories, each with a small program in it and a formula.

A theory is a soup of threads and of shared parts, as Porcini wants it, and all else is drawn: how each operator is
written (before its arguments, or between and around them with commas, brackets, quotes and words), its precedence
and gathering, which instructions there are, which of Maude's containers are used, what is overloaded, and the
names. Many of these are names that generated modules of Porcini's use themselves. Programs always end.

    theory     this: a theory as choices, its text, smaller ones
    writer     draws one
    judge      what plain Maude says of it, and what Porcini does
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

NAME = "THEORY"


@dataclass(frozen=True, slots=True)
class Syntax:
    """How an operator is written: `<_|_>`, or a name alone for one that stands before its arguments."""

    form: str
    attributes: str = ""

    @property
    def is_mixfix(self) -> bool:
        return "_" in self.form

    def of(self, *args: str) -> str:
        """Applied to arguments, each of them in brackets unless it is one word; the whole in brackets."""
        if not args:
            return self.form
        if not self.is_mixfix:
            return f"{self.form}({', '.join(map(_bracketed, args))})"
        pieces = self.form.split("_")
        text = "".join(f"{piece} {_bracketed(arg)} " for piece, arg in zip(pieces, args, strict=False))
        return f"({text}{pieces[-1]})"

    def declared(self, domain: str, range_: str, more: str = "ctor") -> str:
        attributes = " ".join(filter(None, (more, self.attributes)))
        return f"  op {self.form} : {domain}{' ' if domain else ''}-> {range_} [{attributes}] ."


def _bracketed(text: str) -> str:
    return text if " " not in text or (text.startswith("(") and _closes_at_end(text)) else f"({text})"


def _closes_at_end(text: str) -> bool:
    depth = 0
    for number, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return number == len(text) - 1
    return False


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction of a program: its kind, and its arguments as terms, or as more instructions."""

    kind: str
    args: tuple[str | tuple[Step, ...], ...] = ()


Code = tuple[Step, ...]
INSTRUCTIONS = {
    "put": ("Name", "Val"),
    "mix": ("Name", "Nat"),
    "await": ("Name", "Val"),
    "avoid": ("Name", "Val"),
    "flip": ("Name",),
    "add": ("Nat",),
    "add-new": ("Nat",),
    "push": ("Nat",),
    "pop": ("Name",),
    "store": ("Name", "Nat"),
    "look": ("Name", "Nat"),
    "spawn": ("Nat", "Code"),
    "leave": (),
}
"""What each instruction is given."""
PARTS = {"set": ("add", "add-new"), "queue": ("push", "pop"), "memory": ("store", "look")}
"""Shared parts besides cells, and the instructions that need them."""
PLAIN = {
    "thread": Syntax("t"),
    "cell": Syntax("c"),
    "soup": Syntax("__"),
    "seq": Syntax("_;_"),
    "pair": Syntax("pr"),
    **{part: Syntax(part) for part in PARTS},
    **{kind: Syntax(f"i-{kind}") for kind in INSTRUCTIONS},
    **{name: Syntax(name) for name in ("nobody", "done", "mixed", "is", "over", "has", "both")},
}
"""How operators are written where nothing is drawn."""


@dataclass(frozen=True, slots=True)
class Theory:
    threads: tuple[Code, ...]
    asked: str
    """A formula, with `is`, `over` and `has` as propositions, between bars: `|is 'x 1|`."""
    ample: str
    """P1's heuristic to ask it with."""
    syntax: Mapping[str, Syntax]
    sorts: Mapping[str, str]
    """What the sorts are called."""
    variables: Mapping[str, str]
    labels: Mapping[str, str]
    cells: tuple[tuple[str, str], ...]
    names: tuple[str, ...] = ()
    """Constants that name cells; quoted identifiers if there are none."""
    identity: bool = True
    """Has the soup an identity?"""
    kinds_of_threads: bool = False
    """Are threads of a sort below `Thread`?"""
    sought: tuple[str, str] = ("=>*", "cell")
    """States to search for: how, and what they look like."""
    overloaded: bool = False
    """Are there operators of the same names with other arguments?"""

    def operator(self, role: str) -> Syntax:
        return self.syntax.get(role, PLAIN[role])

    def sort(self, name: str) -> str:
        return self.sorts.get(name, name)

    @property
    def kinds(self) -> list[str]:
        return list(dict.fromkeys(step.kind for code in self.threads for step in _steps(code)))

    @property
    def parts(self) -> list[str]:
        return [part for part, kinds in PARTS.items() if set(kinds) & set(self.kinds)]

    def description(self) -> str:
        keys = {"module": NAME, "initial": self.variables.get("init", "init"), "state": self.sort("Conf")}
        keys |= {"thread": self.sort("Thread"), "tid": "Nat", "propositions": f"{NAME}-PROPS"}
        return "".join(f'{key} = "{value}"\n' for key, value in keys.items())

    # As terms

    def value(self, text: str) -> str:
        """A term of a few characters: a number, a name, or two values with a comma between them."""
        one, comma, two = text.partition(",")
        return self.operator("pair").of(one, two) if comma else text

    def code(self, code: Code, end: str | None = None) -> str:
        text = end or self.operator("done").form
        for step in reversed(code):
            text = self.operator("seq").of(self.instruction(step), text)
        return text

    def instruction(self, step: Step) -> str:
        args = [self.code(arg) if isinstance(arg, tuple) else self.value(arg) for arg in step.args]
        return self.operator(step.kind).of(*args)

    def soup(self, *parts: str) -> str:
        text = parts[0]
        for part in parts[1:]:
            text = self.operator("soup").of(text, part)
        return text

    def formula(self) -> str:
        """The formula, with propositions as they are written."""
        pieces = self.asked.split("|")
        for number in range(1, len(pieces), 2):
            role, *args = pieces[number].split()
            pieces[number] = self.operator(role).of(*map(self.value, args))
        return "".join(pieces)

    def pattern(self, *, with_sorts: bool) -> tuple[str, str | None]:
        """A pattern of states to search for, and a condition; variables as they are declared, or with sorts."""
        sorts = {"I": "Nat", "N": "Nat", "K": self.sort("Code"), "V": self.sort("Val"), "R": self.sort("Conf")}
        v = {n: f"{self._variable(n)}:{s}" if with_sorts else self._variable(n) for n, s in sorts.items()}
        name, value = self.cells[0]
        thread, done = self.operator("thread").of, self.operator("done").form
        match self.sought[1]:
            case "cell":
                return self.soup(self.operator("cell").of(name, v["V"]), v["R"]), None
            case "changed":
                changed = self.operator("cell").of(name, v["V"])
                return self.soup(changed, v["R"]), f"{v['V']} =/= {_bracketed(self.value(value))}"
            case "alike":
                return self.soup(thread(v["I"], v["K"]), thread(v["N"], v["K"]), v["R"]), None
            case "over":
                return self.soup(thread(v["I"], done), v["R"]), f"{v['I']} > 0"
        role, *args = self.sought[1].split()
        proposition = self.operator(role).of(*map(self.value, args))
        return (v["R"], f"({v['R']} |= {proposition}) = true") if with_sorts else (proposition, None)

    @property
    def seeks_proposition(self) -> bool:
        return " " in self.sought[1]

    def initial(self) -> str:
        threads = [self.operator("thread").of(str(n), self.code(code)) for n, code in enumerate(self.threads)]
        cells = [self.operator("cell").of(name, self.value(value)) for name, value in self.cells]
        empty = {"set": "empty", "queue": "nil", "memory": "empty"}
        return self.soup(*threads, *cells, *(self.operator(part).of(empty[part]) for part in self.parts))

    # As modules

    def text(self) -> str:
        return "\n".join(["sload model-checker", *self._names(), *self._module(), *self._propositions(), ""])

    def _names(self) -> list[str]:
        if not self.names:
            return []
        return [
            f"fmod {NAME}-NAMES is",
            f"  sort Name .  ops {' '.join(self.names)} : -> Name [ctor] .",
            "endfm",
            f"view Name from TRIV to {NAME}-NAMES is sort Elt to Name . endv",
        ]

    def _module(self) -> list[str]:
        v, s = self._variable, self.sort
        name = "Name" if self.names else "Qid"
        thread = f"One{s('Thread')}" if self.kinds_of_threads else s("Thread")
        lines = [
            f"mod {NAME} is",
            *(["  protecting NAT .", f"  protecting {NAME}-NAMES ." if self.names else "  protecting QID ."]),
            *self._imports(),
            f"  sorts {s('Code')} {s('Thread')} {s('Cell')} {s('Conf')} {s('Val')} .",
            f"  subsorts {s('Thread')} {s('Cell')} < {s('Conf')} .  subsort Nat < {s('Val')} .",
            *([f"  sort {thread} .  subsort {thread} < {s('Thread')} ."] if self.kinds_of_threads else []),
            self.operator("nobody").declared("", s("Conf")),
            self.operator("soup").declared(
                f"{s('Conf')} {s('Conf')}", s("Conf"), f"ctor assoc comm{self._unit()}"
            ),
            self.operator("done").declared("", s("Code")),
            self.operator("seq").declared(
                f"{s('Code')} {s('Code')}", s("Code"), f"ctor assoc id: {self.operator('done').form}"
            ),
            self.operator("pair").declared(f"{s('Val')} {s('Val')}", s("Val")),
            self.operator("thread").declared(f"Nat {s('Code')}", thread),
            self.operator("cell").declared(f"{name} {s('Val')}", s("Cell")),
            *(
                self.operator(part).declared(
                    {"set": "Set{Nat}", "queue": "List{Nat}", "memory": "Memory"}[part], s("Cell")
                )
                for part in self.parts
            ),
            *(self.operator(kind).declared(self._given(kind), s("Code")) for kind in self.kinds),
            self.operator("mixed").declared(f"{s('Val')} Nat", s("Val"), ""),
            f"  vars {v('I')} {v('N')} {v('M')} : Nat .  vars {v('K')} {v('L')} : {s('Code')} .",
            f"  vars {v('V')} {v('W')} : {s('Val')} .  var {v('X')} : {name} .",
            *self._container_variables(),
            f"  ceq {self.operator('mixed').of(v('N'), v('M'))} = {v('N')} * 3 + {v('M')} if {v('N')} < 20 .",
            f"  eq {self.operator('mixed').of(v('V'), v('M'))} = {v('M')} [owise] .",
            *(self._overloads() if self.overloaded else ()),
            *(f"  {rule}" for kind in self.kinds for rule in self._rules(kind)),
            f"  op {v('init')} : -> {s('Conf')} .",
            f"  eq {v('init')} = {self.initial()} .",
            "endm",
        ]
        return [line.replace(" []", "") for line in lines]

    def _given(self, kind: str) -> str:
        """The sorts of an instruction's arguments."""
        sorts = {"Name": "Name" if self.names else "Qid", "Nat": "Nat"}
        return " ".join(sorts.get(each) or self.sort(each) for each in INSTRUCTIONS[kind])

    def _overloads(self) -> Iterator[str]:
        """The same names with one argument more or less, and of other kinds."""
        n = self._variable("N")
        for role in ("mixed", "thread", "cell", "put"):
            form = self.operator(role).form
            if "_" not in form:
                yield f"  op {form} : Nat Nat Nat -> Nat .  eq {form}({n}, {n}, {n}) = {n} ."
                yield f"  op {form} : {self.sort('Code')} -> {self.sort('Code')} [ctor] ."

    def _unit(self) -> str:
        return f" id: {self.operator('nobody').form}" if self.identity else ""

    def _variable(self, name: str) -> str:
        return self.variables.get(name, name)

    def _imports(self) -> list[str]:
        name = "Name" if self.names else "Qid"
        wanted = {
            "set": "  protecting SET{Nat} .",
            "queue": "  protecting LIST{Nat} * (op __ to _then_) .",
            "memory": f"  protecting MAP{{{name}, Nat}} * (sort Map{{{name}, Nat}} to Memory) .",
        }
        return [wanted[part] for part in self.parts]

    def _container_variables(self) -> list[str]:
        v = self._variable
        wanted = {"set": f"  var {v('A')} : Set{{Nat}} .", "queue": f"  var {v('Q')} : List{{Nat}} ."}
        return [wanted.get(part, f"  var {v('D')} : Memory .") for part in self.parts]

    def _rules(self, kind: str) -> list[str]:
        """What an instruction does. `thread` is the thread before it, `after` the one after it."""
        v = self._variable
        given = {"Name": v("X"), "Val": v("V"), "Nat": v("N"), "Code": v("L")}
        one = self.operator(kind).of(*(given[a] for a in INSTRUCTIONS[kind]))
        thread = self.operator("thread").of(v("I"), self.operator("seq").of(one, v("K")))
        after = self.operator("thread").of(v("I"), v("K"))
        label = self.labels.get(kind, kind)

        def cell(value: str) -> str:
            return self.operator("cell").of(v("X"), value)

        def rule(left: str, right: str, condition: str = "", label: str = label) -> str:
            sides = f"[{label}] : {self.soup(thread, left)} => {self.soup(after, right)}"
            return f"crl {sides} if {condition} ." if condition else f"rl {sides} ."

        set_, queue, memory = (self.operator(part).of for part in PARTS)
        a, d, q, n = v("A"), v("D"), v("Q"), v("N")
        match kind:
            case "put":
                return [rule(cell(v("W")), cell(v("V")))]
            case "mix":
                return [rule(cell(v("V")), cell(self.operator("mixed").of(v("V"), n)))]
            case "await":
                return [rule(cell(v("V")), cell(v("V")))]
            case "avoid":
                return [rule(cell(v("W")), cell(v("W")), f"{v('W')} =/= {v('V')}")]
            case "flip":
                return [rule(cell(v("W")), cell("0")), rule(cell(v("W")), cell("1"), label=f"{label}'")]
            case "add":
                return [rule(set_(a), set_(f"({n}, {a})"))]
            case "add-new":
                return [rule(set_(a), set_(f"insert({n}, {a})"), f"not ({n} in {a})")]
            case "push":
                return [rule(queue(q), queue(f"({q} then {n})"))]
            case "pop":
                taken = self.soup(queue(f"({n} then {q})"), cell(v("W")))
                return [rule(taken, self.soup(queue(q), cell(n)))]
            case "store":
                return [rule(memory(d), memory(f"insert({v('X')}, {n}, {d})"))]
            case "look":
                return [rule(memory(d), memory(d), f"{d} [{v('X')}] = {n}")]
            case "spawn":
                child = self.operator("thread").of(n, v("L"))
                return [f"rl [{label}] : {thread} => {self.soup(after, child)} ."]
        return [f"rl [{label}] : {self.soup(thread, cell(v('W')))} => {cell(v('W'))} ."]

    def _propositions(self) -> list[str]:
        v, s = self._variable, self.sort
        name = "Name" if self.names else "Qid"
        rest = v("R")

        def holds(part: str, proposition: str) -> str:
            left = self.soup(part, rest) if self.identity else part
            return f"  eq ({left} |= {proposition}) = true ."

        lines = [
            f"mod {NAME}-PROPS is",
            f"  protecting {NAME} .  including SATISFACTION .  subsort {s('Conf')} < State .",
            self.operator("is").declared(f"{name} {s('Val')}", "Prop"),
            self.operator("over").declared("Nat", "Prop"),
            self.operator("has").declared("Nat", "Prop"),
            self.operator("both").declared(f"{name} {name} {s('Val')}", "Prop"),
            f"  vars {v('I')} {v('N')} : Nat .  var {v('V')} : {s('Val')} .  var {v('X')} : {name} .",
            f"  var {rest} : {s('Conf')} .",
            *self._container_variables(),
            holds(self.operator("cell").of(v("X"), v("V")), self.operator("is").of(v("X"), v("V"))),
            holds(
                self.operator("thread").of(v("I"), self.operator("done").form), self.operator("over").of(v("I"))
            ),
        ]
        cell, other = self.operator("cell").of, f"Other:{name}"
        two = self.soup(cell(v("X"), v("V")), cell(other, v("V")))
        lines.append(holds(two, self.operator("both").of(v("X"), other, v("V"))))
        if "set" in self.parts:
            inside = self.operator("set").of(f"({v('N')}, {v('A')})")
            lines.append(holds(inside, self.operator("has").of(v("N"))))
        lines += [f"  eq ({rest} |= P:Prop) = false [owise] .", "endm"]
        return lines

    # Smaller ones

    def smaller(self) -> Iterator[Theory]:
        return (each for each in self._smaller() if any(each.threads))

    def _smaller(self) -> Iterator[Theory]:
        for index, code in enumerate(self.threads):
            if len(self.threads) > 1:
                yield replace(self, threads=(*self.threads[:index], *self.threads[index + 1 :]))
            for less in range(len(code)):
                shorter = code[:less] + code[less + 1 :]
                yield replace(self, threads=(*self.threads[:index], shorter, *self.threads[index + 1 :]))
        for field in ("syntax", "sorts", "variables", "labels"):
            choices: Mapping[str, object] = getattr(self, field)
            for key in choices:
                yield replace(self, **{field: {k: value for k, value in choices.items() if k != key}})
        for field in ("kinds_of_threads", "overloaded"):
            if getattr(self, field):
                yield replace(self, **{field: False})


def _steps(code: Code) -> Iterator[Step]:
    for step in code:
        yield step
        for arg in step.args:
            if isinstance(arg, tuple):
                yield from _steps(arg)
