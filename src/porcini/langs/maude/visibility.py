"""What propositions look at, and which steps could change it: P1's condition C2.

A step may be put before others only if it changes no proposition *wherever* it is taken: here, and after steps
of others that are independent of it. So P1 defines it (section 2), but what it checks (section 3.3) is only here,
and that is not enough. With a message in a channel, a send leaves its first message alone; once the other end has
received, the same send changes it.

An equation for a proposition, `P1 ... Pn S |= F = V if B`, looks at the parts P1 to Pn of a soup and at no more,
if S stands for the rest, occurs nowhere else, and may be empty. So whether it applies, and what it says, depends
on the parts that match some Pi together with F. A step is invisible if it changes no such part:

- Threads. Let a step of thread T lead from s to a(s), and let steps of others, independent of it, lead from s to
  s'. They commute, so a(s') is what these steps make of a(s). A step changes no thread but its own, and makes new
  ones. Hence T, and what T spawns, are the same terms in s' and in s, and in a(s') and in a(s): which threads are
  gone and which are new can be seen here. Of an equation that looks at one part alone, and says the same of all
  that match, it is enough that one of those that are gone matched if and only if one of the new ones does.
- Other parts may be different in s' (the channel), so the rule is asked. It changes the parts that its two sides
  do not have in common, and what is known of these is what the thread determines. If all of that matches Pi, the
  rest of it might, and the step is visible. The user may know better: `sees` names what a proposition looks at
  besides threads, by the locations of `touches`, and the step is visible if it writes one of these.

Where an equation for a proposition looks at more than that, at the rest or at a soup that must not be empty, all
steps are visible (`Whole`). A step is visible for all propositions if its rule looks at more than some parts, or
if equations rewrite a part that it touches: what comes of it is not what its sides say.

    View(N, U, P)       thread U matches the N-th pattern of an equation for P
    Alters(R, U, P)     rule R, taken by thread U, may change another part that P looks at, in some state
    Shows(R, U, P)      the same, or what the user knows better
    Whole(P)            P may look at all of a state
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from porcini.langs.maude.derived import Part, Rewritten, name_of, paired, rewritten_parts
from porcini.langs.maude.signature import Signature
from porcini.langs.maude.steps import Steps
from porcini.langs.maude.terms import (
    Apply,
    Fragment,
    Node,
    Statement,
    Variable,
    condition_variables,
    flattened,
    subterms,
    variables,
)
from porcini.langs.maude.theory import Theory, ThreadRule

SATISFIES = "_|=_"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A part of a state that an equation for a proposition looks at."""

    part: Apply
    proposition: Node
    condition: tuple[Fragment, ...] = ()
    alone: bool = False
    """Is it all that the equation looks at, and does the equation say the same of whatever matches?"""


@dataclass(slots=True)
class Visibility:
    """What the equations for propositions look at."""

    threads: list[Pattern] = field(default_factory=list)
    others: list[Pattern] = field(default_factory=list)
    whole: list[Node] = field(default_factory=list)
    """Propositions that may look at all of a state."""

    def text(self, steps: Steps) -> list[str]:
        """Both for marked states and for plain ones: it speaks of threads."""
        printer = steps.printer
        thread = printer.kept(steps.theory.thread_sort)
        sights: dict[Sight, str] = {}
        alters = [line for rule in steps.theory.rules for line in self._alters(steps, rule, sights)]
        return [
            "  --- What propositions look at, and which rules may change it.",
            f"  op View : Nat {thread} Prop -> Bool .",
            f"  ops Shows Alters : Qid {thread} Prop -> Bool [memo] .",
            "  op Whole : Prop -> Bool .",
            *(_view(steps, number, each) for number, each in enumerate(self.threads)),
            f"  eq View(N, U, {_ANY}) = false [owise] .",
            *(line for sight, name in sights.items() for line in self._sees(steps, sight, name)),
            *dict.fromkeys(alters),
            f"  eq Alters(R, U, {_ANY}) = false [owise] .",
            f"  eq Shows(R, U, {_ANY}) = {_shown(steps.theory)} .",
            *dict.fromkeys(f"  eq Whole({printer.term(each)}) = true ." for each in self.whole),
            f"  eq Whole({_ANY}) = false [owise] .",
        ]

    def _alters(self, steps: Steps, rule: ThreadRule, sights: dict[Sight, str]) -> Iterator[str]:
        """When a rule may change a part that a proposition looks at: what the thread knows of it must match."""
        label, printer = steps.label(rule.label), steps.printer
        changed = _changed(steps.theory, rule)
        if changed is None:
            yield f"  eq Alters({label}, U, {_ANY}) = true ."
            return
        determined = variables(rule.thread, *(left for kind, left, _ in rule.own_condition if kind == ":="))
        looked_at = {name_of(pattern.part) for pattern in self.others}
        for part in changed:
            if name_of(part) in looked_at:
                known = tuple(number for number, arg in enumerate(part.args) if variables(arg) <= determined)
                sees = sights.setdefault((name_of(part), known), f"Sees{len(sights)}")
                args = ", ".join((*(printer.term(part.args[number]) for number in known), _ANY))
                own = [printer.condition(rule.own_condition)] if rule.own_condition else []
                condition = " /\\ ".join([*own, f"{sees}({args})"])
                yield f"  ceq Alters({label}, {printer.term(rule.thread)}, {_ANY}) = true if {condition} ."

    def _sees(self, steps: Steps, sight: Sight, name: str) -> Iterator[str]:
        """Might a part be looked at, by some of its arguments? A function of its own: in a condition, `X := Y` may
        be an instruction of the user's."""
        (op, arity), known = sight
        signature, printer = steps.theory.signature, steps.printer
        domain = signature.with_range(op, arity, steps.theory.is_part_sort).domain
        kinds = "".join(printer.kept(f"[{signature.kind(domain[number])}] ") for number in known)
        yield f"  op {name} : {kinds}Prop -> Bool ."
        for looked in self.others:
            if name_of(looked.part) == (op, arity):
                args = [looked.part.args[number] for number in known]
                yield f"  eq {name}({', '.join(map(printer.term, (*args, looked.proposition)))}) = true ."
        free = [printer.kept(f"X{number}:[{signature.kind(domain[number])}]") for number in known]
        yield f"  eq {name}({', '.join((*free, _ANY))}) = false [owise] ."


Sight = tuple[Part, tuple[int, ...]]
"""A constructor of parts, and which of its arguments are known."""
_ANY = "P:Prop"


def look_at(theory: Theory) -> Visibility:
    """Read the equations for propositions."""
    found = Visibility()
    rewritten = rewritten_parts(theory)
    for equation in theory.equations:
        if not _defines_a_proposition(theory, equation):
            continue
        assert isinstance(equation.left, Apply)
        proposition = equation.left.args[1]
        parts = _looked_at(theory, equation)
        if rewritten.everything or parts is None or not all(_is_plain(theory, part, rewritten) for part in parts):
            found.whole.append(proposition)
            continue
        alone = len(parts) == 1 and not variables(equation.right)
        for part in parts:
            if theory.is_thread(part):
                condition = equation.condition if alone else ()
                found.threads.append(Pattern(part, proposition, condition, alone))
            else:
                found.others.append(Pattern(part, proposition))
    return found


def _defines_a_proposition(theory: Theory, equation: Statement) -> bool:
    left = equation.left
    if not isinstance(left, Apply) or left.op != SATISFIES or len(left.args) != 2 or equation.nonexec:
        return False
    sort = theory.signature.least_sort(left.args[1])
    return sort == "?" or theory.signature.same_kind(sort, "Prop")


def _looked_at(theory: Theory, equation: Statement) -> list[Apply] | None:
    """The parts of a state that an equation looks at; None if that may be all of it."""
    assert isinstance(equation.left, Apply)
    node, soup = equation.left.args[0], theory.soup
    if soup is None or soup.attributes.identity is None:
        return None
    rest: list[tuple[Node, str]] = []
    parts: list[Node] = []
    sort = theory.description.state
    for operator, number in theory.levels:
        if isinstance(node, Variable):
            break
        if node.op != operator.name or len(node.args) != len(operator.domain):
            return None
        rest += [pair for k, pair in enumerate(zip(node.args, operator.domain, strict=True)) if k != number]
        node, sort = node.args[number], operator.domain[number]
    if isinstance(node, Apply):
        parts = [part for part in flattened(node, soup.name) if part != soup.attributes.identity]
        open_ended = [part for part in parts if isinstance(part, Variable)]
        if len(open_ended) != 1:
            return None
        node, sort = open_ended[0], soup.range
    rest.append((node, sort))
    if not all(_stands_for_the_rest(theory.signature, equation, *each) for each in rest):
        return None
    return [part for part in parts if isinstance(part, Apply)]


def _stands_for_the_rest(signature: Signature, equation: Statement, node: Node, sort: str) -> bool:
    """Is it a variable for whatever is there, which nobody looks at?"""
    if not isinstance(node, Variable) or not signature.below(sort, node.sort):
        return False
    elsewhere = variables(equation.right) | condition_variables(equation.condition)
    return node not in elsewhere and list(subterms(equation.left)).count(node) == 1


def _is_plain(theory: Theory, part: Apply, rewritten: Rewritten) -> bool:
    """Does a pattern match parts by their arguments, one by one, and hold no parts of its own?"""
    if any(theory.in_states(theory.signature.least_sort(each)) for arg in part.args for each in subterms(arg)):
        return False
    if theory.is_thread(part):
        return True  # Maude matches it as it is
    declared = theory.signature.declared(part.op, len(part.args))
    return not _is_rewritten(part, rewritten) and not any(
        operator.flat
        or operator.commutes
        or operator.attributes.special
        or operator.attributes.identity is not None
        or {"idem", "iter"} & set(operator.attributes.flags)
        or theory.signature.below(operator.range, theory.thread_sort)
        for operator in declared
    )


def _changed(theory: Theory, rule: ThreadRule) -> list[Apply] | None:
    """The parts besides threads that a rule changes, as they are before and after; None if it may be any."""
    pairs, rewritten = paired(theory, rule), rewritten_parts(theory)
    if pairs is None or rewritten.everything:
        return None
    touched = [part for pair in pairs for part in pair if isinstance(part, Apply)]
    if any(_is_rewritten(part, rewritten) for part in touched):
        return None
    return [part for pair in pairs if pair[0] != pair[1] for part in pair if isinstance(part, Apply)]


def _is_rewritten(part: Apply, rewritten: Rewritten) -> bool:
    return name_of(part) in rewritten.in_place | rewritten.away


def _shown(theory: Theory) -> str:
    """What the user says about a proposition, or else what the rules say. Both speak of the same locations only if
    `touches` is the user's as well."""
    by_rules = f"Alters(R, U, {_ANY})"
    if theory.description.dependence is None or not theory.signature.declared("sees", 1):
        return by_rules
    return f"if Known(sees({_ANY})) then Clash(Offers(R, nothing, U), sees({_ANY})) else {by_rules} fi"


def _view(steps: Steps, number: int, pattern: Pattern) -> str:
    printer = steps.printer
    head = f"View({number}, {printer.term(pattern.part)}, {printer.term(pattern.proposition)}) = true"
    return f"  ceq {head} if {printer.condition(pattern.condition)} ." if pattern.condition else f"  eq {head} ."
