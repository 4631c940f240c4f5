"""Actor programs written by hand, to be edited at random: each has something that engines find hard."""

from __future__ import annotations

from conformance.actors.program import Program
from conformance.actors.syntax import (
    Assert,
    Assign,
    Await,
    AwaitCall,
    Binary,
    Body,
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
    This,
    Variable,
)

NULL = Const(None)
C, S, T = Field("c"), Field("s"), Field("t")
V = Local("v")


def made(interface: str, name: str, class_name: str, *arguments: Expr) -> Statement:
    return Declare(interface, name, New(class_name, arguments))


def sent(target: Expr | str, method: str, *arguments: Expr | int) -> Statement:
    """A message whose future nobody keeps; names are variables, numbers constants."""
    to = Local(target) if isinstance(target, str) else target
    return Do(Send(to, method, tuple(Const(each) if isinstance(each, int) else each for each in arguments)))


def method(name: str, parameters: str, *body: Statement, result: str = "Unit") -> Method:
    """Parameters as ABS has them: `"Int i, Int v"`."""
    variables = (Variable(*each.split()) for each in parameters.split(", ") if each)
    return Method(name, tuple(variables), body, result)


def numbers(**first_values: int) -> tuple[Initialised, ...]:
    return tuple(Initialised("Int", name, Const(value)) for name, value in first_values.items())


def plus(left: Expr, right: Expr | int) -> Expr:
    return Binary("+", left, Const(right) if isinstance(right, int) else right)


def mixed(target: Field, value: Expr) -> Statement:
    return Assign(target, plus(Binary("*", Const(10), target), value))


def equal(left: Expr, right: int) -> Expr:
    return Binary("==", left, Const(right))


def present(reference: Expr, *then: Statement) -> Statement:
    return If(Binary("!=", reference, NULL), then)


def _travelling_references() -> Program:
    """Two objects that learn of each other while they are asked to call each other: 42 outcomes."""
    kept = If(equal(Local("i"), 4), (Assign(Field("s4"), C),), (Assign(Field("s5"), C),))
    each = Class(
        "C",
        "I",
        (Variable("I", "r"),),
        numbers(c=0, s2=9, s4=9, s5=9),
        (
            method("sr", "I q", Assign(Field("r"), Local("q"))),
            method("both", "Int i, Int v", present(Field("r"), sent(Field("r"), "k", Local("i"))), Assign(C, V)),
            method("k", "Int i", If(equal(Local("i"), 2), (Assign(Field("s2"), C),), (kept,))),
        ),
    )
    main: Body = (
        made("I", "x", "C", NULL),
        made("I", "y", "C", NULL),
        sent("x", "sr", Local("y")),
        sent("x", "both", 2, 1),
        sent("y", "sr", Local("x")),
        sent("y", "both", 4, 3),
        sent("y", "both", 5, 2),
    )
    return Program((each,), main)


def _account() -> Program:
    """`examples/abs/account.abs`: what a client saw need not be true when it takes."""
    money, amount, price, seen = Field("money"), Local("amount"), Local("price"), Local("seen")
    account = Class(
        "AccountImpl",
        "Account",
        (Variable("Int", "money"),),
        (),
        (
            method("balance", "", Return(money), result="Int"),
            method(
                "take",
                "Int amount",
                Assert(Binary("<=", amount, money)),
                Assign(money, Binary("-", money, amount)),
            ),
        ),
    )
    client = Class(
        "ClientImpl",
        "Client",
        (),
        (),
        (
            method(
                "buy",
                "Account account, Int price",
                Declare("Int", "seen", AwaitCall(Local("account"), "balance")),
                If(Binary(">=", seen, price), (sent("account", "take", price),)),
            ),
        ),
    )
    main: Body = (
        made("Account", "account", "AccountImpl", Const(100)),
        made("Client", "anna", "ClientImpl"),
        made("Client", "bert", "ClientImpl"),
        sent("anna", "buy", Local("account"), 70),
        sent("bert", "buy", Local("account"), 50),
    )
    return Program((account, client), main)


def _registry() -> Program:
    """Fig. 3 of P4: two workers call one registry."""
    registry = Class(
        "Reg",
        "IReg",
        (),
        numbers(f=1, g=1),
        (
            method("p", "", Assign(Field("f"), plus(Field("f"), 1))),
            method("m", "", Assign(Field("g"), Binary("*", Field("g"), Const(2)))),
            method("t", "", Assign(Field("g"), plus(Field("g"), 1))),
        ),
    )
    workers = tuple(
        Class(f"Worker{n}", f"IWorker{n}", (), (), (method(own, "IReg rg", sent("rg", called)),))
        for n, own, called in ((1, "q", "m"), (2, "h", "t"))
    )
    main: Body = (
        made("IReg", "rg", "Reg"),
        made("IWorker1", "wk1", "Worker1"),
        made("IWorker2", "wk2", "Worker2"),
        sent("rg", "p"),
        sent("wk1", "q", Local("rg")),
        sent("wk2", "h", Local("rg")),
    )
    return Program((registry, *workers), main)


def _slot() -> Program:
    """A place for one item: conditions come and go, and who waits may find them gone again."""
    full = Field("full")
    slot = Class(
        "Slot",
        "I",
        (),
        (*numbers(c=0, s=0), Initialised("Bool", "full", Const(False))),
        (
            method("put", "Int v", Await((), Not(full)), Assign(full, Const(True)), Assign(C, V)),
            method("take", "", Await((), full), Assign(full, Const(False)), mixed(S, C)),
        ),
    )
    main: Body = (
        made("I", "x", "Slot"),
        sent("x", "put", 1),
        sent("x", "put", 2),
        sent("x", "take"),
        sent("x", "take"),
    )
    return Program((slot,), main)


def _getting() -> Program:
    """Tasks that block in `get` and keep their object to themselves, while others want to run there."""
    waited: Body = (
        Declare("Fut<Int>", "f", Send(Local("q"), "step", (V,))),
        Assign(S, Get(Local("f"))),
        mixed(C, S),
    )
    each = Class(
        "C",
        "I",
        (),
        numbers(c=0, s=0),
        (
            method("step", "Int v", mixed(C, V), Return(C), result="Int"),
            method("ask", "I q, Int v", *waited),
        ),
    )
    main: Body = (
        made("I", "x", "C"),
        made("I", "y", "C"),
        sent("x", "ask", Local("y"), 1),
        sent("y", "ask", Local("x"), 2),
        sent("x", "step", 3),
    )
    return Program((each,), main)


def _futures_in_fields() -> Program:
    """Futures that are stored and passed on: which one a task waits for depends on who stored last."""
    held, given = Field("h"), Local("g")
    each = Class(
        "C",
        "I",
        (),
        (*numbers(c=0, s=0), Initialised("Fut<Int>", "h", NULL)),
        (
            method("step", "Int v", mixed(C, V), Return(C), result="Int"),
            method("keep", "Fut<Int> g", Assign(held, given)),
            method("use", "", present(held, Await((held,)), Assign(S, Get(held)))),
            method("start", "I q, Int v", Assign(held, Send(Local("q"), "step", (V,)))),
        ),
    )
    main: Body = (
        made("I", "x", "C"),
        made("I", "y", "C"),
        Declare("Fut<Int>", "f", Send(Local("y"), "step", (Const(1),))),
        sent("x", "keep", Local("f")),
        sent("x", "start", Local("y"), 2),
        sent("x", "use"),
    )
    return Program((each,), main)


def _branching() -> Program:
    """Branches that touch different fields, and pass the matter on to another object."""
    other = Field("r")
    passed_on = present(other, sent(other, "right"))
    each = Class(
        "C",
        "I",
        (Variable("I", "r"),),
        numbers(c=0, s=0, t=0),
        (
            method("left", "Int v", If(equal(C, 0), (mixed(S, V),), (mixed(T, V), passed_on))),
            method("right", "", Assign(C, plus(S, T)), sent(This(), "left", 7)),
        ),
    )
    main: Body = (
        made("I", "x", "C", NULL),
        made("I", "y", "C", Local("x")),
        sent("y", "left", 1),
        sent("y", "right"),
        sent("x", "right"),
    )
    return Program((each,), main)


BASES = (
    _travelling_references(),
    _account(),
    _registry(),
    _slot(),
    _getting(),
    _futures_in_fields(),
    _branching(),
)
