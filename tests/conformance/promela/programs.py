"""Wide random Promela models for `explore`: four to seven processes of one to three statements each.

Wide and short is where engines that reverse races go wrong: many processes wait for each other in few steps.
Values are mixed (`y = 10 * y + 3`, `w = x`), so that a class of runs that is lost tends to be an outcome that is
lost. Every model ends: loops count, or take messages that nobody sends again.

    tree       the trees that models are, and their text
    programs   this: `generate` makes models at random
    edits      models made smaller, and changed here and there
    judge      all outcomes of a model, by an interpreter of its tree
    spin       the same from SPIN, for checking the judge

Models over the whole language, and of other people, are judged by SPIN itself:

    text         models as trees of lines
    everything   `generate` makes models with all features of the language
    verifier     SPIN's verifier, and what it answers
    comparison   Porcini's answers against those
    folder       the same for a folder of models
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from conformance.promela.tree import (
    Any_,
    Assert,
    Assign,
    Atomic,
    Block,
    Break,
    Cell,
    Channel,
    Do,
    DStep,
    Else,
    End,
    Eval,
    Expression,
    Goto,
    Guard,
    If,
    Labelled,
    Measure,
    Model,
    Name,
    Not,
    Num,
    Op,
    Pattern,
    Poll,
    Proctype,
    Receive,
    Run,
    Select,
    Send,
    Skip,
    Statement,
    Variable,
    nodes,
)

MIXED = ("y", "z")
"""Whole numbers whose digits say who wrote them, and when."""
SMALL = ("x", "w", "u")
FLAG = "f"
ARRAY = Variable("a", "byte", 3)
COUNTER = Name("i")
SEEN = Name("v")
"""Variables of a process: one counts loops, one keeps what was read or received."""
FLAVOURS = {
    "guards": 10,
    "choices": 7,
    "buffered": 6,
    "meetings": 5,
    "runs": 4,
    "atomic": 4,
    "arrays": 4,
    "asserts": 4,
    "loops": 3,
    "d_step": 3,
    "goto": 3,
    "locals": 3,
    "counting": 1,
    "errors": 1,
    "timeout": 1,
    "ends": 1,
    "select": 1,
}


@dataclass(frozen=True, slots=True)
class Shape:
    """What models may be like."""

    fewest: int = 5
    most: int = 8
    flavours: int = 4
    """at most"""
    statements: int = 20
    """about; once there are so many, every further process has one"""
    meets_in_atomic: bool = False
    """Does anyone receive by rendezvous inside of an atomic block?"""
    meets_in_d_step: bool = False
    """Does a `d_step` begin with a receive by rendezvous? (SPIN has none that begins with a send.)"""


def generate(random: Random, shape: Shape | None = None) -> Model:
    return _Writer(random, shape or Shape()).model()


class _Writer:
    """Writes one model. What its statements are like depends on the flavours that were drawn for it."""

    def __init__(self, random: Random, shape: Shape) -> None:
        self.random, self.shape = random, shape
        self.flavours = self._some_flavours()
        self.channels = self._some_channels()
        self.constants = ("red", "green") if any("mtype" in c.types for c in self.channels) else ()
        self.digit = random.randrange(9)
        self.labels = 0
        self.left = shape.statements
        self.commands = random.randrange(4) == 0
        """Is every process a guarded command or two? Then there are more of them, and most of them wait."""
        self.mixed = random.sample(MIXED, random.randint(1, 2))
        self.small = random.sample(SMALL, random.randint(1, 3))
        self.tested = [*self.small, FLAG] if random.randrange(2) else self.small
        """What conditions are about. With few variables in a model, what one process waits for others change."""
        self.home: list[str] = []
        """The variables that the process at hand works with."""
        self.own: Expression = Num(1)
        """A number of its own."""
        self.late: list[str] = []
        """Proctypes that are started late, and nobody starts yet."""
        makers = [flavour for flavour in self.flavours if hasattr(self, f"_{flavour}")]
        self.makers: list[Callable[[], Block]] = [getattr(self, f"_{flavour}") for flavour in makers]

    def _some_flavours(self) -> list[str]:
        names, weights = list(FLAVOURS), list(FLAVOURS.values())
        wanted = self.random.randint(1, self.shape.flavours)
        return sorted(set(self.random.choices(names, weights, k=wanted)))

    def _some_channels(self) -> tuple[Channel, ...]:
        found = []
        if "buffered" in self.flavours:
            types = self.random.choice([("byte",), ("byte",), ("mtype", "byte"), ("byte", "bool")])
            size = self.random.choice([None, None, 2])
            found.append(Channel("c", self.random.randint(1, 2), types, size))
        if "meetings" in self.flavours:
            types = self.random.choice([("byte",), ("byte",), ("mtype", "byte")])
            found.append(Channel("r", 0, types, self.random.choice([None, None, None, 2])))
        return tuple(found)

    def chance(self, one_in: int) -> bool:
        return self.random.randrange(one_in) == 0

    # Models and processes

    def model(self) -> Model:
        sizes = range(self.shape.fewest, self.shape.most + 1)
        weights = [1 if self.commands else 1 / (n - 3) ** 2 for n in sizes]
        wanted = self.random.choices(sizes, weights)[0]
        late = self.random.randint(1, 2) if "runs" in self.flavours else 0
        self.late = [f"L{n}" for n in range(late)]
        proctypes: list[Proctype] = []
        while wanted > late:
            active = 2 if wanted - late > 1 and self.chance(5) else 1
            proctypes.append(self._proctype(f"P{len(proctypes)}", active, room=wanted))
            wanted -= active
        proctypes += [self._late(f"L{n}", n, late) for n in range(late)]
        proctypes = self._with_runs(proctypes)
        return Model(self._used(proctypes), self.channels, tuple(proctypes), self.constants)

    def _used(self, proctypes: list[Proctype]) -> tuple[Variable, ...]:
        """The shared variables that a model needs."""
        text = "\n".join(line for proctype in proctypes for line in proctype.lines())
        words = set("".join(c if c.isalnum() or c == "_" else " " for c in text).split())
        known = [Variable(name, "int") for name in MIXED]
        known += [Variable(name, "byte", initial=self.random.choice([0, 0, 1])) for name in SMALL]
        known += [Variable(FLAG, "bool"), ARRAY]
        return tuple(v for v in known if v.name in words)

    def _proctype(self, name: str, active: int, room: int) -> Proctype:
        self.home = self.random.sample([*self.mixed, *self.tested], self.random.choice([1, 1, 2]))
        self.own = Num(self._fresh()) if active < 2 else Name("_pid")
        length = self.random.choices([1, 2, 3], [8, 3, 1] if room > 5 else [4, 3, 1])[0]
        body: Block = ()
        while len(body) < (length if self.left > 0 else 1):
            more = self._statement() if self.left > 0 else (self._assignment(),)
            self.left -= max(active, 1) * sum(isinstance(node, Statement) for node in nodes(more))
            apart = body and isinstance(body[-1], Do) and isinstance(more[0], DStep)
            body += (Skip(), *more) if apart else more
        return _declaring(Proctype(name, body, active))

    def _late(self, name: str, n: int, late: int) -> Proctype:
        """A proctype that is started by another; perhaps with a number, which it uses."""
        made = self._proctype(name, active=0, room=6)
        if self.chance(2):
            use = self.random.choice([Assign(self._small(), Name("k")), self._mixing(Name("k"))])
            made = replace(made, parameters=(Variable("k"),), body=(use, *made.body))
        return made

    def _with_runs(self, proctypes: list[Proctype]) -> list[Proctype]:
        """Each late proctype is started by some process before it, once; sometimes inside of an atomic block."""
        for index, late in enumerate(proctypes):
            if late.active:
                continue
            callers = [n for n in range(index) if proctypes[n].active < 2]
            caller = proctypes[self.random.choice(callers or [0])]
            given = tuple(self.random.choice([Num(self._fresh()), Name("x")]) for _ in late.parameters)
            into = SEEN if self.chance(6) else None
            place = self.random.randint(0, len(caller.body))
            body = (*caller.body[:place], Run(late.name, given, into), *caller.body[place:])
            proctypes[proctypes.index(caller)] = _declaring(replace(caller, body=body))
        return proctypes

    # Statements: each maker gives one or two of them

    def _statement(self) -> Block:
        if self.commands and not self.chance(4):
            return self._command()
        if self.makers and self.chance(2):
            return self.random.choice(self.makers)()
        return (self._assignment(),)

    def _assignment(self) -> Statement:
        name = self.random.choice(self.home)
        if name in MIXED:
            return self._mixing(self.own if self.chance(2) else self._small(), name)
        if name == FLAG:
            return Assign(Name(FLAG), self.random.choice([Num(1), Num(0), Not(Name(FLAG))]))
        other = self._small()
        twice = Op("+", Op("*", Num(2), Name(name)), self.own)
        values = [self.own, Num(1), twice, twice, Op("+", other, self.own), Op("+", Name(name), Num(1))]
        return Assign(Name(name), self.random.choice(values))

    def _command(self) -> Block:
        """Waits, then writes, in one step."""
        body = [Guard(self._condition()), self._assignment()]
        if self.chance(2):
            body.append(self._mixing(self.own))
        return (DStep(tuple(body)),)

    def _mixing(self, added: Expression, name: str | None = None) -> Statement:
        """One more digit for a variable that shows in which order it was written."""
        mixed = Name(name or self.random.choice(self.mixed))
        return Assign(mixed, Op("+", Op("*", Num(10), mixed), added))

    def _small(self) -> Name:
        return Name(self.random.choice(self.small))

    def _fresh(self) -> int:
        self.digit = self.digit % 9 + 1
        return self.digit

    def _condition(self) -> Expression:
        name = self.random.choice([*self.home, *self.tested, *self.tested])
        if name in MIXED:
            return Op(self.random.choice([">", "==", "<"]), Name(name), Num(self.random.choice([0, 0, 5, 30])))
        if name == FLAG:
            return self.random.choice([Name(FLAG), Not(Name(FLAG))])
        if self.channels and self.channels[0].capacity and self.chance(3):
            return self._channel_condition(self.channels[0])
        if self.chance(6):
            return Op(self.random.choice(["&&", "||"]), self._condition(), self._condition())
        right = self.random.choice([Num(0), Num(1), Num(1), Num(2), self._small()])
        return Op(self.random.choice(["==", "==", "!=", "<", ">="]), Name(name), right)

    def _channel_condition(self, channel: Channel) -> Expression:
        end = self._end(channel)
        if self.chance(4):
            return Poll(
                end, tuple(Num(self.random.randint(0, 2)) if t == "byte" else Any_() for t in channel.types)
            )
        return Measure(self.random.choice(["empty", "nempty", "full", "nfull"]), end)

    def _guards(self) -> Block:
        return Guard(self._condition()), self._assignment()

    def _asserts(self) -> Block:
        claim = Assert(self._condition())
        return (claim, self._assignment()) if self.chance(2) else (claim,)

    def _choices(self) -> Block:
        wanted = self.random.choice([2, 2, 3])
        options = [self._option() for _ in range(wanted)]
        if self.chance(3):
            options[-1] = (Else(), self._assignment())
        return (If(tuple(options)),)

    def _option(self) -> Block:
        kind = self.random.randrange(6)
        if kind < 3:
            return Guard(self._condition()), self._assignment()
        if kind == 3 and self.channels:
            return self._message(self.random.choice(self.channels))
        return (self._assignment(),) if kind < 5 else (Skip(), self._assignment())

    def _buffered(self) -> Block:
        return self._message(self.channels[0])

    def _meetings(self) -> Block:
        return self._message(self.channels[-1])

    def _message(self, channel: Channel) -> Block:
        return (self._send(channel),) if self.chance(2) else self._receive(channel)

    def _end(self, channel: Channel) -> End:
        """A channel; which of an array may depend on a variable that no receive writes."""
        indices = [Num(0), Num(1), Op("%", Name("u"), Num(2))]
        return End(channel.name, None if channel.size is None else self.random.choice(indices))

    def _send(self, channel: Channel) -> Statement:
        values = {
            "byte": [self.own, self.own, Num(1), self._small()],
            "mtype": [Name("red"), Name("green")],
            "bool": [Num(0), Num(1), Name(FLAG)],
        }
        sent = tuple(self.random.choice(values[t]) for t in channel.types)
        return Send(self._end(channel), sent, channel.capacity > 1 and self.chance(6))

    def _receive(self, channel: Channel) -> Block:
        """A receive, often with a statement that shows what was received."""
        patterns = tuple(self._pattern(type_, position) for position, type_ in enumerate(channel.types))
        buffered = channel.capacity > 0
        got = Receive(self._end(channel), patterns, buffered and self.chance(6), buffered and self.chance(8))
        if SEEN in patterns:
            return got, self._mixing(SEEN)
        return (got,)

    def _pattern(self, type_: str, position: int) -> Pattern:
        if type_ == "mtype":
            return self.random.choice([Name("red"), Name("green"), Any_()])
        if type_ == "bool":
            return self.random.choice([Name(FLAG), Num(1), Any_(), Eval(Name(FLAG))])
        return self.random.choice([SEEN, SEEN, SEEN, Name("x"), Name("w"), Num(1), Eval(Name("w")), Any_()])

    def _atomic(self) -> Block:
        body = [*self._inner(), *self._inner()]
        if self.chance(3):
            body.append(Guard(self._condition()))
            body.append(self._assignment())
        return (Atomic(tuple(body)),)

    def _inner(self) -> Block:
        """For an atomic block: as everywhere, but for receives by rendezvous, where these are not wanted."""
        choice = self.random.randrange(5)
        if choice == 0 and self.channels:
            channel = self.random.choice(self.channels)
            may_receive = channel.capacity > 0 or self.shape.meets_in_atomic
            return self._message(channel) if may_receive else (self._send(channel),)
        if choice == 1:
            return Guard(self._condition()), self._assignment()
        if choice == 2:
            return (If(((Guard(self._condition()), self._assignment()), (Else(), self._assignment()))),)
        return (self._assignment(),)

    def _d_step(self) -> Block:
        body: list[Statement] = [self._assignment(), self._assignment()]
        first = self.random.randrange(4)
        if first == 0:
            body.insert(0, Guard(self._condition()))
        elif first == 1:
            body[0] = If(((Guard(self._condition()), body[0]), (Else(), self._assignment())))
        elif first == 2 and "asserts" in self.flavours:
            body.append(Assert(self._condition()))
        if self.shape.meets_in_d_step and self.channels and not self.channels[-1].capacity and self.chance(2):
            body.insert(0, self._receive(self.channels[-1])[0])
        return (DStep(tuple(body)),)

    def _arrays(self) -> Block:
        index = self.random.choice([Num(0), Num(1), self._index(), self._index()])
        place = Cell(ARRAY.name, index)
        choice = self.random.randrange(5)
        if choice == 0:
            return (Guard(Op("==", place, Num(self.random.choice([0, 0, 1])))), self._assignment())
        if choice == 1:
            return (self._mixing(place),)
        return (Assign(place, self.random.choice([Num(self._fresh()), Op("+", place, Num(1)), Name("x")])),)

    def _index(self) -> Expression:
        return Op("%", self._small(), Num(3))

    def _loops(self) -> Block:
        buffered = [channel for channel in self.channels if channel.capacity]
        if buffered and self.chance(2):
            return (self._server(buffered[0]),)
        again = (
            Guard(Op("<", COUNTER, Num(self.random.choice([1, 2])))),
            Assign(COUNTER, Op("+", COUNTER, Num(1))),
            self._assignment(),
        )
        leave: list[Block] = [(Else(), Break()), (Guard(self._condition()), Break()), (Break(),)]
        return (Do((again, self.random.choice(leave[:1] + leave[:2]), *([leave[2]] if self.chance(6) else []))),)

    def _server(self, channel: Channel) -> Statement:
        """Takes messages for as long as there are any; what it does with them sends none."""
        got = self._receive(channel)
        taken = (replace(got[0], keep=False), *got[1:])
        leave: Block = (Guard(self._condition()), Break())
        server = Do((taken, leave))
        self.labels += 1
        return Labelled(f"end{self.labels}", Do((taken,))) if self.chance(3) else server

    def _goto(self) -> Block:
        self.labels += 1
        label = f"there{self.labels}"
        if self.chance(3):
            back = (Guard(Op("<", COUNTER, Num(1))), Assign(COUNTER, Op("+", COUNTER, Num(1))), Goto(label))
            return Labelled(label, self._assignment()), If((back, (Else(),)))
        jump = (Guard(self._condition()), Goto(label))
        other: Block = (Else(), self._assignment()) if self.chance(2) else (Guard(self._condition()),)
        return If((jump, other)), self._assignment(), Labelled(label, self._assignment())

    def _locals(self) -> Block:
        value = self.random.choice([Name("x"), Name("w"), Name("_pid")])
        return Assign(SEEN, value), self._mixing(SEEN)

    def _counting(self) -> Block:
        many = Op(self.random.choice(["==", "<", "<="]), Name("_nr_pr"), Num(self.random.randint(2, 5)))
        return (
            (Guard(many), self._assignment())
            if self.chance(2)
            else (If(((Guard(many), self._assignment()), (Else(),))),)
        )

    def _errors(self) -> Block:
        if self.chance(2):
            return (Assign(Cell(ARRAY.name, Op("+", self._small(), Num(1))), Num(self._fresh())),)
        x, w = self.random.sample(SMALL, 2)
        return (Assign(Name(x), Op(self.random.choice("/%"), Num(6), Name(w))),)

    def _timeout(self) -> Block:
        return Guard(Name("timeout")), self._assignment()

    def _ends(self) -> Block:
        self.labels += 1
        return Labelled(f"end{self.labels}", Guard(self._condition())), self._assignment()

    def _select(self) -> Block:
        return Select(SEEN, 0, self.random.randint(1, 2)), self._mixing(SEEN)


def _declaring(proctype: Proctype) -> Proctype:
    """With declarations of the variables that its statements use."""
    text = " ".join(proctype.lines())
    words = set("".join(c if c.isalnum() or c == "_" else " " for c in text).split())
    return replace(proctype, variables=tuple(Variable(v.name) for v in (COUNTER, SEEN) if v.name in words))
