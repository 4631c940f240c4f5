"""The marked-state theory (P1, section 3.2): threads carry a flag, and only those with the flag move, one step
at a time.

    enabled(U, B)       a thread with its flag
    ready(S)            a state before a step; P1's `{_}`
    moved(S, T)         a state after a step of thread T; P1's `[_]`. No rule applies to it

Every use of threads as parts of a state becomes one of marked threads, in operators, equations, propositions and
rules. A rule for a part of a state is given the rest of it, as context: `ready` and `moved` stand around whole
states.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from porcini.core.errors import InputError
from porcini.langs.maude.signature import Signature
from porcini.langs.maude.terms import Apply, Attributes, MetaModule, Node, Operator, Statement, Variable
from porcini.langs.maude.theory import Theory, ThreadRule, fresh, names_of

FALSE, TRUE = Apply("false", (), "Bool"), Apply("true", (), "Bool")
_CONSTRUCTOR = Attributes(("ctor",))
_FROZEN = Attributes(("ctor", "frozen"))


@dataclass(slots=True)
class Marked:
    """The marked theory: its module, the signature to print it with, and its rules in their contexts."""

    theory: Theory
    module: MetaModule
    signature: Signature

    def in_context(self, rule: ThreadRule, flag: Callable[[str], Node]) -> list[tuple[Node, Node]]:
        """Both sides of a rule as whole states; two pairs where the rest may be missing, and has no name for
        that. `flag` gives the flag of its own thread."""
        return _in_context(self.theory, rule, flag)


def marked(theory: Theory) -> Marked:
    _no_hooks(theory)
    description, names = theory.description, theory.names
    subsorts: list[tuple[str, str]] = []
    operators: list[Operator] = []
    equations: list[Statement] = []
    memberships: list[Statement] = []
    sorts: list[str] = []
    for module in theory.touched:
        sorts += [sort for sort in module.sorts if sort not in sorts]
        for low, high in module.subsorts:
            part = low == description.thread and theory.in_states(high)
            if not part or theory.threads_by_membership:
                subsorts.append((low, high))
            if part:
                subsorts.append((names["MThread"], high))
        operators += [_operator(theory, each) for each in module.operators]
        memberships += [_equation(theory, each) for each in module.memberships]
        equations += [_equation(theory, each) for each in module.equations]
    operators += [
        Operator(names["enabled"], (description.thread, "Bool"), names["MThread"], _CONSTRUCTOR),
        Operator(names["ready"], (description.state,), names["MState"], _FROZEN),
        Operator(names["moved"], (description.state, description.tid), names["MState"], _FROZEN),
    ]
    rules = tuple(each for rule in theory.rules for each in _marked_rules(theory, rule))
    found = MetaModule(
        theory.generated("MARKED"),
        tuple(theory.imports),
        (*sorts, names["MThread"], names["MState"]),
        tuple(dict.fromkeys(subsorts)),
        tuple(dict.fromkeys(operators)),
        tuple(memberships),
        tuple(equations),
        rules,
    )
    whole = MetaModule(
        "", (), tuple(theory.signature.sorts), (), tuple(theory.signature.all_operators()), (), (), ()
    )
    signature = Signature.of([whole, found])
    signature.elsewhere = theory.signature.elsewhere
    return Marked(theory, found, signature)


def _no_hooks(theory: Theory) -> None:
    """Operators that Maude itself computes cannot be declared again."""
    for module in theory.touched:
        for operator in module.operators:
            if operator.attributes.special:
                hint = "declare it in a module that knows nothing of states"
                message = f"the operator `{operator.name}` has an attribute that the transformation cannot keep"
                raise InputError(message, file=str(theory.file), hint=hint)


def _operator(theory: Theory, operator: Operator) -> Operator:
    if not theory.makes_states(operator):
        return operator
    low = theory.description.thread
    marked = theory.names["MThread"]
    domain = tuple(marked if theory.signature.below(sort, low) else sort for sort in operator.domain)
    return replace(operator, domain=domain)


def with_flags(theory: Theory, node: Node, flag: Callable[[Node], Node], top: bool = True) -> Node:
    """A term with its threads marked, where they are parts of a state."""
    if top and theory.is_thread(node):
        return Apply(theory.names["enabled"], (node, flag(node)))
    if not isinstance(node, Apply):
        return node
    args: list[Node] = []
    for number, arg in enumerate(node.args):
        if theory.is_part(node, number):
            args.append(Apply(theory.names["enabled"], (arg, flag(arg))))
        else:
            args.append(with_flags(theory, arg, flag, top=False))
    return Apply(node.op, tuple(args), node.sort)


def _equation(theory: Theory, equation: Statement) -> Statement:
    """An equation that keeps the flags of threads; a thread that it makes is not marked."""
    taken = names_of(equation)
    flags: dict[Node | None, Node] = {}

    def on_the_left(thread: Node) -> Node:
        tid = theory.tid_of(thread) or thread
        if tid not in flags:
            flags[tid] = Variable(fresh(taken, "Flag"), "Bool")
        return flags[tid]

    def on_the_right(thread: Node) -> Node:
        return flags.get(theory.tid_of(thread) or thread, FALSE)

    # An equation between threads goes on inside of its mark; one that makes other parts as well cannot.
    top = not theory.is_thread(equation.left) or not (equation.membership or theory.is_thread(equation.right))
    left = with_flags(theory, equation.left, on_the_left, top)
    condition = tuple(
        (
            kind,
            with_flags(theory, a, on_the_left if kind == ":=" else on_the_right),
            b if kind == ":" else with_flags(theory, b, on_the_right),
        )
        for kind, a, b in equation.condition
    )
    right = equation.right if equation.membership else with_flags(theory, equation.right, on_the_right, top)
    return replace(equation, left=left, right=right, condition=condition)


def _marked_rules(theory: Theory, rule: ThreadRule) -> list[Statement]:
    condition = tuple(
        (
            kind,
            with_flags(theory, a, lambda _: FALSE),
            b if kind == ":" else with_flags(theory, b, lambda _: FALSE),
        )
        for kind, a, b in rule.statement.condition
    )
    return [
        replace(
            rule.statement,
            left=Apply(theory.names["ready"], (left,)),
            right=Apply(theory.names["moved"], (right, rule.tid)),
            condition=condition,
        )
        for left, right in _in_context(theory, rule, lambda _: TRUE)
    ]


def _in_context(theory: Theory, rule: ThreadRule, flag: Callable[[str], Node]) -> list[tuple[Node, Node]]:
    taken = names_of(rule.statement)
    own = flag(fresh(taken, "Flag"))
    other = Variable(fresh(taken, "Flag"), "Bool") if rule.partner is not None else FALSE

    def of(thread: Node) -> Node:
        return own if theory.tid_of(thread) == rule.tid else FALSE

    def before(thread: Node) -> Node:
        return of(thread) if thread is not rule.partner else other

    alone = with_flags(theory, rule.statement.left, before), with_flags(theory, rule.statement.right, of)
    kind = theory.signature.kind(theory.signature.least_sort(rule.statement.left))
    if kind != theory.signature.kind(theory.thread_sort):
        return [alone]
    found = [alone]
    soup = theory.soup
    if soup is not None and not any(
        isinstance(part, Variable) and theory.signature.below(soup.range, part.sort) for part in rule.around
    ):
        rest = Variable(fresh(taken, "Ct"), soup.range)
        more = Apply(soup.name, (alone[0], rest)), Apply(soup.name, (alone[1], rest))
        found = [more] if soup.attributes.identity is not None else [alone, more]
    for operator, number in reversed(theory.levels):
        others = [Variable(fresh(taken, "Ct"), sort) for sort in operator.domain]
        first, last = others[:number], others[number + 1 :]
        found = [
            (Apply(operator.name, (*first, left, *last)), Apply(operator.name, (*first, right, *last)))
            for left, right in found
        ]
    return found
