"""The theory with partial order reduction built in (P1, section 3.2 and 3.3), as a Maude module that a person
can read.

    transformed     the modules: the marked theory, then the one that chooses ample sets
    _statements     what it says about each rule: when a thread offers it, can take it, and what comes of it

A state of it is `{ ready(S) | I }`: a state with marked threads, and what has to be remembered. Its only rule is
`step`. After each step `MarkAmples` marks the threads that are enough:

- C'1, corrected (erratum 1): nothing that *any* other thread may still do, enabled or not, conflicts with what the
  chosen ones offer, enabled or not. All that a thread can do belongs together (erratum 2): threads are marked, not
  transitions.
- C2: none of their steps changes a proposition of the formula, here or wherever it is taken (`visibility`).
- C3, by the state information: `left-out(T, S)` says that T could move at S and was left out, and has not moved
since.
  Back at S, T must not be left out again. P1 keeps such a pair for every state; here only for steps after which
  threads have not become smaller. Along a circle of states that cannot be so at every step, which is enough, and
  a program without loops needs to remember nothing. When all threads go, all is forgotten: a circle through such
  a state is fine.
- The heuristic on the right of Fig. 1 marks every thread of its set, not one (erratum 3).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from porcini.langs.maude import bindings
from porcini.langs.maude.derived import derive
from porcini.langs.maude.marking import FALSE, TRUE, Marked, marked, with_flags
from porcini.langs.maude.steps import Steps, variables_of
from porcini.langs.maude.terms import Apply, Node, Statement, Variable, read_term
from porcini.langs.maude.text import module_text
from porcini.langs.maude.theory import Theory, ThreadRule, fresh, names_of
from porcini.langs.maude.visibility import look_at
from porcini.langs.maude.written import Written

Heuristic = Literal["single", "closure"]
LIBRARIES = ("EXT-BOOL", "NAT", "QID")
"""What generated modules import besides."""

_VARIABLES = (
    ("C C'", "{state}"),
    ("Us Vs Ws Es Cs", "ThreadList"),
    ("Ss", "StateList"),
    ("B", "Bool"),
    ("I", "StateInfo"),
    ("M M'", "MState"),
    ("Qs Xs", "SetList"),
    ("O", "PState"),
)


def transformed(theory: Theory, heuristic: Heuristic, watched: Sequence[str], *, plain: bool) -> list[Written]:
    """The transformed theory: two modules. `watched` are the propositions of a formula; `plain`: see `Printer`."""
    found = marked(theory)
    por = _Reduction(found, heuristic, watched, plain=plain)
    text = por.text()
    return [
        Written(module_text(found.module, found.signature, plain=plain), found.signature, found.module),
        Written(text, found.signature, terms=por.printer.terms, name=theory.generated("REDUCED")),
    ]


def heading(theory: Theory, load: str | None) -> str:
    """What stands before a transformed theory in a file; `load` is where the theory is."""
    renamed = [f"{name} is {instead}" for name, instead in theory.names.instead.items()]
    lines = [
        f"--- {theory.description.module} with partial order reduction built in, made by `porcini transform`.",
        *([f"--- Names that the theory has, too, are others here: {', '.join(renamed)}."] if renamed else []),
        *(["", bindings.interface(), f"sload {load}"] if load else []),
        "",
    ]
    return "\n".join(lines)


class _Reduction:
    """Writes the module that chooses ample sets."""

    def __init__(
        self, found: Marked, heuristic: Heuristic, watched: Sequence[str], *, plain: bool = False
    ) -> None:
        self.marked = found
        self.theory = theory = found.theory
        self.heuristic = heuristic
        self.watched = watched
        own, names = variables_of(theory, _VARIABLES), theory.names
        if theory.soup:
            own[names["S"]] = theory.soup.range
        if watched:
            own |= {names["P"]: "Prop", names["Ps"]: names["PropList"]}
        self.visibility = look_at(theory)
        self.steps = Steps(theory, derive(theory), found.signature, own, marks=True, plain=plain)
        self.printer = self.steps.printer

    def text(self) -> str:
        theory, description = self.theory, self.theory.description
        lines = [
            self.printer.kept(f"mod {theory.generated('REDUCED')} is"),
            self.printer.kept(f"  including {theory.generated('MARKED')} ."),
            *self.printer.kept_lines(f"  protecting {name} ." for name in LIBRARIES),
            self.printer.kept(f"  protecting {theory.names.interface} ."),
            *(["  including MODEL-CHECKER ."] if description.propositions else []),
            "",
            self.steps.signature(),
            self.steps.section("signature"),
            *([self.steps.section("signature of propositions")] if self.watched else []),
            *(["  subsort PState < State ."] if description.propositions else []),
            "",
            *self.steps.declared(),
            "",
            self.steps.section("step").replace("@initial@", self._initial()),
            *(["  eq { ready(C) | I } |= P:Prop = C |= P:Prop ."] if description.propositions else []),
            "",
            *self._parts(),
            "",
            "  --- What each rule needs, and what comes of it.",
            *self._statements(),
            "",
            *self.steps.text(),
            "",
            "  --- How much a thread has left to do: the size of its term.",
            *self.steps.weights(),
            "",
            self.steps.section("choice"),
            *self._visible(),
            self.steps.section(self.heuristic),
            "endm",
            "",
        ]
        return self.printer.filled("\n".join(lines))

    def _initial(self) -> str:
        """The initial state, with its threads marked as those of other states."""
        return self.printer.term(with_flags(self.theory, self.theory.initial, lambda _: FALSE))

    def _soup(self, part: Node) -> str:
        """A part with the rest of its soup."""
        soup = self.theory.soup
        if soup is None:
            return self.printer.term(part)
        return self.printer.term(Apply(soup.name, (part, Variable(self.theory.names["S"], soup.range))))

    def _parts(self) -> list[str]:
        """The threads of a state, and how to mark them."""
        theory = self.theory
        sorts = [theory.description.state, *(operator.domain[number] for operator, number in theory.levels)]
        kinds = {theory.signature.kind(sort): sort for sort in reversed(sorts)}
        lines = ["  --- The threads of a state, and a state with some of them marked, or none."]
        for sort in map(self.printer.kept, kinds.values()):
            lines.append(f"  op Threads : {sort} -> ThreadList .")
            lines.append(f"  op Mark : {sort} ThreadList -> {sort} .")
            lines.append(f"  op Unmark : {sort} -> {sort} .")
        names = theory.names
        thread = Variable(names["U"], theory.thread_sort)
        flags: tuple[Node, ...] = (Variable(names["B"], "Bool"), FALSE, TRUE)
        one, off, on = (Apply(names["enabled"], (thread, flag)) for flag in flags)
        soup = theory.soup
        if soup is not None:
            lines += [
                f"  eq Threads({self._soup(one)}) = U ;; Threads(S) .",
                f"  eq Mark({self._soup(one)}, U ;; Cs) = Mark({self._soup(on)}, Cs) .",
                f"  eq Unmark({self._soup(on)}) = Unmark({self._soup(off)}) .",
                "  eq Threads(S) = noThread [owise] .",
                "  eq Mark(S, noThread) = S .",
                "  eq Unmark(S) = S [owise] .",
            ]
        if soup is None or soup.attributes.identity is None:
            lines += [
                "  eq Threads(enabled(U, B)) = U .",
                "  eq Mark(enabled(U, B), Cs) = enabled(U, U in Cs) .",
                "  eq Unmark(enabled(U, B)) = enabled(U, false) .",
            ]
        for operator, number in theory.levels:
            others: list[Node] = [Variable(f"X{k}", sort) for k, sort in enumerate(operator.domain)]
            whole, inner = (
                self.printer.term(Apply(operator.name, tuple(others))),
                self.printer.term(others[number]),
            )
            lines.append(f"  eq Threads({whole}) = Threads({inner}) .")
            few = Variable(names["Cs"], names["ThreadList"])
            for function, more in (("Mark", (few,)), ("Unmark", ())):
                changed = list(others)
                changed[number] = Apply(names[function], (others[number], *more))
                after = self.printer.side(Apply(operator.name, tuple(changed)))
                lines.append(f"  eq {function}({whole}{', Cs' if more else ''}) = {after} .")
        tids = {}
        for rule in self.theory.rules:
            shape = rule.thread.op, len(rule.thread.args)
            if shape not in tids:
                index = rule.thread.args.index(rule.tid)
                domain = self.theory.signature.with_range(*shape, self.theory.is_thread_sort).domain
                args: list[Node] = [Variable(f"X{k}", sort) for k, sort in enumerate(domain)]
                args[index] = Variable(names["T"], self.theory.description.tid)
                tids[shape] = f"  eq TidOf({self.printer.term(Apply(shape[0], tuple(args)))}) = T ."
        return [*lines, *tids.values()]

    def _statements(self) -> list[str]:
        """For each rule: who can take it, and the states after it."""
        lines = []
        labels = [self.steps.label(label) for label in self.steps.labels]
        for rule in self.theory.rules:
            for left, right in self.marked.in_context(rule, lambda free: Variable(free, "Bool")):
                args = self.steps.label(rule.label), self.printer.term(rule.thread), self.printer.term(left)
                condition = self._condition(rule.statement, ())
                head = f"Can({', '.join(args)}) = true"
                lines.append(f"  ceq {head} if {condition} ." if condition else f"  eq {head} .")
                lines.append(self._next(rule, left, right))
        lines += [
            "  eq Can(R, U, C) = false [owise] .",
            "  eq Next(R, U, Ss, C) = Ss [owise] .",
            "  eq CanMove(U, C) = " + " or-else ".join(f"Can({label}, U, C)" for label in labels) + " .",
            "  eq AfterAll(noThread, C) = noState .",
            "  eq AfterAll(U ;; Us, C) = "
            + " ;; ".join(f"Next({label}, U, noState, C)" for label in labels)
            + " ;; AfterAll(Us, C) .",
        ]
        return lines

    def _next(self, rule: ThreadRule, left: Node, right: Node) -> str:
        """The states after a rule are gathered one by one."""
        then = self.printer.kept(f"{fresh(names_of(rule.statement), 'Then')}:{self.theory.description.state}")
        extra = [f"{then} := {self.printer.side(right)}", f"not ({then} in Ss)"]
        label, thread = self.steps.label(rule.label), self.printer.term(rule.thread)
        head = f"Next({label}, {thread}, %s, {self.printer.term(left)})"
        condition = self._condition(rule.statement, extra)
        return f"  ceq {head % 'Ss'} = {head % f'(Ss ;; state({then}))'} if {condition} ."

    def _condition(self, statement: Statement, extra: Sequence[str]) -> str:
        own = [self.printer.condition(statement.condition)] if statement.condition else []
        return " /\\ ".join([*own, *extra])

    def _visible(self) -> list[str]:
        if not self.watched:
            return ["  --- C2: there is no formula.", "  eq Invisible(Cs, Ss, C) = true ."]
        labels = [self.steps.label(label) for label in self.steps.labels]
        watched = " ;; ".join(f"({self.printer.term(each)})" for each in self._propositions())
        offers = (f"(Shows({label}, U, P) and-then Can({label}, U, C))" for label in labels)
        return [
            *self.visibility.text(self.steps),
            self.steps.section("visibility"),
            f"  eq Watched = {watched} .",
            f"  eq Changes(U ;; Us, C, P) = {' or-else '.join(offers)} or-else Changes(Us, C, P) .",
            f"  eq Alike(Us, Vs, P) = {' and-then '.join(self._alike()) or 'true'} .",
        ]

    def _propositions(self) -> Iterator[Node]:
        """The propositions of the formula, as the module that defines them reads them."""
        home = bindings.module(self.theory.description.propositions or self.theory.description.module)
        for text in self.watched:
            yield read_term(bindings.meta_term(home, text))

    def _alike(self) -> Iterator[str]:
        """Does what an equation says about threads that are gone hold of new ones as well?"""
        for number, pattern in enumerate(self.visibility.threads):
            gone, new = f"Views({number}, Us, P)", f"Views({number}, Vs, P)"
            yield f"({gone} == {new})" if pattern.alone else f"not {gone} and-then not {new}"
