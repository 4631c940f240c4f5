"""Actor programs at random, wide rather than deep: mostly 2 to 4 objects and 4 to 8 tasks, each of them short.

A program likes some features: branches, references that travel, tasks that post tasks, futures, awaits,
assertions, loops, synchronous calls, objects that are made late. Fields are mixed (`c = 10 * c + v; s = c;`), so
that another order of two steps tends to be another outcome. A method posts and calls only methods that come after
it, so that every program ends.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from conformance.actors.program import Program
from conformance.actors.syntax import (
    Assert,
    Assign,
    Await,
    AwaitCall,
    Binary,
    Body,
    Call,
    Class,
    Const,
    Declare,
    Do,
    Expr,
    Field,
    Get,
    If,
    Initialised,
    Local,
    Method,
    New,
    Not,
    Return,
    Send,
    Statement,
    Suspend,
    This,
    Type,
    Variable,
    While,
)
from conformance.oracle import Outcome, TooMany

FEATURES = {
    "branch": 0.5,
    "reference": 0.5,
    "post": 0.3,
    "future": 0.4,
    "await": 0.4,
    "assert": 0.2,
    "loop": 0.15,
    "call": 0.25,
    "make": 0.15,
    "suspend": 0.15,
}
"""How often a program likes each of them."""
FUTURE = "Fut<Int>"
Message = Send | Call | AwaitCall
GLANCES = 5


@dataclass(frozen=True, slots=True)
class Size:
    """How large the runs of a program may be; the main block is no task here."""

    fewest_tasks: int
    most_tasks: int
    longest_run: int


MODERATE = Size(fewest_tasks=4, most_tasks=8, longest_run=12)


def generate(source: random.Random) -> Program:
    """A program at random, of moderate size; mostly one with more than one outcome."""
    while True:
        program = Author(source).program()
        wanted = 1 if source.random() < 0.05 else 2
        if program.is_sound() and len(glanced(program, source, MODERATE)) >= wanted:
            return program


def glanced(program: Program, source: random.Random, size: Size) -> set[Outcome]:
    """The outcomes of a few random runs; none if one of them is too long, or has too few tasks or too many."""
    machine = program.machine()
    found = set()
    for _ in range(GLANCES):
        state, length = machine.initial(), 0
        try:
            while steps := machine.steps(state):
                state, length = source.choice(steps).after, length + 1
                if length > size.longest_run:
                    return set()
        except TooMany:
            return set()
        if not size.fewest_tasks < len(state.tasks) + len(state.results) <= size.most_tasks + 1:
            return set()
        found.add(machine.outcome(state))
    return found


@dataclass
class Names:
    """What the code of a block may use, by type."""

    fields: dict[str, Type] = field(default_factory=dict)
    variables: dict[str, Type] = field(default_factory=dict)
    this: Type | None = None
    rank: int = 0
    """It posts and calls methods of this rank and above."""
    declared: int = 0

    def of(self, type_: Type) -> list[Expr]:
        found: list[Expr] = [Field(name) for name, each in self.fields.items() if each == type_]
        return found + [Local(name) for name, each in self.variables.items() if each == type_]

    def fresh(self, type_: Type) -> Local:
        """A new variable."""
        name = f"x{self.declared}"
        self.declared += 1
        self.variables[name] = type_
        return Local(name)


class Author:
    """Writes one program."""

    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.liked = {name for name, chance in FEATURES.items() if source.random() < chance} or {"post"}
        self.interfaces = ("I",) if source.random() < 0.7 else ("I", "J")
        self.methods: dict[str, list[Method]] = {name: [] for name in self.interfaces}
        """Their bodies are still to be written. Names end in the rank."""
        for rank in range(source.randint(2, 5)):
            self.methods[source.choice(self.interfaces)].append(self._signature(rank))
        implemented = ("I", "I") if len(self.interfaces) == 1 and source.random() < 0.25 else self.interfaces
        self.heads = [self._head(name, of) for name, of in zip("CD", implemented, strict=False)]

    def chance(self, feature: str, if_liked: float, otherwise: float = 0.0) -> bool:
        return self.source.random() < (if_liked if feature in self.liked else otherwise)

    def _signature(self, rank: int) -> Method:
        parameters = [Variable("Int", "v")] if self.source.random() < 0.8 else []
        if self.chance("reference", 0.4, 0.1):
            parameters.append(Variable(self.source.choice(self.interfaces), "q"))
        if self.chance("future", 0.3):
            parameters.append(Variable(FUTURE, "g"))
        result = "Int" if self.chance("future", 0.6, 0.1) or self.chance("call", 0.5) else "Unit"
        return Method(f"m{rank}", tuple(parameters), (), result)

    # The program

    def program(self) -> Program:
        classes = tuple(self._class(head) for head in self.heads)
        return Program(classes, tuple(self._main()))

    def _head(self, name: str, interface: str) -> Class:
        """A class without its code."""
        fields = [Initialised("Int", each, Const(self.source.randint(0, 2))) for each in "cstu"[: self._few(2, 4)]]
        parameters = []
        if self.chance("reference", 0.9, 0.2):
            parameters.append(Variable(self.source.choice(self.interfaces), "r"))
        if self.chance("await", 0.5, 0.1):
            fields.append(Initialised("Bool", "b", Const(self.source.random() < 0.3)))
        if self.chance("future", 0.4):
            fields.append(Initialised(FUTURE, "h", Const(None)))
        return Class(name, interface, tuple(parameters), tuple(fields), ())

    def _class(self, head: Class) -> Class:
        names = Names({each.name: each.type for each in head.all_fields}, {}, head.interface)
        methods = [self._method(each, names) for each in self.methods[head.interface]]
        if self.chance("make", 0.3):
            methods.append(Method("run", (), self._beginning(names)))
        initially = self._beginning(names) if self.chance("make", 0.3) else ()
        return Class(head.name, head.interface, head.parameters, head.fields, tuple(methods), initially)

    def _beginning(self, outer: Names) -> Body:
        """What an object does first, by itself."""
        names = Names(outer.fields, {}, outer.this, rank=1)
        return (self._update(names), *(self._post(names) if self.source.random() < 0.3 else ()))

    def _method(self, head: Method, outer: Names) -> Method:
        variables = {each.name: each.type for each in head.parameters}
        names = Names(outer.fields, variables, outer.this, int(head.name[1:]) + 1)
        if self.chance("reference", 0.5):
            body = list(self._keeping(names) if "q" in variables else self._relaying(names))
        else:
            body = [one for _ in range(self._few(1, 3)) for one in self.statements(names)]
        if head.result != "Unit":
            body.append(Return(self.number(names)))
        return Method(head.name, head.parameters, tuple(body), head.result)

    def _keeping(self, names: Names) -> Iterator[Statement]:
        """The reference that came is kept where it can be."""
        kept = [each for each in names.of(names.variables["q"]) if isinstance(each, Field)]
        yield Assign(self.source.choice(kept), Local("q")) if kept else self._update(names)

    def _relaying(self, names: Names) -> Iterator[Statement]:
        """Something is passed on; without anybody to get it, where a value is recorded depends on a parameter."""
        posts = tuple(self._post(names))
        if posts or "v" not in names.variables:
            yield from posts
            yield self._update(names)
        else:
            chosen = Binary("==", Local("v"), Const(self._few(1, 4)))
            yield If(chosen, (self._record(names),), (self._record(names),))

    def _record(self, names: Names) -> Statement:
        target, value = self.source.sample([each for each in names.of("Int") if isinstance(each, Field)], 2)
        return Assign(target, value)

    def _main(self) -> Iterator[Statement]:
        names = Names()
        for _ in range(self.source.choice([2, 2, 2, 2, 3, 3, 4])):
            head = self.source.choice(self.heads)
            made = New(head.name, tuple(self._argument(each.type, names) for each in head.parameters))
            yield Declare(head.interface, names.fresh(head.interface).name, made)
        for _ in range(self._few(4, 7)):
            yield from self._post(names)
            if self.chance("future", 0.1) and names.of(FUTURE):
                yield Await((self.source.choice(names.of(FUTURE)),))

    def _few(self, least: int, most: int) -> int:
        return self.source.randint(least, most)

    # Statements

    def statements(self, names: Names) -> Iterator[Statement]:
        """One statement, or a few that belong together."""
        makers: dict[str, Callable[[Names], Iterator[Statement]]] = {
            "branch": self._branch,
            "reference": self._reference,
            "post": self._post,
            "future": self._future,
            "await": self._await,
            "assert": self._assertion,
            "loop": self._loop,
            "call": self._call,
            "make": self._make,
            "suspend": self._suspend,
        }
        if self.source.random() < 0.35:
            yield self._update(names)
        else:
            feature = self.source.choice(sorted(self.liked))
            yield from makers[feature](names)

    def _update(self, names: Names) -> Statement:
        """A field is changed, mostly so that the order matters."""
        truths = [each for each in names.of("Bool") if isinstance(each, Field)]
        if truths and self.source.random() < 0.3:
            values = [Not(truths[0]), Const(True), Const(False), self.truth(names)]
            return Assign(truths[0], self.source.choice(values))
        targets = [each for each in names.of("Int") if isinstance(each, Field)]
        target = self.source.choice(targets)
        roll = self.source.random()
        new = Local("v") if "v" in names.variables and self.source.random() < 0.6 else self.atom(names)
        if roll < 0.5:
            return Assign(target, Binary("+", Binary("*", Const(10), target), new))
        if roll < 0.65:
            return Assign(target, new)
        others = [each for each in targets if each != target]
        return Assign(target, self.source.choice(others) if roll < 0.85 and others else self.number(names))

    def _branch(self, names: Names) -> Iterator[Statement]:
        otherwise = (self._update(names),) if self.source.random() < 0.6 else ()
        then = tuple(self._post(names)) if self.source.random() < 0.3 else (self._update(names),)
        yield If(self.truth(names), then or (self._update(names),), otherwise)

    def _reference(self, names: Names) -> Iterator[Statement]:
        """A reference is kept, or something is sent through one that was."""
        kept = [each for interface in self.interfaces for each in names.of(interface) if isinstance(each, Field)]
        if kept and self.source.random() < 0.5:
            target = self.source.choice(kept)
            yield Assign(target, self.reference(names.fields[target.name], names))
        else:
            yield from self._post(names)

    def _post(self, names: Names) -> Iterator[Statement]:
        """Send a message; often only if there is somebody to get it."""
        effect = self._message(Send, names)
        if effect is None:
            return
        if isinstance(effect.target, Field) and self.source.random() < 0.85:
            yield If(Binary("!=", effect.target, Const(None)), (Do(effect),))
        elif self._result(effect) == "Int" and self.chance("future", 0.7):
            if "h" in names.fields and self.source.random() < 0.4:
                yield Assign(Field("h"), effect)
            else:
                yield Declare(FUTURE, names.fresh(FUTURE).name, effect)
        else:
            yield Do(effect)

    def _message(self, how: type[Message], names: Names) -> Message | None:
        """A message to somebody in reach, of a rank that is allowed."""
        receivers: list[tuple[Expr, Type]] = [(each, of) for of in self.interfaces for each in names.of(of)]
        if names.this is not None:
            receivers.append((This(), names.this))
        choices = [
            (to, method)
            for to, interface in receivers
            for method in self.methods[interface]
            if int(method.name[1:]) >= names.rank
        ]
        if not choices:
            return None
        to, method = self.source.choice(choices)
        return how(to, method.name, tuple(self._argument(each.type, names) for each in method.parameters))

    def _result(self, effect: Message) -> Type:
        (found,) = (one for each in self.methods.values() for one in each if one.name == effect.method)
        return found.result

    def _future(self, names: Names) -> Iterator[Statement]:
        """Wait for a future and use its value."""
        futures = names.of(FUTURE)
        if not futures or self.source.random() < 0.5:
            effect = self._message(self.source.choice([Send, Send, AwaitCall]), names)
            if effect is None or self._result(effect) != "Int":
                return
            if isinstance(effect, AwaitCall):
                yield Declare("Int", names.fresh("Int").name, effect)
                return
            yield Declare(FUTURE, names.fresh(FUTURE).name, effect)
            futures = names.of(FUTURE)[-1:]
        future = self.source.choice(futures)
        use: list[Statement] = [Assign(Field("c"), Get(future))] if names.fields else []
        if self.source.random() < 0.6:
            condition = self.truth(names) if self.chance("await", 0.3) else None
            use.insert(0, Await((future,), condition))
        made_here = isinstance(future, Local) and future.name.startswith("x")
        yield from use if made_here or not use else [If(Binary("!=", future, Const(None)), tuple(use))]

    def _await(self, names: Names) -> Iterator[Statement]:
        yield Await((), self.truth(names))

    def _assertion(self, names: Names) -> Iterator[Statement]:
        yield Assert(self.truth(names))

    def _suspend(self, names: Names) -> Iterator[Statement]:
        yield Suspend()

    def _loop(self, names: Names) -> Iterator[Statement]:
        """Two or three rounds."""
        counter = names.fresh("Int")
        inside = tuple(self._post(names)) if self.source.random() < 0.3 else ()
        more = Assign(counter, Binary("+", counter, Const(1)))
        yield Declare("Int", counter.name, Const(0))
        field_bound = not inside and self.source.random() < 0.5
        bound = self.source.choice(names.of("Int")) if field_bound else Const(self._few(2, 3))
        yield While(Binary("<", counter, bound), (*(inside or (self._update(names),)), more))

    def _call(self, names: Names) -> Iterator[Statement]:
        """A synchronous call, mostly on `this`."""
        effect = self._message(Call, names)
        if effect is None:
            return
        if effect.target != This() and self.source.random() < 0.6:
            effect = Call(This(), effect.method, effect.arguments)
        result = self._result(effect)
        yield Do(effect) if result == "Unit" else Declare("Int", names.fresh("Int").name, effect)

    def _make(self, names: Names) -> Iterator[Statement]:
        """An object that is made late, in the same group or not, and gets a message."""
        head = self.source.choice(self.heads)
        arguments = tuple(self._argument(each.type, names) for each in head.parameters)
        effect = New(head.name, arguments, self.source.random() < 0.4)
        target = next((each for each in names.of(head.interface) if isinstance(each, Field)), None)
        if target is not None and self.source.random() < 0.6:
            yield Assign(target, effect)
        else:
            yield Declare(head.interface, names.fresh(head.interface).name, effect)
        yield from self._post(names)

    # Expressions

    def _argument(self, type_: Type, names: Names) -> Expr:
        if type_ == "Int":
            return Const(self._few(1, 6)) if self.source.random() < 0.75 else self.atom(names)
        if type_ == FUTURE:
            return self.source.choice([*names.of(FUTURE), Const(None)])
        return self.reference(type_, names)

    def reference(self, interface: Type, names: Names) -> Expr:
        known = names.of(interface) + ([This()] if names.this == interface else [])
        return self.source.choice(known) if known and self.source.random() < 0.85 else Const(None)

    def atom(self, names: Names) -> Expr:
        numbers = names.of("Int")
        return self.source.choice(numbers) if numbers and self.source.random() < 0.6 else Const(self._few(0, 5))

    def number(self, names: Names) -> Expr:
        if self.source.random() < 0.5:
            return self.atom(names)
        return Binary(self.source.choice("+-*"), self.atom(names), self.atom(names))

    def truth(self, names: Names) -> Expr:
        roll = self.source.random()
        comparable = [each for interface in self.interfaces for each in names.of(interface)]
        if roll < 0.2 and names.of("Bool"):
            flag = self.source.choice(names.of("Bool"))
            return Not(flag) if self.source.random() < 0.5 else flag
        if roll < 0.3 and comparable:
            return Binary(self.source.choice(["==", "!="]), self.source.choice(comparable), Const(None))
        if roll < 0.4:
            return Binary(self.source.choice(["&&", "||"]), self.truth(names), self.truth(names))
        symbol = self.source.choice(["==", "!=", "<", ">", "<=", ">="])
        return Binary(symbol, self.source.choice(names.of("Int")), self.atom(names))
