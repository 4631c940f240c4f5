"""Well-known models as trees, small enough for `explore`: what `edits.mutate` starts from.

The first three are those of examples/promela, with loops that end.
"""

from __future__ import annotations

from conformance.promela.tree import (
    Any_,
    Assert,
    Assign,
    Atomic,
    Break,
    Cell,
    Channel,
    Do,
    End,
    Guard,
    If,
    Model,
    Name,
    Not,
    Num,
    Op,
    Proctype,
    Receive,
    Run,
    Send,
    Variable,
)

_COUNTER, _SEEN = Name("counter"), Name("seen")


def _more(name: Name, by: int = 1) -> Assign:
    return Assign(name, Op("+", name, Num(by)))


RACE = Model(
    (Variable("counter"),),
    (),
    (
        Proctype(
            "Main",
            (
                Atomic((Run("Adder"), Run("Adder"))),
                Guard(Op("==", Name("_nr_pr"), Num(1))),
                Assert(Op("==", _COUNTER, Num(2))),
            ),
        ),
        Proctype(
            "Adder",
            (Assign(_SEEN, _COUNTER), Assign(_COUNTER, Op("+", _SEEN, Num(1)))),
            active=0,
            variables=(Variable("seen"),),
        ),
    ),
)

BUFFER = Model(
    (Variable("received"),),
    (Channel("buffer", 1, ("mtype", "byte")),),
    (
        Proctype(
            "Producer",
            (
                Send(End("buffer"), (Name("item"), Num(1))),
                Send(End("buffer"), (Name("item"), Num(2))),
                Send(End("buffer"), (Name("done"), Num(0))),
            ),
        ),
        Proctype(
            "Consumer",
            (
                Do(
                    (
                        (
                            Receive(End("buffer"), (Name("item"), Name("value"))),
                            _more(Name("received")),
                            Assert(Op("==", Name("value"), Name("received"))),
                        ),
                        (Receive(End("buffer"), (Name("done"), Any_())), Break()),
                    )
                ),
                Assert(Op("==", Name("received"), Num(2))),
            ),
            variables=(Variable("value"),),
        ),
    ),
    ("item", "done"),
)

_OTHER = Op("-", Num(1), Name("_pid"))
MUTEX = Model(
    (Variable("wants", "byte", 2), Variable("turn"), Variable("count")),
    (),
    (
        Proctype(
            "Process",
            (
                Assign(Cell("wants", Name("_pid")), Num(1)),
                Assign(Name("turn"), _OTHER),
                Guard(Op("||", Not(Cell("wants", _OTHER)), Op("==", Name("turn"), Name("_pid")))),
                _more(Name("count")),
                Assert(Op("==", Name("count"), Num(1))),
                Assign(Name("count"), Op("-", Name("count"), Num(1))),
                Assign(Cell("wants", Name("_pid")), Num(0)),
            ),
            active=2,
        ),
    ),
)


def _philosopher(name: str, first: int, second: int) -> Proctype:
    takes = [Receive(End("fork", Num(number)), (Any_(),)) for number in (first, second)]
    gives = [Send(End("fork", Num(number)), (Num(1),)) for number in (first, second)]
    return Proctype(name, (Guard(Op("==", Name("laid"), Num(1))), *takes, _more(Name("eaten")), *gives))


PHILOSOPHERS = Model(
    (Variable("laid"), Variable("eaten")),
    (Channel("fork", 1, ("byte",), 2),),
    (
        Proctype(
            "Table",
            (
                Atomic((Send(End("fork", Num(0)), (Num(1),)), Send(End("fork", Num(1)), (Num(1),)))),
                Assign(Name("laid"), Num(1)),
            ),
        ),
        _philosopher("Left", 0, 1),
        _philosopher("Right", 1, 0),
    ),
)

SERVER = Model(
    (Variable("log", "int"),),
    (Channel("ask", 0, ("byte",)), Channel("answer", 0, ("byte",))),
    (
        Proctype(
            "Server",
            (
                Receive(End("ask"), (Name("who"),)),
                If(((Send(End("answer"), (Name("who"),)),), (Send(End("answer"), (Num(0),)),))),
                Receive(End("ask"), (Name("who"),)),
                Send(End("answer"), (Name("who"),)),
            ),
            variables=(Variable("who"),),
        ),
        Proctype(
            "Client",
            (
                Send(End("ask"), (Name("_pid"),)),
                Receive(End("answer"), (Name("got"),)),
                Assign(Name("log"), Op("+", Op("*", Num(10), Name("log")), Name("got"))),
            ),
            active=2,
            variables=(Variable("got"),),
        ),
    ),
)

CLASSICS = (RACE, BUFFER, MUTEX, PHILOSOPHERS, SERVER)
