"""What each rule means for a thread by itself, as Maude equations: what it offers, and what it may still do.

    Offers(R, F, U)     F and all that thread U may touch by rule R, whether it can take it now or not
    Ways(N, Ys, U)      Ys and the ways in which U offers the N-th rule
    Now(U), Future(U)   all that its next step may touch; all that it may still touch
    Uses, Weight        functions over the terms that threads are made of

They speak of threads, not of states: the same text serves marked states and plain ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from porcini.langs.maude.derived import Derived, constructors, relevant_kinds
from porcini.langs.maude.signature import Signature
from porcini.langs.maude.terms import Apply, Node, Operator, Variable, flattened, variables
from porcini.langs.maude.text import Filling, Printer, variable_table
from porcini.langs.maude.theory import Theory, ThreadRule
from porcini.langs.maude.touches import are_declared

_VARIABLES = (
    ("U W", "{thread}"),
    ("T", "{tid}"),
    ("Y Z", "Way"),
    ("Ys", "WayList"),
    ("F G", "Footprint"),
    ("L L'", "Location"),
    ("R", "Qid"),
    ("N", "Nat"),
)


_SECTIONS = Path(__file__).with_name("sections.txt")


@cache
def _sections() -> dict[str, str]:
    parts = _SECTIONS.read_text(encoding="utf-8").split("=== ")[1:]
    return {name: text.rstrip() for name, _, text in (part.partition("\n") for part in parts)}


_PLAIN_CLASH = "".join(
    f"  eq Clash({one}(L) & F, {two}(L) & G) = true .\n"
    for one, two in (("writes", "writes"), ("writes", "reads"), ("reads", "writes"), ("awaits", "writes"))
)
"""What is otherwise where locations are in groups."""
_OF_STATES = re.compile(r"\b(Apart|Undisturbed|Disturbs)(\((?:[^()]|\([^()]*\))*)\)")


def _with_states(text: str) -> str:
    """A section in which it depends on the state what threads may still do."""
    text = text.replace(
        "ops Disturbs Depends : @thread@ @thread@ -> Bool [memo] .",
        "op Disturbs : @thread@ @thread@ @state@ -> Bool .\n  op Depends : @thread@ @thread@ -> Bool [memo] .\n"
        "  op FutureIn : @thread@ @state@ -> Footprint .",
    )
    text = text.replace("op Apart : ThreadList ThreadList ->", "op Apart : ThreadList ThreadList @state@ ->")
    text = text.replace("Undisturbed : ThreadList @thread@ ->", "Undisturbed : ThreadList @thread@ @state@ ->")
    return _OF_STATES.sub(r"\1\2, C)", text).replace("Future(W)", "FutureIn(W, C)")


def future_of_states(theory: Theory) -> bool:
    """Does what a thread may still do depend on the state (P1's ThreadTransitions), as `future` says it?"""
    kind, state = theory.signature.kind, theory.description.state
    return theory.description.future is not None and any(
        (kind(one), kind(two)) == (kind(theory.thread_sort), kind(state))
        for one, two in (operator.domain for operator in theory.signature.declared("future", 2))
    )


def variables_of(theory: Theory, table: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Variables of ours as they are called, with the sorts that a description names, or with sorts of ours."""
    description, names = theory.description, theory.names
    sorts = {"state": description.state, "thread": description.thread, "tid": description.tid}
    return {
        names[name]: sort.format(**sorts) if sort.startswith("{") else names[sort]
        for listed, sort in table
        for name in listed.split()
    }


class Steps:
    """Writes equations about threads. `marks`: do threads in states carry flags? `plain`: see `Printer`."""

    def __init__(
        self,
        theory: Theory,
        derived: Derived,
        signature: Signature,
        own: dict[str, str],
        *,
        marks: bool,
        plain: bool = False,
    ) -> None:
        self.theory = theory
        self.derived = derived
        self.marks = marks
        own = variables_of(theory, _VARIABLES) | own
        rules = [rule.statement for rule in theory.rules]
        constants = {name for name, arity in signature.operators if arity == 0}
        theirs = {name: s for name, s in variable_table(rules).items() if name not in {*own, *constants}}
        self.variables = theirs | own
        self.printer = Filling(Printer(signature, self.variables, plain=plain), theory.names)
        self.by_state = future_of_states(theory)
        self.labels = list(dict.fromkeys(rule.label for rule in theory.rules))

    def declared(self) -> list[str]:
        """The variables, as they are declared."""
        by_sort: dict[str, list[str]] = {}
        for name, sort in self.variables.items():
            by_sort.setdefault(sort, []).append(name)
        kept = self.printer.kept
        return [
            f"  var{'s' if len(names) > 1 else ''} {kept(' '.join(names))} : {kept(sort)} ."
            for sort, names in by_sort.items()
        ]

    def section(self, name: str) -> str:
        """A part of a generated module that is the same for all theories, but for what the description says."""
        text = _sections()[name]
        if self.by_state:
            text = _with_states(text)
        if are_declared(self.theory):
            text = text.replace(_PLAIN_CLASH, f"{_sections()['groups']}\n")
        for key in ("state", "thread", "tid"):
            text = text.replace(f"@{key}@", self.printer.kept(getattr(self.theory.description, key)))
        return text

    def signature(self) -> str:
        return self.section("signature of steps")

    def label(self, label: str) -> str:
        """The name of a rule, as a constant."""
        return self.printer.kept(f"'{label}")

    def text(self) -> list[str]:
        return [*self._touches(), "", *self._futures(), "", self.section("footprints")]

    def weights(self) -> list[str]:
        """How much a thread has left to do: the size of its term."""
        return self._recursion("Weight", self._below_threads(), lambda *_: ["1"], "1", " + ")

    def _touches(self) -> list[str]:
        """What the steps that a thread offers touch."""
        given = self.theory.description.dependence is not None
        lines = ["  --- What the steps that a thread offers touch, whether it can take them now or not."]
        if not given:
            lines += [
                f"  op {self.derived.names[part]} : {self.printer.kept(' '.join(sorts))} -> Location [ctor] ."
                for part, sorts in self.derived.sorts.items()
            ]
        for number, rule in enumerate(self.theory.rules):
            pattern = self.printer.term(rule.thread)
            whole = f"enabled({pattern}, false)" if self.marks and self.of_states() else pattern
            label = self.label(rule.label)
            foot = f"Sure(touches({label}, {whole}))" if given else self.footprint(number)
            if rule.partner is not None:
                foot = "anything"
            head = f"Offers({label}, %s, {pattern})"
            own = [self.printer.condition(rule.own_condition)] if rule.own_condition else []
            condition = " /\\ ".join([*own, f"G := {foot}", "(F & G) =/= F"])
            lines.append(f"  ceq {head % 'F'} = {head % '(F & G)'} if {condition} .")
            lines += self._ways(number, rule)
        numbers = range(len(self.theory.rules))
        lines += [
            "  eq Offers(R, F, U) = F [owise] .",
            "  eq Ways(N, Ys, U) = Ys [owise] .",
            "  eq AllWays(U) = " + " ;; ".join(f"Ways({number}, noWay, U)" for number in numbers) + " .",
            "  eq Y in noWay = false .",
            "  eq Y in Z ;; Ys = Y == Z or-else Y in Ys .",
            "  eq Alone(Y) = true .",
            "  eq Alone(Ys) = false [owise] .",
        ]
        lines += [
            "  eq Offered(U) = "
            + " & ".join(f"Offers({self.label(each)}, nothing, U)" for each in self.labels)
            + " .",
            "  --- Who can move, and in one way only, waits for nothing.",
            "  eq Now(U) = if Alone(AllWays(U)) then Going(Offered(U)) else Offered(U) fi .",
        ]
        return lines

    def of_states(self) -> bool:
        """Is `touches` defined for states, or parts of them, rather than for threads?"""
        declared = self.theory.signature.declared("touches", 2)
        return not any(self.theory.signature.below(o.domain[1], self.theory.thread_sort) for o in declared)

    def _ways(self, number: int, rule: ThreadRule) -> list[str]:
        """Count the ways in which a thread offers a rule: by the values of variables, where these may vary."""
        matched = [left for kind, left, _ in rule.own_condition if kind == ":="]
        own = sorted(variables(rule.thread, *matched), key=lambda each: each.name)
        if all(map(self.one_way, (rule.thread, *matched))):
            own = []
        domain = " ".join(self.printer.kept(each.sort) for each in own)
        shown = ", ".join(map(self.printer.term, own))
        way = f"way{number}({shown})" if own else f"way{number}"
        meets = []
        if rule.partner is not None:  # whom others may move is not at its end
            later = len(self.theory.rules) + number
            meets = [f"  eq Ways({later}, noWay, {self.printer.term(rule.partner)}) = way{later} ."]
            meets.insert(0, f"  op way{later} : -> Way [ctor] .")
        head = f"Ways({number}, %s, {self.printer.term(rule.thread)})"
        conditions = [self.printer.condition(rule.own_condition)] if rule.own_condition else []
        condition = " /\\ ".join([*conditions, f"not ({way} in Ys)"])
        return [
            f"  op way{number} : {domain}{' ' if domain else ''}-> Way [ctor] .",
            f"  ceq {head % 'Ys'} = {head % f'(Ys ;; {way})'} if {condition} .",
            *meets,
        ]

    def one_way(self, pattern: Node) -> bool:
        """Can a pattern match a term in one way at most, as far as can be seen?"""
        if isinstance(pattern, Variable):
            return True
        declared = self.theory.signature.declared(pattern.op, len(pattern.args))
        args = pattern.args
        if any(operator.flat for operator in declared):
            args = tuple(flattened(pattern, pattern.op))
            if sum(isinstance(arg, Variable) for arg in args) > 1:
                return False
        if any(operator.commutes for operator in declared) and variables(pattern):
            return False
        return all(map(self.one_way, args))

    def footprint(self, number: int) -> str:
        """What a rule touches, as the tool derives it."""
        accesses = self.derived.accesses[number]
        if accesses is None:
            return "anything"
        shown = [
            self._location(access.part, [self.printer.term(key) for key in access.keys], access.writes)
            for access in accesses
        ]
        return " & ".join(dict.fromkeys(shown)) or "nothing"

    def _location(self, part: tuple[str, int], keys: Sequence[str], writes: bool) -> str:
        name = self.derived.names[part]
        location = f"{name}({', '.join(keys)})" if keys else name
        return f"{'writes' if writes else 'reads'}({location})"

    def _futures(self) -> list[str]:
        """All that a thread may still touch."""
        lines = ["  --- All that a thread may still touch, with all that it may spawn."]
        description = self.theory.description
        if self.theory.has_rendezvous:
            return [*lines, "  --- Nothing is known: threads meet.", "  eq Future(U) = anything ."]
        if self.by_state:
            asked = ["  eq FutureIn(U, C) = Sure(future(U, C)) ."] if self.marks else []
            return [*lines, *asked, "  eq Future(U) = anything ."]
        if description.future:
            return [*lines, "  eq Future(U) = Sure(future(U)) ."]
        if description.dependence or self.derived.unknown:
            why = self.derived.unknown or "`touches` is given, and `future` is not"
            return [*lines, f"  --- Nothing is known: {why}.", "  eq Future(U) = anything ."]
        always = [self._location(access.part, (), access.writes) for access in self.derived.always]
        kinds = relevant_kinds(self.theory, self.derived) | {self.theory.signature.kind(self.theory.thread_sort)}
        uses = self._recursion("Uses", kinds, self._named, "nothing", " & ")
        whole = " & ".join(dict.fromkeys([*always, "Uses(U)"]))
        return [*lines, f"  eq Future(U) = {whole} .", *uses]

    def _named(self, operator: Operator, args: Sequence[str]) -> list[str]:
        """What an instruction names, given its arguments."""
        found = []
        same_kind = self.theory.signature.same_kind
        for (name, arity, numbers), uses in self.derived.uses.items():
            if (name, arity) != (operator.name, len(args)):
                continue
            for part, writes in uses:
                given = [operator.domain[number] for number in numbers]
                if all(map(same_kind, given, self.derived.sorts[part])):  # or it is another of that name
                    found.append(self._location(part, [args[number] for number in numbers], writes))
        return found

    def _below_threads(self) -> set[str]:
        """The kinds of terms that threads are made of."""
        signature = self.theory.signature
        kinds = {signature.kind(self.theory.thread_sort)}
        shapes = {(rule.thread.op, len(rule.thread.args)) for rule in self.theory.rules}
        left = [sort for shape in shapes for o in signature.declared(*shape) for sort in o.domain]
        seen: set[str] = set()
        while left:
            kind = signature.kind(left.pop())
            if kind in seen or kind == signature.kind(self.theory.description.state):
                continue
            seen.add(kind)
            left += [sort for o in constructors(self.theory, {kind}) for sort in o.domain]
        users = {
            signature.kind(sort) for module in [*self.theory.touched, *self.theory.below] for sort in module.sorts
        }
        if self.theory.threads_by_membership:
            users.add(signature.kind("AttributeSet"))  # which is where objects have what is theirs
        return kinds | (seen & users)

    def _recursion(
        self,
        function: str,
        kinds: set[str],
        here: Callable[[Operator, Sequence[str]], list[str]],
        base: str,
        join: str,
    ) -> list[str]:
        """A function over the terms that threads are made of."""
        theory, signature = self.theory, self.theory.signature
        threads = {(rule.thread.op, len(rule.thread.args)) for rule in theory.rules}
        thread_kind = signature.kind(theory.thread_sort)
        range_ = "Footprint" if function == "Uses" else "Nat"
        lines = []
        for kind in sorted(kinds):
            sort = self.printer.kept(theory.thread_sort if kind == thread_kind else f"[{kind}]")
            lines.append(f"  op {function} : {sort} -> {range_} [memo] .")
        for operator in constructors(theory, kinds):
            in_threads = (operator.name, len(operator.domain)) in threads
            in_threads = in_threads and theory.is_thread_sort(operator.range)
            if signature.kind(operator.range) == thread_kind and not in_threads:
                continue
            domain = operator.domain
            args: list[Node] = [Variable(f"X{number}", sort) for number, sort in enumerate(domain)]
            shown = [self.printer.term(arg) for arg in args]
            inner = [
                f"{function}({text})"
                for text, sort in zip(shown, domain, strict=True)
                if signature.kind(sort) in kinds - {thread_kind}
            ]
            values = [*here(operator, shown), *inner]
            left = self.printer.term(Apply(operator.name, tuple(args), operator.range if not args else ""))
            identity = operator.attributes.identity
            text = f"{function}({left}) = {join.join(values) or base}"
            if identity is not None and operator.flat:
                unit = self.printer.term(identity)
                lines.append(f"  ceq {text} if " + " /\\ ".join(f"{each} =/= {unit}" for each in shown) + " .")
            else:
                lines.append(f"  eq {text} .")
        for kind in sorted(kinds):
            sort = self.printer.kept(f"X:{theory.thread_sort if kind == thread_kind else f'[{kind}]'}")
            lines.append(f"  eq {function}({sort}) = {base if function == 'Weight' else 'anything'} [owise] .")
        return lines
