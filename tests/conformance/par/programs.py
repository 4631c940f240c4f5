"""Wide random programs of the parallel language: many branches with few steps each, and few shared variables.

`generate` draws which statements a program has and how its branches are put together: flat, in groups within
groups, one `||` after another, with steps before and after. Values are mixed (`y := 10 * y + 3`, `p := x`) so
that runs of different classes tend to end differently.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from conformance.budget import Budget, step_counts
from conformance.expressions import COMPARISONS, Binary, Const, Expression, Unary, Var, names
from conformance.par.program import Assign, Block, Given, If, Parallel, Program, Skip, Statement, While
from conformance.trees import located

FEATURES = ("branches", "loops", "inner parallels", "skips", "sums")
SHAPES = ("groups", "stages", "steps around", "initialised", "observed")
NUMBERS = ("x", "y", "z", "w")
OUTSIDE = -1


def generate(random: Random) -> Program:
    """A program of 5 to 8 branches."""
    return _Author(random).program()


class _Author:
    def __init__(self, random: Random) -> None:
        self.random = random
        share = random.choice((0, 0.3, 0.6))
        self.features = {name for name in FEATURES if random.random() < share}
        self.shapes = {name for name in SHAPES if random.random() < 0.4}
        self.budget = Budget(random.choice((3, 5, 6, 7, 8, 9, 10)))
        self.branch = OUTSIDE
        self.fresh = 1
        self.numbers = NUMBERS[: random.choice((2, 3, 3, 4))]
        self.readers = random.choice((1, 2, 5))

    # Programs

    def program(self) -> Program:
        lengths = step_counts(self.random, self.random.randint(5, 8))
        body = self.together([self.leaf(branch, length) for branch, length in enumerate(lengths)])
        if "observed" in self.shapes:
            total = Binary("+", Binary("*", Const(10), self.number()), self.number())
            body = (*body, Assign(Var("r"), total))
        if "initialised" in self.shapes:
            used = sorted(names(body))
            first = self.random.sample(used, self.random.randint(1, len(used)))
            body = (*(Assign(Var(name), Const(self.random.randint(0, 2))) for name in first), *body)
        given = tuple(Given(name, self.random.randint(0, 2)) for name in sorted(names(body)))
        return Program(body, given)

    def together(self, leaves: Sequence[Block]) -> Block:
        """Put branches together, one beside or after another."""
        if len(leaves) == 1:
            return leaves[0]
        cut = self.random.randint(1, len(leaves) - 1)
        if "stages" in self.shapes and self.random.random() < 0.3:
            return self.around((*self.together(leaves[:cut]), *self.together(leaves[cut:])))
        if "groups" in self.shapes and self.random.random() < 0.6:
            return self.around((Parallel((self.together(leaves[:cut]), self.together(leaves[cut:]))),))
        return self.around((Parallel(tuple(leaves)),))

    def around(self, block: Block) -> Block:
        """Perhaps with a step before or after."""
        if "steps around" not in self.shapes:
            return block
        self.branch = OUTSIDE
        before = self.drawn() if self.random.random() < 0.3 else ()
        after = self.drawn() if self.random.random() < 0.3 else ()
        return (*before, *block, *after)

    def leaf(self, branch: int, length: int) -> Block:
        self.branch = branch
        found: list[Statement] = []
        while _steps_in(found) < length and (drawn := self.drawn()):
            found += drawn
        if not found:
            found.append(Assign(self.private(), Const(self.next_number())))
        if "skips" in self.features and self.random.random() < 0.3:
            found.insert(self.random.randint(0, len(found)), Skip())
        return tuple(found)

    # Statements

    def drawn(self) -> Block:
        """A statement with what belongs to it; none if the budget allows none."""
        for _ in range(6):
            block = self.random.choice(self.makers())()
            written = names(tuple(each.target for _, each in located(block) if isinstance(each, Assign)))
            if self.budget.admits(self.branch, names(block), written, _steps_in(block)):
                return block
        return ()

    def makers(self) -> list[Callable[[], Block]]:
        makers = {"branches": [self.choice, self.choice], "loops": [self.loop], "inner parallels": [self.inner]}
        more = [maker for name in sorted(self.features & makers.keys()) for maker in makers[name]]
        return [self.assignment, self.assignment, *more]

    def assignment(self) -> Block:
        makers = [self.mixing, self.mixing, self.setting] + [self.noting] * self.readers
        return (self.random.choice(makers)(),)

    def mixing(self) -> Assign:
        target = Var(self.random.choice(self.numbers))
        added = self.number() if self.random.random() < 0.3 else Const(self.next_number())
        return Assign(target, Binary("+", Binary("*", Const(10), target), added))

    def setting(self) -> Assign:
        target = Var(self.random.choice(self.numbers))
        return Assign(target, self.number() if self.random.random() < 0.3 else Const(self.next_number()))

    def noting(self) -> Assign:
        target = self.private()
        if self.random.random() < 0.3:
            return Assign(target, Binary("+", Binary("*", Const(10), target), self.number()))
        return Assign(target, self.number())

    def choice(self) -> Block:
        otherwise = self.assignment() if self.random.random() < 0.6 else (Skip(),)
        blocks = [self.assignment(), otherwise]
        self.random.shuffle(blocks)
        return (If(self.condition(), *blocks),)

    def loop(self) -> Block:
        """A loop that ends: nobody else touches its counter."""
        counter = Var(f"{self.private().name}c{self.next_number()}")
        count = Assign(counter, Binary("+", counter, Const(1)))
        body = self.random.choice(((*self.assignment(), count), (count, *self.assignment())))
        if self.random.random() < 0.3:
            body = (Parallel((body[:1], body[1:])),)
        loop = While(Binary("<", counter, Const(self.random.randint(1, 2))), body)
        return Assign(counter, Const(0)), loop

    def inner(self) -> Block:
        """A `||` within a branch, perhaps with an empty side or with something after it."""
        other = (Skip(),) if self.random.random() < 0.2 else self.assignment()
        after = self.assignment() if self.random.random() < 0.5 else ()
        return (Parallel((self.assignment(), other)), *after)

    # Expressions

    def private(self) -> Var:
        return Var("p" if self.branch == OUTSIDE else f"p{self.branch}")

    def next_number(self) -> int:
        self.fresh += 1
        return self.fresh

    def number(self) -> Expression:
        first = Var(self.random.choice(self.numbers))
        if "sums" not in self.features or self.random.random() < 0.7:
            return first
        second = self.random.choice((Var(self.random.choice(self.numbers)), Const(self.random.randint(0, 3))))
        return self.random.choice((Binary(self.random.choice("+-"), first, second), Unary("-", first)))

    def condition(self) -> Expression:
        first = self.comparison()
        kind = self.random.random()
        if kind < 0.15:
            return Unary("not", first)
        return first if kind < 0.8 else Binary(self.random.choice(("and", "or")), first, self.comparison())

    def comparison(self) -> Expression:
        return Binary(self.random.choice(COMPARISONS), self.number(), Const(self.random.randint(0, 3)))


def _steps_in(block: Sequence[Statement]) -> int:
    """About how many steps it takes; a loop takes some more than it seems to."""
    weights = {Assign: 1, If: 1, While: 4}
    return sum(weights.get(type(each), 0) for _, each in located(tuple(block)))
