"""When a task can move, as one formula: for what has to be written down, where `Label.can_move` cannot be.

A guard may read data, of which formulas know codes only. In a permutation of a recorded run such a variable holds
its initial code or one that a recorded step assigns to it, because recorded steps are all that happens. So the
guard is evaluated once for each of these codes, and on each path through its conditions on numbers; the task can
move on those paths on which the guard holds or fails. Where this does not determine the guard (data are selected
by a number that may have any value), or where there are too many paths, there is no formula.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from porcini.core.errors import InputError
from porcini.core.pids import Pid
from porcini.ir.expr import Expr, Var, conj, const, disj
from porcini.ir.simplify import simplify
from porcini.ir.tasks.names import FormulaVariable
from porcini.ir.tasks.paths import Walk
from porcini.ir.tasks.states import StepState
from porcini.ir.tasks.values import TooManyForks

MOST_PATHS = 200

MakeWalk = Callable[[type[Walk], StepState, tuple[bool, ...]], Walk]


class _NeedsCode(Exception):
    """A guard reads a variable that holds a code, and none was chosen for it."""

    def __init__(self, variable: Var) -> None:
        self.variable = variable


class _AnyNumbers(dict[Var, Expr]):
    """The values of some variables; all others are symbols."""

    def __missing__(self, variable: Var) -> Expr:
        return variable

    def __contains__(self, variable: object) -> bool:
        return True


class _Guess(Walk):
    """A walk that asks for a code where it reads one."""

    def read(self, named: FormulaVariable) -> Any:
        unknown = named.whole and named.var not in self.changed
        if unknown and self.state.values[named.var] is named.var:
            raise _NeedsCode(named.var)
        return super().read(named)


def when_can_move(
    make_walk: MakeWalk, state: StepState, pid: Pid, codes: Mapping[Var, Collection[int]]
) -> Expr | None:
    """The condition under which a task can move, given the codes that variables may hold. `state` has all tasks
    and objects that there may be; its values do not matter."""
    todo: list[tuple[_AnyNumbers, tuple[bool, ...]]] = [(_AnyNumbers(), ())]
    found: dict[Expr, None] = {}
    for _ in range(MOST_PATHS):
        if not todo:
            return simplify(disj(*found))
        values, forks = todo.pop()
        walk = make_walk(_Guess, replace(state, values=values), forks)
        try:
            able = walk.could_go(pid)
        except _NeedsCode as needed:
            for code in codes.get(needed.variable, ()):
                todo.append((_AnyNumbers({**values, needed.variable: const(code)}), forks))
            continue
        except (InputError, RecursionError, TooManyForks):
            return None
        todo += [(values, other) for other in walk.others]
        if able:
            found[conj(*walk.tests)] = None
    return None
