"""Wide random programs of guarded commands: many processes with few steps each, and few variables that they share.

`generate` draws which features a program has, so that some have no guards at all and others mix guards that come
and go, processes that make processes, computed indices, loops, scopes, branches, assertions and errors. Values are
mixed (`y := 10 * y + 3`, `p := x`) so that runs of different classes tend to end differently.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from conformance.budget import Budget, step_counts
from conformance.expressions import COMPARISONS, TRUE, Binary, Cell, Const, Expression, Unary, Var, names
from conformance.gcl.program import Program
from conformance.gcl.tree import (
    Action,
    Assert,
    Assign,
    Binding,
    Block,
    Call,
    Choose,
    Nested,
    Procedure,
    Scope,
    Skip,
    Spawn,
    Statement,
    When,
    While,
)
from conformance.trees import located

FEATURES = ("guards", "toggles", "branches", "arrays", "loops", "scopes", "asserts", "errors", "nesting")
SHAPES = ("spawning", "procedures", "busy main", "inputs")
NUMBERS, FLAGS, ARRAYS, LOCALS = ("x", "y", "z", "w"), ("f", "g"), ("a", "b"), ("i", "j")
LOCAL_ARRAY = "c"
CELLS = 3
MAIN, CALLED_AGAIN = -1, -2


def generate(random: Random) -> Program:
    """A program of 5 to 8 processes and the main one."""
    return _Author(random).program()


class _Author:
    def __init__(self, random: Random) -> None:
        self.random = random
        share = random.choice((0, 0.2, 0.4, 0.7))
        self.features = {name for name in FEATURES if random.random() < share}
        self.shapes = {name for name in SHAPES if random.random() < 0.35}
        self.budget = Budget(random.choice((3, 5, 6, 7, 8, 9, 10)))
        self.process = MAIN
        self.locals: list[str] = []
        self.fresh = 1
        self.numbers = NUMBERS[: random.choice((2, 3, 3, 4))]
        self.readers = random.choice((1, 2, 5))

    # Programs

    def program(self) -> Program:
        count = self.random.randint(5, 8)
        own_steps = self.main_steps()
        bodies = [self.body(process, steps) for process, steps in enumerate(step_counts(self.random, count))]
        procedures: list[Procedure] = []
        main: list[Statement] = []
        for process in reversed(range(count)):
            spawn = self.start(process, bodies[process], procedures)
            if process and "spawning" in self.shapes and self.random.random() < 0.5:
                parent = self.random.randrange(process)
                bodies[parent] = self.inserted(spawn, process, bodies[parent])
            else:
                main.insert(0, spawn)
        if procedures:
            main += self.called_again(procedures)
        for statement in own_steps:
            main.insert(self.random.randint(0, len(main)), statement)
        return self.bound(tuple(procedures), tuple(main))

    def main_steps(self) -> Block:
        self.process = MAIN
        return self.steps(self.random.randint(1, 2)) if "busy main" in self.shapes else ()

    def body(self, process: int, length: int) -> Block:
        self.process = process
        if length > 1 and "scopes" in self.features and self.random.random() < 0.4:
            return (self.scope(),)
        return self.steps(length)

    def start(self, process: int, body: Block, procedures: list[Procedure]) -> Statement:
        self.process = process
        guard = self.guard() if "guards" in self.features and self.random.random() < 0.15 else TRUE
        if "procedures" in self.shapes and self.random.random() < 0.4:
            procedures.append(Procedure(f"q{process}", body))
            start = When(guard, Call(f"q{process}"))
        else:
            start = When(guard, Spawn(body))
        return start if self.affordable((When(guard, Skip()),)) else When(TRUE, start.action)

    def inserted(self, spawn: Statement, child: int, body: Block) -> Block:
        """The body of a parent that spawns; a child that is made in a scope may look at its copy of a local."""
        if len(body) == 1 and isinstance(body[0], Scope) and self.random.random() < 0.6:
            scope = body[0]
            if isinstance(spawn, When) and isinstance(spawn.action, Spawn) and scope.bindings[0].type == "int":
                note = When(TRUE, Assign(Var(f"p{child}"), Var(scope.bindings[0].name)))
                spawn = When(spawn.guard, Spawn((note, *spawn.action.body)))
            return (Scope(scope.bindings, self.inserted(spawn, child, scope.body)),)
        place = self.random.randint(0, len(body))
        return (*body[:place], spawn, *body[place:])

    def called_again(self, procedures: list[Procedure]) -> list[Statement]:
        again = self.random.choice(procedures)
        self.process = CALLED_AGAIN
        return [When(TRUE, Call(again.name))] if self.affordable(again.body) else []

    def bound(self, procedures: tuple[Procedure, ...], body: Block) -> Program:
        """Bind what is used."""
        used = {name.partition("[")[0] for name in names((procedures, body))}
        bindings = [Binding(name, self.random.choice((0, 0, 1, 2))) for name in NUMBERS if name in used]
        bindings += [Binding(name, self.random.random() < 0.5) for name in FLAGS if name in used]
        cells = [tuple(self.random.randint(0, 2) for _ in range(CELLS)) for _ in ARRAYS]
        bindings += [Binding(name, values) for name, values in zip(ARRAYS, cells, strict=True) if name in used]
        bindings += [Binding(name, 0) for name in sorted(used) if name[0] == "p"]
        if "inputs" in self.shapes:
            bindings = [
                Binding(each.name, each.value, not each.type.endswith("[]") and self.random.random() < 0.3)
                for each in bindings
            ]
        return Program(tuple(bindings), procedures, body)

    # Statements

    def steps(self, count: int) -> Block:
        """Statements that take about so many steps, or what the budget allows."""
        found: list[Statement] = []
        while _steps_in(found) < count and (drawn := self.drawn()):
            found += drawn
        return tuple(found) or (When(TRUE, self.private_note()),)

    def drawn(self) -> Block:
        """One statement, or two that belong together; none if the budget allows none."""
        for _ in range(6):
            statements = self.random.choice(self.makers())()
            if self.affordable(statements):
                return statements
        return ()

    def affordable(self, statements: Block) -> bool:
        written = names(tuple(each.target for _, each in located(statements) if isinstance(each, Assign)))
        private = {*LOCALS, LOCAL_ARRAY}
        return self.budget.admits(
            self.process, names(statements) - private, written - private, _steps_in(statements)
        )

    def makers(self) -> list[Callable[[], Block]]:
        found = [self.plain, self.plain]
        makers = {
            "guards": [self.guarded, self.guarded, self.waiting],
            "toggles": [self.toggle],
            "branches": [self.branch, self.branch],
            "loops": [self.loop],
            "scopes": [lambda: (self.scope(),)],
            "asserts": [self.assertion],
            "nesting": [self.nested],
        }
        return found + [maker for name in sorted(self.features & makers.keys()) for maker in makers[name]]

    def plain(self) -> Block:
        return (When(TRUE, self.assignment()),)

    def guarded(self) -> Block:
        return (When(self.guard(), self.assignment()),)

    def waiting(self) -> Block:
        return (When(self.guard(), Skip()),)

    def toggle(self) -> Block:
        """A flag that is turned over and back, or a number that others may wait for."""
        if self.random.random() < 0.6:
            flag, first = Var(self.random.choice(FLAGS)), self.random.random() < 0.5
            return When(TRUE, Assign(flag, Const(first))), When(TRUE, Assign(flag, Const(not first)))
        number = Var(self.random.choice(self.numbers))
        up = Assign(number, Binary("+", number, Const(1)))
        return When(TRUE, up), When(TRUE, Assign(number, Binary("-", number, Const(1))))

    def branch(self) -> Block:
        then, otherwise = self.branch_action(), self.branch_action()
        return (Choose(then, self.condition(), otherwise),)

    def branch_action(self) -> Action:
        return self.random.choice((self.assignment, self.assignment, self.assignment, Skip, self.inner))()

    def nested(self) -> Block:
        if self.random.random() < 0.3:
            return (When(self.guard(), Nested((*self.branch(), *self.plain()))),)
        return (When(self.guard(), self.inner()),)

    def inner(self) -> Nested:
        """A block as an action; it may begin with what is no step, or have no step at all."""
        makers = [self.plain, self.plain, self.guarded, self.waiting, lambda: (Skip(),)]
        makers += [self.loop] * ("loops" in self.features)
        makers += [lambda: (self.scope(),)] * ("scopes" in self.features)
        count = self.random.choice((1, 2, 2))
        return Nested(tuple(each for _ in range(count) for each in self.random.choice(makers)()))

    def assertion(self) -> Block:
        check = Assert(self.condition())
        if self.random.random() < 0.5:
            return (When(self.guard(), check),)
        return (Choose(check, self.condition(), self.assignment()),)

    def loop(self) -> Block:
        """A loop that ends whatever others do: its counter is private, or nobody takes it back for ever."""
        turns = Const(self.random.randint(1, 2))
        if self.random.random() < 0.25:
            number = Var(self.random.choice(self.numbers))
            return (While(Binary("<", number, turns), Assign(number, Binary("+", number, Const(1)))),)
        local = self.random.random() < 0.6
        counter = Var(self.random.choice(LOCALS) if local else f"{self.private().name}c{self.next_number()}")
        if counter.name in self.locals:
            return self.plain()
        count = When(TRUE, Assign(counter, Binary("+", counter, Const(1))))
        body = (*self.plain(), count) if self.random.random() < 0.6 else (count, *self.plain())
        loop = While(Binary("<", counter, turns), Nested(body))
        return (Scope((Binding(counter.name, 0),), (loop,)),) if local else (loop,)

    def scope(self) -> Statement:
        """Locals that are read into and written from; now and then one hides a shared variable."""
        name = self.random.choice((*LOCALS, *LOCALS, *self.numbers))
        self.locals.append(name)
        read = When(TRUE, Assign(Var(name), self.number()))
        write = When(self.some_guard(), self.assignment())
        bindings = [Binding(name, self.random.randint(0, 2))]
        if "arrays" in self.features and self.random.random() < 0.3:
            bindings.append(Binding(LOCAL_ARRAY, (1, 2)))
            write = When(TRUE, Assign(Cell(LOCAL_ARRAY, Binary("%", Var(name), Const(2))), self.number()))
            write = When(TRUE, Nested((write, When(TRUE, Assign(self.private(), Cell(LOCAL_ARRAY, Const(0)))))))
        self.locals.remove(name)
        return Scope(tuple(bindings), (read, write))

    # Actions and expressions

    def assignment(self) -> Action:
        makers = [self.mixing, self.mixing, self.setting] + [self.noting] * self.readers
        makers += [self.flipping] * ("guards" in self.features or "branches" in self.features)
        makers += [self.storing, self.storing] * ("arrays" in self.features)
        makers += [self.dividing] * ("errors" in self.features)
        return self.random.choice(makers)()

    def mixing(self) -> Assign:
        target = Var(self.random.choice(self.numbers))
        return Assign(target, Binary("+", Binary("*", Const(10), target), self.addend()))

    def setting(self) -> Assign:
        return Assign(Var(self.random.choice(self.numbers)), self.addend())

    def addend(self) -> Expression:
        return self.number() if self.random.random() < 0.3 else Const(self.next_number())

    def noting(self) -> Assign:
        target = self.private()
        if self.random.random() < 0.3:
            return Assign(target, Binary("+", Binary("*", Const(10), target), self.number()))
        return Assign(target, self.number())

    def flipping(self) -> Assign:
        target = Var(self.random.choice(FLAGS))
        return Assign(target, self.random.choice((TRUE, Const(False), Unary("not", target), self.comparison())))

    def storing(self) -> Assign:
        cell = self.cell()
        if self.random.random() < 0.4:
            return Assign(cell, Binary("+", Binary("*", Const(10), cell), Const(self.next_number())))
        return Assign(cell, self.addend())

    def dividing(self) -> Assign:
        sign = self.random.choice("/%")
        divided = Binary(sign, Const(self.random.randint(-9, 9)), Var(self.random.choice(self.numbers)))
        return Assign(self.random.choice((self.private(), Var(self.random.choice(self.numbers)))), divided)

    def private_note(self) -> Assign:
        return Assign(self.private(), Const(self.next_number()))

    def private(self) -> Var:
        return Var("p" if self.process == MAIN else f"p{self.process}")

    def next_number(self) -> int:
        self.fresh += 1
        return self.fresh

    def number(self) -> Expression:
        kind = self.random.random()
        if self.locals and kind < 0.5:
            return Var(self.random.choice(self.locals))
        if "arrays" in self.features and kind < 0.7:
            return self.cell()
        return Var(self.random.choice(self.numbers))

    def cell(self) -> Cell:
        """A cell, often one whose index others change; with errors, one that may not be there."""
        array, kind = self.random.choice(ARRAYS), self.random.random()
        if kind < 0.4:
            return Cell(array, Const(self.random.randrange(CELLS)))
        index: Expression = Var(self.random.choice((*self.numbers, *self.locals)))
        if kind < 0.55:
            index = Cell(self.random.choice(ARRAYS), Const(self.random.randrange(CELLS)))
        if "errors" in self.features and self.random.random() < 0.4:
            return Cell(array, index)
        return Cell(array, Binary("%", index, Const(CELLS)))

    def some_guard(self) -> Expression:
        return self.guard() if "guards" in self.features and self.random.random() < 0.5 else TRUE

    def guard(self) -> Expression:
        return self.condition() if self.features & {"guards", "nesting"} else TRUE

    def condition(self) -> Expression:
        kind = self.random.random()
        if kind < 0.35:
            flag = Var(self.random.choice(FLAGS))
            return flag if kind < 0.2 else Unary("not", flag)
        if kind < 0.85:
            return self.comparison()
        sign = self.random.choice(("and", "or"))
        return Binary(
            sign, self.random.choice((Var(self.random.choice(FLAGS)), self.comparison())), self.comparison()
        )

    def comparison(self) -> Expression:
        sign = self.random.choice((*COMPARISONS, "!=", "<="))
        if self.random.random() < 0.3:
            return Binary("==", Binary("%", self.number(), Const(2)), Const(self.random.randint(0, 1)))
        if "errors" in self.features and self.random.random() < 0.2:
            return Binary(sign, Binary("/", Const(6), self.number()), Const(3))
        return Binary(sign, self.number(), Const(self.random.randint(0, 3)))


def _steps_in(statements: Sequence[Statement]) -> int:
    """About how many steps they take, nested ones and both branches included."""
    weights = {When: 1, Choose: 1, While: 2}
    return sum(weights.get(type(each), 0) for _, each in located(tuple(statements)))
