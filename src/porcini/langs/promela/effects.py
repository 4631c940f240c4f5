"""What single statements of Promela do: the guard, the block and the communication of an edge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from porcini.core.errors import InternalError, Place
from porcini.ir import expr as ir
from porcini.ir.expr import FALSE, TRUE, Expr, Timeout, nodes
from porcini.ir.operations import Assert, Assign, Op, Print, Receive, Send, Spawn, Target
from porcini.ir.program import ChannelType, Variable
from porcini.langs.promela import syntax as ast
from porcini.langs.promela.expressions import Expressions, World, exists
from porcini.langs.promela.names import Scope, problem
from porcini.langs.promela.text import show

Effect = tuple[Expr, tuple[Op, ...], Send | Receive | None]


@dataclass(frozen=True, slots=True)
class Effects:
    """Lowers statements of one process, or of a never claim."""

    world: World
    parameters: Mapping[str, Sequence[Variable]]
    never: bool

    def of(self, statement: ast.Statement, scope: Scope, in_d_step: bool) -> Effect:
        """What a statement waits for, does and communicates."""
        lower = Expressions(self.world, scope, not self.never)
        match statement:
            case ast.Condition(test=ast.Run() as run):
                return TRUE, self._start(run, lower, None), None
            case ast.Condition(test=test):
                return lower.condition(test), (), None
            case ast.Assert(test=test, place=place):
                held = ir.truth_of(self._timeless(lower, test))
                return TRUE, (Assert(held, show(test), place),), None
            case ast.Print(text=text, args=args):
                return TRUE, (Print(text, tuple(self._timeless(lower, arg) for arg in args)),), None
            case _ if self.never:
                raise problem("a never claim may only test", statement.place)
            case ast.Assign(target=ast.Ref(name="_"), value=value):
                self._timeless(lower, value)
                return TRUE, (), None
            case ast.Assign(target=target, value=ast.Run() as run):
                return TRUE, self._start(run, lower, self._assignable(lower, target)), None
            case ast.Assign(target=target, value=value):
                to = self._assignable(lower, target)
                lower.check_mtype(to, value)
                return TRUE, (Assign(to, self._timeless(lower, value, stored=True)),), None
            case ast.SetPriority(pid=pid, value=value, place=place):
                of = ir.OWN_NUMBER if pid is None else self._timeless(lower, pid)
                return TRUE, self._set_priority(of, self._timeless(lower, value), place), None
            case ast.Send(channel=channel, args=args, sorted=ordered, place=place):
                values = tuple(self._timeless(lower, arg) for arg in lower.message(args))
                type_, wrong = self._misfit(lower, channel, len(values), place)
                if type_ is not None and wrong:
                    if len(values) > len(type_.fields):
                        fields, given = len(type_.fields), len(values)
                        raise problem(f"channel `{channel.name}` takes {fields} values, not {given}", place)
                    if not type_.capacity:  # SPIN's verifier reports it before anybody answers
                        return TRUE, wrong, None
                    values += (ir.ZERO,) * (len(type_.fields) - len(values))
                return TRUE, wrong, Send(lower.channel(channel), values, ordered, in_d_step)
            case ast.Receive(channel=channel, args=args, anywhere=anywhere, keep=keep, place=place):
                parts = [lower.pattern(arg) for arg in lower.message(args)]
                type_, wrong = self._misfit(lower, channel, len(parts), place)
                if type_ is not None:
                    parts = (parts + [(None, None)] * len(type_.fields))[: len(type_.fields)]
                pattern, into = tuple(part for part, _ in parts), tuple(target for _, target in parts)
                return TRUE, wrong, Receive(lower.channel(channel), pattern, into, anywhere, keep)
        raise InternalError(f"no edge for {statement}")

    def _timeless(self, lower: Expressions, expr: ast.Expr, stored: bool = False) -> Expr:
        found = lower.uncut(expr) if stored else lower(expr)
        if any(isinstance(node, Timeout) for node in nodes(found)):
            raise problem("`timeout` can only be waited for", expr.place)
        return found

    def _assignable(self, lower: Expressions, ref: ast.Ref) -> Target:
        if ref.name in ("_pid", "_nr_pr", "_last") or (
            ref.name in self.world.mtypes and lower.scope.find(ref.name) is None
        ):
            raise problem(f"`{ref.name}` cannot be assigned to", ref.place)
        return lower.load(ref)

    def _misfit(
        self, lower: Expressions, ref: ast.Ref, given: int, place: Place
    ) -> tuple[ChannelType | None, tuple[Op, ...]]:
        """What a channel was declared as, where that is known, and how a statement fails that has another number
        of values: SPIN's verifier reports it when it is run."""
        declared = lower.declared(ref)
        type_ = declared.channel if declared is not None else None
        if type_ is None or given == len(type_.fields):
            return type_, ()
        text = f"{ref.name} takes {len(type_.fields)} values, not {given}"
        self.world.notes[f"line {place.line}: channel {text}"] = None
        return type_, (Assert(FALSE, text, place),)

    def _set_priority(self, pid: Expr, value: Expr, place: Place) -> tuple[Op, ...]:
        """For a process that does not exist nothing is set: its own priority stays what it is."""
        assert self.world.priorities is not None
        array = self.world.priorities.var
        fits = ir.conj(ir.binary("<=", ir.ONE, value), ir.binary("<=", value, ir.const(ast.MOST_PRIORITY)))
        cell = ir.select(array, ir.ite(exists(pid), pid, ir.OWN_NUMBER))
        stored = ir.ite(exists(pid), value, ir.select(array, ir.OWN_NUMBER))
        return Assert(fits, f"a priority from 1 to {ast.MOST_PRIORITY}", place), Assign(cell, stored)

    def _start(self, run: ast.Run, lower: Expressions, into: Target | None) -> tuple[Op, ...]:
        if run.proctype not in self.world.templates:
            raise problem(f"no proctype `{run.proctype}`", run.place)
        wanted = self.parameters[run.proctype]
        values = [self._timeless(lower, arg) for arg in lower.message(run.args)]
        if len(wanted) != len(values):
            raise problem(f"{run.proctype} takes {len(wanted)} arguments, not {len(values)}", run.place)
        copies = zip((parameter.var for parameter in wanted), values, strict=True)
        spawn = Spawn(self.world.templates[run.proctype], tuple(copies), into=into)
        if self.world.priorities is None:
            return (spawn,)
        cell = ir.select(self.world.priorities.var, ir.POPULATION)
        return Assign(cell, ir.const(run.priority or 1), silent=True), spawn
