"""What steps touch, and what threads may still touch, derived from the rules: the defaults of a description.

A rule of a soup sees the parts that it matches and no others, so it touches exactly these: it reads a part that
it leaves as it is, and writes one that it changes, creates or removes. Two steps on different parts commute, in
any soup. Parts are told apart by their *keys*: arguments that no rule changes, and that the instruction of the
thread names. `[X = N]` with `load X into R` has the key X; a part without keys is one location as a whole. A
rule that looks at the rest of the soup touches anything. So does one with a part that equations turn into other
parts, or rewrite together with others: what it leaves behind is not what it says.

A thread may still touch what the instructions in its code name. That is so if instructions with keys are only
moved about, dropped or copied: no rule and no equation may make one with a key that was not there before, nor take
code out of the rest of the soup. Where that cannot be seen from the statements, the thread may do anything. A part
with several keys is named by an instruction that has all of them: an instruction is old only if all its keys stood
together in an old one, since two old keys may make a name that nothing had before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

from porcini.langs.maude.names import tokens
from porcini.langs.maude.terms import (
    Apply,
    Attributes,
    Node,
    Operator,
    Statement,
    Variable,
    condition_variables,
    subterms,
    variables,
)
from porcini.langs.maude.theory import Theory, ThreadRule

ANYTHING = "anything"
Part = tuple[str, int]
"""A constructor of parts: its name and its number of arguments."""
Positions = tuple[str, int, tuple[int, ...]]
"""Some arguments of an operator: its name, its number of arguments, which of them."""


def name_of(part: Apply) -> Part:
    return part.op, len(part.args)


@dataclass(frozen=True, slots=True)
class Access:
    """A part of the soup that a rule touches."""

    part: Part
    keys: tuple[Node, ...]
    writes: bool


@dataclass(slots=True)
class Derived:
    """Accesses by rule (None: anything), and instructions that name them."""

    keys: dict[Part, tuple[int, ...]] = field(default_factory=dict)
    """Which arguments tell parts apart."""
    accesses: dict[int, list[Access] | None] = field(default_factory=dict)
    """By the number of the rule."""
    names: dict[Part, str] = field(default_factory=dict)
    """The constructors of locations."""
    sorts: dict[Part, tuple[str, ...]] = field(default_factory=dict)
    """The sorts of their keys."""
    unknown: str | None = None
    """Why nothing is known of what threads may still do, if so."""
    uses: dict[Positions, list[tuple[Part, bool]]] = field(default_factory=lambda: defaultdict(list))
    """Arguments of instructions that are, in this order, all keys of a part; which part, and written or not."""
    always: list[Access] = field(default_factory=list)
    """What any thread may touch: parts without keys."""


def derive(theory: Theory) -> Derived:
    found = Derived()
    pairs = [paired(theory, rule) for rule in theory.rules]
    for rule, touched in zip(theory.rules, pairs, strict=True):
        for before, after in touched or ():
            part = before or after
            assert isinstance(part, Apply)
            name = name_of(part)
            stable = _stable(rule, before, after)
            known = found.keys.get(name)
            found.keys[name] = stable if known is None else tuple(k for k in known if k in stable)
    rewritten = rewritten_parts(theory)
    for name in found.keys.keys() & (rewritten.in_place | rewritten.away):
        found.keys[name] = ()
    _name(theory, found)
    for number, touched in enumerate(pairs):
        accesses = None if touched is None or rewritten.everything else [_access(found, pair) for pair in touched]
        if accesses and any(access.part in rewritten.away for access in accesses):
            accesses = None
        found.accesses[number] = accesses
    _future(theory, found)
    return found


Pair = tuple[Node | None, Node | None]
"""A part before and after a step; None where it is created or removed."""


def paired(theory: Theory, rule: ThreadRule) -> list[Pair] | None:
    """The parts that a rule touches; None if it looks at more than some parts, or at another thread."""
    if rule.partner is not None:
        return None
    if theory.levels and _looks_above(theory, rule):
        return None
    after = list(rule.around_after)
    pairs: list[Pair] = []
    rest = [part for part in rule.around if isinstance(part, Variable)]
    soup = theory.soup.range if theory.soup else theory.description.state
    for variable in rest:
        if not theory.signature.below(soup, variable.sort):
            return None  # some part, whichever: not the rest of them
        elsewhere = [*(p for p in rule.around if p is not variable), rule.thread, *rule.spawned]
        elsewhere += [p for p in after if p != variable] + ([rule.after] if rule.after else [])
        if (
            after.count(variable) != 1
            or variable in variables(*elsewhere)
            or variable in condition_variables(rule.statement.condition)
        ):
            return None
        after.remove(variable)
    if any(not isinstance(part, Apply) for part in after):
        return None
    for part in rule.around:
        if isinstance(part, Apply):
            same = [each for each in after if isinstance(each, Apply) and _similar(part, each)]
            partner = part if part in same else max(same, key=lambda each: _agreement(part, each), default=None)
            if partner is not None:
                after.remove(partner)
            pairs.append((part, partner))
    return pairs + [(None, part) for part in after]


def _looks_above(theory: Theory, rule: ThreadRule) -> bool:
    """Does a rule see, or change, what stands next to the soup in a state?"""
    left, right = rule.statement.left, rule.statement.right
    for operator, number in theory.levels:
        if not isinstance(left, Apply) or left.op != operator.name:
            return False  # it rewrites a part of the soup
        if not isinstance(right, Apply) or right.op != operator.name:
            return True
        others = [(a, b) for k, (a, b) in enumerate(zip(left.args, right.args, strict=True)) if k != number]
        if any(not isinstance(a, Variable) or a != b for a, b in others):
            return True
        left, right = left.args[number], right.args[number]
    return False


def _similar(one: Apply, two: Apply) -> bool:
    return one.op == two.op and len(one.args) == len(two.args)


def _agreement(one: Apply, two: Node) -> int:
    return sum(a == b for a, b in zip(one.args, two.args, strict=True)) if isinstance(two, Apply) else -1


def _stable(rule: ThreadRule, before: Node | None, after: Node | None) -> tuple[int, ...]:
    """The arguments that the thread knows and the step does not change."""
    part = before or after
    assert isinstance(part, Apply)
    known = variables(rule.thread)
    return tuple(
        number
        for number, arg in enumerate(part.args)
        if isinstance(arg, Variable)
        and arg in known
        and arg != rule.tid
        and (before is None or after is None or (isinstance(after, Apply) and after.args[number] == arg))
    )


@dataclass(slots=True)
class Rewritten:
    """The parts that equations rewrite."""

    in_place: set[Part] = field(default_factory=set)
    """One by one, each to another of its kind."""
    away: set[Part] = field(default_factory=set)
    """Together with others, or to something else: as functions are, too."""
    everything: bool = False
    """Could an equation rewrite whichever part, or make one out of a thread?"""


def rewritten_parts(theory: Theory) -> Rewritten:
    found = Rewritten()
    for equation in theory.equations:
        if equation.nonexec or not theory.in_states(theory.signature.least_sort(equation.left)):
            continue
        before, after = theory.parts(equation.left), theory.parts(equation.right)
        threads = [part for part in before if theory.is_thread(part)]
        others = [part for part in before if isinstance(part, Apply) and part not in threads]
        rest = [part for part in before if isinstance(part, Variable)]
        makes_parts = threads and not all(theory.is_thread(part) or part in rest for part in after)
        names_parts = (threads or others) and all(_is_rest(theory, equation, part) for part in rest)
        found.everything |= bool(makes_parts or not names_parts)
        in_place = len(before) == len(after) == 1 and all(
            isinstance(part, Apply) and _similar(part, other) for part in after for other in others
        )
        (found.in_place if in_place else found.away).update(map(name_of, others))
    return found


def _is_rest(theory: Theory, equation: Statement, variable: Node) -> bool:
    """Does a variable stand for the rest of a soup, not for some part of it, or for the same part twice?"""
    soup = theory.soup.range if theory.soup else theory.description.state
    covers = isinstance(variable, Variable) and theory.signature.below(soup, variable.sort)
    return covers and list(subterms(equation.left)).count(variable) == 1


def _name(theory: Theory, found: Derived) -> None:
    taken = {token for name, _ in theory.signature.operators for token in tokens(name)}
    for part, keys in found.keys.items():
        operator = theory.signature.with_range(*part, theory.is_part_sort)
        name, number = f"at-{operator.range}", 1
        while name in taken:
            number += 1
            name = f"at-{operator.range}{number}"
        taken.add(name)
        found.names[part] = name
        found.sorts[part] = tuple(operator.domain[key] for key in keys)


def _access(found: Derived, pair: Pair) -> Access:
    before, after = pair
    part = before or after
    assert isinstance(part, Apply)
    name = name_of(part)
    keys = tuple(part.args[number] for number in found.keys[name])
    return Access(name, keys, before != after)


def _future(theory: Theory, found: Derived) -> None:
    """Where instructions name what they touch; and whether they are only ever moved about."""
    for number, rule in enumerate(theory.rules):
        accesses = found.accesses[number]
        if rule.partner is not None:
            found.unknown = f"rule `{rule.label}` moves two threads"
            return
        if accesses is None:
            found.unknown = f"rule `{rule.label}` looks at more than some parts of the state"
            return
        for access in accesses:
            if not access.keys:
                found.always.append(access)
            positions = _positions(theory, rule.thread, access.keys)
            if access.keys and not positions:
                whom = "the thread itself" if len(access.keys) == 1 else "keys that no one instruction has"
                found.unknown = f"rule `{rule.label}` names what it touches by {whom}"
                return
            for position in positions:
                use = access.part, access.writes
                if use not in found.uses[position]:
                    found.uses[position].append(use)
    for rule in theory.rules:
        made = _made(
            theory, found, rule.statement, [rule.thread], [*([rule.after] if rule.after else []), *rule.spawned]
        )
        if made:
            found.unknown = f"rule `{rule.label}` {made}"
            return
    for equation in _at_work(theory):
        made = _made(theory, found, equation, [equation.left], [equation.right])
        if made:
            found.unknown = f"an equation {made}"
            return


def _at_work(theory: Theory) -> list[Statement]:
    """The equations that may be used inside a thread while it runs: those for what rules, or other such equations,
    leave behind. Functions that only make the initial state are none of them."""
    left = [equation for module in [*theory.touched, *theory.below] for equation in module.equations]
    left = [each for each in left if not _makes_a_state(theory, each)]
    called = {
        (node.op, len(node.args))
        for rule in theory.rules
        for node in (*subterms(rule.statement.right), *_in_condition(rule.statement))
        if isinstance(node, Apply)
    }
    found: list[Statement] = []
    while True:
        more = [each for each in left if _top(each) in called or _in_normal_form(theory, each.left)]
        if not more:
            return found
        found += more
        left = [each for each in left if each not in more]
        for equation in more:
            for node in (*subterms(equation.right), *_in_condition(equation)):
                if isinstance(node, Apply):
                    called.add((node.op, len(node.args)))


def _makes_a_state(theory: Theory, equation: Statement) -> bool:
    return theory.in_states(theory.signature.least_sort(equation.left)) and not theory.is_thread(equation.left)


def _in_condition(statement: Statement) -> list[Node]:
    return [
        each
        for kind, a, b in statement.condition
        for side in ((a,) if kind == ":" else (a, b))
        for each in subterms(side)
    ]


def _top(statement: Statement) -> tuple[str, int]:
    left = statement.left
    return (left.op, len(left.args)) if isinstance(left, Apply) else ("", 0)


def _in_normal_form(theory: Theory, node: Node) -> bool:
    """Is a term made by a constructor, so that it needs nobody to call it?"""
    return isinstance(node, Apply) and any(
        o.constructor for o in theory.signature.declared(node.op, len(node.args))
    )


def _positions(theory: Theory, thread: Node, keys: Sequence[Node]) -> list[Positions]:
    """The arguments at which keys stand directly under an instruction, all of them under the same one: what it
    names is then known from the instruction alone. Any one such instruction is enough, and all are remembered. The
    arguments of an operator that is commutative or associative have no places of their own."""
    if not keys:
        return []
    return [
        (node.op, len(node.args), numbers)
        for node in subterms(thread)
        if isinstance(node, Apply) and node is not thread
        if not any(o.commutes or o.flat for o in theory.signature.declared(node.op, len(node.args)))
        for numbers in product(*([n for n, arg in enumerate(node.args) if arg == key] for key in keys))
    ]


def _made(
    theory: Theory, found: Derived, statement: Statement, before: list[Node], after: list[Node]
) -> str | None:
    """What a statement puts into a thread that was not in it, if anything that matters."""
    there = {each for node in before for each in subterms(node)}
    relevant = relevant_kinds(theory, found)
    for node in after:
        for each in subterms(node):
            if isinstance(each, Variable):
                if each not in there and theory.signature.kind(each.sort) in relevant:
                    return f"brings `{each.name}` into a thread"
            else:
                for op, arity, numbers in found.uses:
                    if (op, arity) == (each.op, len(each.args)) and not any(
                        isinstance(old, Apply)
                        and _similar(old, each)
                        and all(old.args[number] == each.args[number] for number in numbers)
                        for old in there
                    ):
                        return f"makes an instruction `{each.op}`"
    return None


def relevant_kinds(theory: Theory, found: Derived) -> set[str]:
    """The kinds of terms in which instructions with keys may stand."""
    signature = theory.signature
    kinds = {
        signature.kind(operator.range)
        for name, arity, _ in found.uses
        for operator in signature.declared(name, arity)
    }
    while True:
        more = {
            signature.kind(operator.range)
            for operator in signature.all_operators()
            if not operator.attributes.special
            and not theory.in_states(operator.range)
            and any(signature.kind(sort) in kinds for sort in operator.domain)
        }
        if more <= kinds:
            return kinds
        kinds |= more


def constructors(theory: Theory, kinds: set[str]) -> list[Operator]:
    """The operators that terms in normal form are made of: those that no equation takes apart."""
    defined = {
        (equation.left.op, len(equation.left.args))
        for module in [*theory.touched, *theory.below]
        for equation in module.equations
        if isinstance(equation.left, Apply)
    }
    found: dict[tuple[str, ...], Operator] = {}
    kind = theory.signature.kind
    for operator in theory.signature.all_operators():
        if (
            not operator.attributes.special
            and kind(operator.range) in kinds
            and (operator.constructor or (operator.name, len(operator.domain)) not in defined)
        ):
            found.setdefault((operator.name, *map(kind, operator.domain)), operator)
    threads = [
        Operator(name, domain, sort, Attributes())
        for (name, _), known in theory.signature.memberships.items()
        for domain, sort in known
        if theory.is_thread_sort(sort) and kind(sort) in kinds
    ]
    return [*found.values(), *threads]
