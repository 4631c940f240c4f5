"""Sorts in their order and operators by name: what a term is, without asking Maude."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from porcini.langs.maude.terms import Apply, MetaModule, Node, Operator, Statement, Variable


@dataclass(slots=True)
class Signature:
    """The signature of a module with all that it imports."""

    sorts: set[str] = field(default_factory=set)
    above: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Each sort with all sorts that it is below of, itself included."""
    operators: dict[tuple[str, int], list[Operator]] = field(default_factory=lambda: defaultdict(list))
    memberships: dict[tuple[str, int], list[tuple[tuple[str, ...], str]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """What memberships such as `mb < T : W | A > : Worker` say of an operator: sorts of arguments, its own."""
    kinds: dict[str, str] = field(default_factory=dict)
    """Each sort with one that stands for its kind."""
    elsewhere: dict[str, str] = field(default_factory=dict)
    """Constants, with their sorts, of what generated modules import besides."""

    @classmethod
    def of(cls, modules: Iterable[MetaModule]) -> Signature:
        found = cls()
        direct: set[tuple[str, str]] = set()
        for module in modules:
            found.sorts.update(module.sorts)
            direct.update(module.subsorts)
            for operator in module.operators:
                known = found.operators[operator.name, len(operator.domain)]
                if operator not in known:
                    known.append(operator)
            for membership in module.memberships:
                found._learn(membership)
        found._close(direct)
        return found

    def _learn(self, membership: Statement) -> None:
        """A membership is like a declaration if it speaks of all arguments of some sorts."""
        left, right = membership.left, membership.right
        if membership.condition or not isinstance(left, Apply) or not isinstance(right, Apply):
            return
        sorts = tuple(arg.sort for arg in left.args if isinstance(arg, Variable))
        if len(sorts) == len(left.args) == len(set(left.args)):
            self.memberships[left.op, len(left.args)].append((sorts, right.op))

    def _close(self, direct: set[tuple[str, str]]) -> None:
        parents: dict[str, set[str]] = defaultdict(set)
        for low, high in direct:
            parents[low].add(high)
        for sort in self.sorts:
            left = [sort]
            while left:
                each = left.pop()
                if each not in self.above[sort]:
                    self.above[sort].add(each)
                    left += parents[each]
        self.kinds = {sort: sort for sort in self.sorts}
        for low, high in direct:
            a, b = self.kind(low), self.kind(high)
            self.kinds.update({sort: b for sort, kind in self.kinds.items() if kind == a})

    def kind(self, sort: str) -> str:
        """The kind of a sort, or of a kind as it is written, `[Nat]`."""
        inner = sort.strip("[]").split(",")[0]
        return self.kinds.get(inner, inner)

    def below(self, low: str, high: str) -> bool:
        return low == high or high in self.above.get(low, ())

    def may_meet(self, one: str, two: str) -> bool:
        """Can a term be of both sorts? One of a kind only (`[Nat]`) can be of any."""
        if "[" in one + two or "?" in one + two:
            return self.same_kind(one, two) or "?" in one + two
        return any(self.below(sort, one) and self.below(sort, two) for sort in self.sorts)

    def same_kind(self, one: str, two: str) -> bool:
        return self.kind(one) == self.kind(two)

    def least_sort(self, node: Node) -> str:
        """The least sort of a term; the kind's own name where no declaration fits."""
        if isinstance(node, Variable) or (not node.args and node.sort):
            return node.sort
        given = [self.least_sort(arg) for arg in node.args]
        declared = self.declared(node.op, len(given))
        ranges = [o.range for o in declared if all(map(self.below, given, o.domain))]
        for domain, sort in self.memberships.get((node.op, len(given)), ()):
            if all(map(self.below, given, domain)):
                ranges.append(sort)
        for sort in ranges:
            if all(self.below(sort, other) for other in ranges):
                return sort
        for operator in declared:
            if all(map(self.same_kind, given, operator.domain)):
                return f"[{self.kind(operator.range)}]"
        return f"[{self.kind(declared[0].range)}]" if declared else "?"

    def declared(self, name: str, arity: int) -> Sequence[Operator]:
        """The declarations of an operator; a flattened one is declared with two arguments."""
        found = self.operators.get((name, arity), [])
        if not found and arity > 2:
            found = [operator for operator in self.operators.get((name, 2), []) if operator.flat]
        return found

    def with_range(self, name: str, arity: int, fits: Callable[[str], bool]) -> Operator:
        """The declaration of an operator whose range is wanted: others may have the same name."""
        declared = self.declared(name, arity)
        return next((operator for operator in declared if fits(operator.range)), declared[0])

    def fitting(self, node: Apply) -> list[Operator]:
        """The declarations that an application can be of, by the kinds of its arguments."""
        given = [self.least_sort(arg) for arg in node.args]
        found = []
        for operator in self.declared(node.op, len(given)):
            domain = operator.domain if len(operator.domain) == len(given) else operator.domain[:1] * len(given)
            if all("?" in a or self.same_kind(a, b) for a, b in zip(given, domain, strict=True)):
                found.append(operator)
        return found

    def expected(self, node: Apply, index: int) -> set[str]:
        """The sorts that an operator wants for an argument."""
        given = [self.least_sort(arg) for arg in node.args]
        found = set()
        for operator in self.declared(node.op, len(node.args)):
            domain = operator.domain if len(operator.domain) == len(given) else operator.domain[:1] * len(given)
            if all(self.same_kind(a, b) or "?" in a for a, b in zip(given, domain, strict=True)):
                found.add(domain[index])
        return found

    def all_operators(self) -> list[Operator]:
        return [operator for each in self.operators.values() for operator in each]
