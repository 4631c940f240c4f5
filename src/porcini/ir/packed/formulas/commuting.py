"""Steps of packed programs as formulas for a solver: all ways in which a step may go, whatever the state.

Only steps of which that is known are translated; all others count as dependent on what their footprints conflict
with. Left out are steps that take, keep or give back the turn, those that start or end a process or wait for a
`timeout`, and those through a `d_step`. Where processes are started, only steps that look at nothing but variables
are translated: formulas of the others speak of all processes that there may be.

The guards of these labels are all options of the process at that point, and a step that changes one of them does
not commute: taking one choice gives up the others, so a search must know what decides all of them (as footprints
do, see `ir.packed.view`).
"""

from __future__ import annotations

from porcini.core.errors import InputError
from porcini.core.pids import Pid
from porcini.ir.expr import Binary, Checked, Const, Ite, Junction, Neg, Not, OwnNumber, Select, Timeout, Var, free
from porcini.ir.operations import Assert, Assign, Exit, Print, Spawn
from porcini.ir.packed.formulas.labels import Labels, Seen, Who
from porcini.ir.packed.formulas.lines import Births
from porcini.ir.packed.formulas.world import World, known_from_the_start
from porcini.ir.packed.system import PackedSystem
from porcini.ir.program import Edge, nodes_of
from porcini.ir.symbolic.formulas import Ways
from porcini.ir.symbolic.labels import Label

_MOST_WAYS = 6
_PLAIN = Const | Var | Select | Not | Neg | Binary | Junction | Ite | Checked | OwnNumber
"""What looks at variables and nothing else."""


class StepFormulas:
    """The labels of steps, by where they begin; None where there are none for a solver."""

    def __init__(self, system: PackedSystem) -> None:
        self.system = system
        self._labels: dict[int, Labels] = {}
        self._found: dict[tuple[int, int, int, Pid], Ways | None] = {}

    def __call__(self, template: int, point: int, choice: int, pid: Pid) -> Ways | None:
        key = template, point, choice, pid
        if key not in self._found:
            edges = self.system.program.templates[template].points[point].edges
            self._found[key] = self._made(*key) if all(map(self._translated, edges)) else None
        return self._found[key]

    def _translated(self, edge: Edge) -> bool:
        if edge.atomic or edge.d_step or any(isinstance(op, Spawn | Exit) for op in edge.block):
            return False
        if self.system.starts:
            plain = edge.talk is None and all(isinstance(op, Assign | Assert | Print) for op in edge.block)
            return plain and all(isinstance(node, _PLAIN) for node in nodes_of(edge))
        return not any(isinstance(node, Timeout) for node in nodes_of(edge))

    def _made(self, template: int, point: int, choice: int, pid: Pid) -> Ways | None:
        slots = max(len(self.system.program.initial), pid[0] + 1)
        if slots not in self._labels:
            self._labels[slots] = Labels(World(self.system, slots, known_from_the_start(self.system)))
        labels = self._labels[slots]
        births = 1 if len(pid) == 1 else pid[1] + 1
        who = Who(labels.world.instance(pid[0], template), births, (point,))
        try:
            found = [
                labels.step(who, point, option, False, outcome, Seen(option.edge.text))
                for option in labels.options.at(who.me, point)
                if option.choice == choice
                for outcome in labels.outcomes.of(who.me, option, False, {}, Births(slots, (1,) * slots))
                if option.partner is None or not (option.partner.edge.atomic or option.partner.edge.d_step)
            ]
        except InputError:
            return None
        return Ways(tuple(found), labels.world.bounds(_variables(found))) if len(found) <= _MOST_WAYS else None


def _variables(labels: list[Label]) -> set[Var]:
    exprs = [guard for label in labels for guard in label.guards]
    for op in (op for label in labels for op in label.line):
        exprs += [op.test] if isinstance(op, Assert) else [op.target, op.value]
    return {variable for expr in exprs for variable in free(expr)}
