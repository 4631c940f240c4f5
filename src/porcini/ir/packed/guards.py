"""The guards of transitions: what must hold for each, and which writes may make it true.

*Nothing makes `timeout` true* as long as no transition of a stubborn set is taken. The set has an enabled
transition, which stays enabled until one of the set is taken: whatever disables it does not accord with it, and
so is in the set (D1). Until then something can be done, and `timeout` is false. So an edge that begins with it
needs no enablers. Others that ask for it do: they could go without it (`timeout || x > 0`), or fail before (`1
/ x > 0 && timeout`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from porcini.ir.evaluation import OPERATIONS
from porcini.ir.expr import COMPARISONS, TIMEOUT, TRUE, Binary, Expr, Select, Timeout, Var, nodes
from porcini.ir.operations import Receive, Send
from porcini.ir.packed.code import EdgeCode
from porcini.ir.packed.layout import RunError
from porcini.ir.packed.processes import PointCode, Process, ProcessSet
from porcini.ir.packed.system import PackedSystem, answers_with, rendezvous
from porcini.ir.packed.touch import EVERYTHING
from porcini.ir.packed.transitions import ANYTHING, NOBODY, Guard
from porcini.ir.program import Edge, rivals


class Guards:
    """Builds the guards of the transitions of one set of processes."""

    def __init__(self, system: PackedSystem, present: ProcessSet) -> None:
        self.system, self.present = system, present

    def of(self, process: Process, code: EdgeCode, here: PointCode) -> tuple[Guard, ...]:
        """The guards of an edge that a process takes without a partner."""
        if _begins_with_timeout(process, code.edge):
            return (Guard(NOBODY, lambda s: False, 0),)
        toucher, found = process.toucher, [*self._allowed(process, code, here)]
        for expr in code.edge.guards:
            if any(isinstance(node, Timeout) for node in nodes(expr)):
                found.append(Guard(ANYTHING, None, EVERYTHING))
            else:
                test = _tester(process.coder.function(expr))
                found.append(Guard(toucher.waking(expr), test, toucher.expr(expr).bits, *_by_value(process, expr)))
        talk = code.edge.talk
        if isinstance(talk, Receive) and not talk.anywhere:
            found += self._of_first_message(process, code, talk)
        elif talk is not None:
            bits = toucher.edge(code.edge).bits
            found.append(Guard(toucher.waking_talk(talk), _tester(lambda s: code.ready(s, False)), bits))
        return tuple(found)

    @staticmethod
    def _of_first_message(process: Process, code: EdgeCode, talk: Receive) -> Iterator[Guard]:
        """The two guards of a receive that takes the first message: there is one, and it fits.

        Only a send, at the tail, ends that a channel is empty. While it is not empty, its first message changes
        only by a step at the head: a receive, or a send that sorts. So a receive that waits for a message has only
        senders as enablers, and one that waits for another message has only those that take the first one.
        """
        channel, wanted, toucher = code.channel, code.wanted, process.toucher
        assert channel is not None and wanted is not None

        def fits(s: int) -> bool:
            held = channel(s)
            return held.length(s) == 0 or held.find(s, wanted(s), False) == 0

        test = _tester(lambda s: channel(s).length(s) > 0)
        yield Guard(toucher.waking_end(talk, "tail"), test, toucher.bits_at_end(talk, "tail"))
        if any(part is not None for part in talk.pattern):
            yield Guard(toucher.waking_end(talk, "head"), _tester(fits), toucher.bits_at_end(talk, "head"))

    def of_meeting(
        self,
        process: Process,
        code: EdgeCode,
        here: PointCode,
        other: Process,
        answer: EdgeCode,
        there: PointCode,
    ) -> tuple[Guard, ...]:
        """The guards of a rendezvous: the message matches, both may run, and neither has to do something else
        first."""
        wakes = bits = 0
        for mover, part in ((process, code), (other, answer)):
            talk = part.edge.talk
            assert talk is not None
            bits |= mover.toucher.edge(part.edge).bits
            parts = talk.values if isinstance(talk, Send) else talk.pattern
            for expr in (talk.channel, *parts):
                if expr is not None:
                    wakes |= mover.toucher.waking(expr)
        found = [Guard(wakes, _tester(lambda s: _answers(s, code, answer)), bits)]
        found += [*self._allowed(process, code, here), *self._may_run(other)]
        instead = _rivals(answer, there)
        if instead:
            test = _tester(lambda s: not any(_answers(s, code, each) for each in instead))
            for each in instead:
                bits |= other.toucher.edge(each.edge).bits
            found.append(Guard(ANYTHING, test, bits))
        return tuple(found)

    def _allowed(self, process: Process, code: EdgeCode, here: PointCode) -> Iterator[Guard]:
        """What must hold besides an edge's own guards: its process may run, and no rival of it can be taken."""
        yield from self._may_run(process)
        others = _rivals(code, here)
        if not others:
            return
        wakes = bits = 0
        for other in others:
            bits |= process.toucher.edge(other.edge).bits
            for expr in other.edge.guards:
                wakes |= process.toucher.waking(expr)
            if other.edge.talk is not None:
                both = process.toucher.tested(other.edge.talk.channel)
                wakes |= process.toucher.waking_talk(other.edge.talk) | both.reads | both.wide

        def unrivalled(s: int) -> bool:
            return not any(self.system.can_take(s, self.present, process, rival) for rival in others)

        if any(map(rendezvous, here.edges)):  # it depends on where all others stand
            wakes, bits = ANYTHING, EVERYTHING
        yield Guard(wakes, unrivalled, bits)

    def _may_run(self, process: Process) -> Iterator[Guard]:
        if self.system.program.priorities is not None:
            test = _tester(lambda s: self.system.may_run(s, self.present, process))
            yield Guard(ANYTHING, test, EVERYTHING)
        elif process.provided is not None:
            expr = process.template.provided
            yield Guard(process.toucher.waking(expr), _tester(process.provided), process.toucher.expr(expr).bits)


def _begins_with_timeout(process: Process, edge: Edge) -> bool:
    """Does an edge ask for `timeout` before anything that could fail?"""
    return edge.guards[:1] == (TIMEOUT,) and edge.talk is None and process.template.provided is TRUE


def _rivals(code: EdgeCode, here: PointCode) -> list[EdgeCode]:
    others = rivals(code.edge, [each.edge for each in here.edges])
    return [each for each in here.edges if each.edge in others]


def _answers(s: int, sent: EdgeCode, answer: EdgeCode) -> bool:
    assert sent.values is not None and sent.channel is not None
    return answers_with(s, answer, sent.channel(s), sent.values(s))


def _by_value(process: Process, expr: Expr) -> tuple[int, Callable[[int], bool] | None]:
    """For a guard that compares one cell with a constant: that cell, and the comparison."""
    if not isinstance(expr, Binary) or expr.op not in COMPARISONS:
        return 0, None
    for cell, other, first in ((expr.left, expr.right, True), (expr.right, expr.left, False)):
        value = process.constants.of(other)
        if isinstance(cell, Var | Select) and value is not None and process.constants.of(cell) is None:
            cells = process.toucher.cells(cell)
            if cells.bit_count() == 1:
                return cells, _comparison(OPERATIONS[expr.op], value, first)
    return 0, None


def _comparison(compare: Callable[[int, int], object], value: int, first: bool) -> Callable[[int], bool]:
    return (lambda v: bool(compare(v, value))) if first else (lambda v: bool(compare(value, v)))


def _tester(function: Callable[[int], object]) -> Callable[[int], bool]:
    def test(s: int) -> bool:
        try:
            return bool(function(s))
        except RunError:
            return True

    return test
