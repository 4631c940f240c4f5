"""Steps of packed programs as formulas for a solver: all possible effects of a step, in any state.

Only steps for which these are known are translated; all others depend on everything that their footprints conflict
with. Steps that take, keep or give back the turn are not translated, nor are those that start or end a process,
wait for a `timeout`, or go through a `d_step`. Where processes are started, only steps that read nothing but
variables are translated: formulas of the others refer to all processes that may exist.

The guards of these labels are all options of the process at that point, and a step that changes one of them does
not commute: taking one choice gives up the others, so a search must know what decides all of them (as footprints
do, see `ir.packed.view`).
"""

from __future__ import annotations

from porcini.core.errors import InputError
from porcini.core.pids import Pid
from porcini.ir.expr import Binary, Checked, Const, Ite, Junction, Neg, Not, OwnNumber, Select, Timeout, Var, free
from porcini.ir.operations import Assert, Assign, Exit, Print, Spawn
from porcini.ir.packed.formulas.labels import Labels, StepInfo, Who
from porcini.ir.packed.formulas.lines import Births
from porcini.ir.packed.formulas.world import World, initial_constants
from porcini.ir.packed.system import PackedSystem
from porcini.ir.program import Edge, nodes_of
from porcini.ir.symbolic.formulas import Ways
from porcini.ir.symbolic.labels import Label

_MOST_WAYS = 6
_PLAIN = Const | Var | Select | Not | Neg | Binary | Junction | Ite | Checked | OwnNumber
"""Nodes that read nothing but variables."""


class StepFormulas:
    """The labels of steps, by the point where they begin; None where there are none for a solver."""

    def __init__(self, system: PackedSystem) -> None:
        self.system = system
        self._labels: dict[int, Labels] = {}
        self._ways: dict[tuple[int, int, int, Pid], Ways | None] = {}

    def __call__(self, template: int, point: int, choice: int, pid: Pid) -> Ways | None:
        key = template, point, choice, pid
        if key not in self._ways:
            edges = self.system.program.templates[template].points[point].edges
            self._ways[key] = self._build_ways(*key) if all(map(self._is_translatable, edges)) else None
        return self._ways[key]

    def _is_translatable(self, edge: Edge) -> bool:
        if edge.atomic or edge.d_step or any(isinstance(op, Spawn | Exit) for op in edge.block):
            return False
        if self.system.starts:
            plain = edge.talk is None and all(isinstance(op, Assign | Assert | Print) for op in edge.block)
            return plain and all(isinstance(node, _PLAIN) for node in nodes_of(edge))
        return not any(isinstance(node, Timeout) for node in nodes_of(edge))

    def _build_ways(self, template: int, point: int, choice: int, pid: Pid) -> Ways | None:
        slots = max(len(self.system.program.initial), pid[0] + 1)
        if slots not in self._labels:
            self._labels[slots] = Labels(World(self.system, slots, initial_constants(self.system)))
        labels = self._labels[slots]
        births = 1 if len(pid) == 1 else pid[1] + 1
        who = Who(labels.world.instance(pid[0], template), births, (point,))
        try:
            found = [
                labels.step(who, point, option, False, outcome, StepInfo(option.edge.text))
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
