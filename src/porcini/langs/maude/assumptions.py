"""What P1's section 3.1 assumes of a theory, checked when it is read. What the transformation cannot be right for
is refused, with its line.

Rules are checked as they are taken apart (`theory`); here it is equations, and what these mean for rules.
"""

from __future__ import annotations

from pathlib import Path

from porcini.core.errors import InputError, Place
from porcini.langs.maude import bindings
from porcini.langs.maude.terms import Apply, Node, Statement, read_term
from porcini.langs.maude.theory import Theory, show, walk_terms, written_at
from porcini.langs.maude.written import normal


def check_assumptions(theory: Theory) -> None:
    """What is not as assumed is an error."""
    _check_equations(theory)
    _check_coherence(theory)
    _check_objects(theory)


def _check_equations(theory: Theory) -> None:
    """Equations keep threads: the same ones on both sides, and none is looked at together with something else."""
    for module in theory.touched:
        for equation in module.equations:
            left, right = list(theory.threads_in(equation.left)), list(theory.threads_in(equation.right))
            if not left and not _is_state(theory, equation.left):
                continue  # a function that makes states out of something else, such as an initial one
            before = [theory.tid_of(each) for each in left]
            afterwards = [theory.tid_of(each) for each in right]
            in_state = theory.in_states(theory.signature.kind(theory.signature.least_sort(equation.left)))
            if not in_state:
                continue  # a function of states, such as a proposition
            if not left and isinstance(equation.left, Apply) and not _made_of_parts(theory, equation.left):
                continue
            if sorted(map(repr, before)) != sorted(map(repr, afterwards)):
                raise _refused(
                    theory,
                    equation,
                    "does not keep threads, which P1 (3.2) asks for",
                    "threads come and go by rules",
                )
            if left and len(theory.parts(equation.left)) > 1 and _made_of_parts(theory, equation.left):
                hint = "what depends on others is a step: make it a rule"
                raise _refused(theory, equation, "looks at a thread together with something else", hint)


def _check_coherence(theory: Theory) -> None:
    """Rules apply to terms in normal form: one whose own left-hand side is none would never apply."""
    for rule in bindings.module(theory.description.module).getRules():
        left, before = rule.getLhs().copy(), rule.getLhs().copy()
        before.normalize()
        if not rule.isNonexec() and left.reduce() > 0 and left != before:  # memberships count, too
            message = "has a left-hand side that equations rewrite: it would never apply"
            raise theory.refuse(rule.getLabel() or "", message, "rules must be coherent with equations: P1, 3.2")


def _check_objects(theory: Theory) -> None:
    """Where a membership makes threads, it must be seen of each part whether it is one: a pattern for objects of
    whichever class would match threads, and not those with marks."""
    for module in theory.touched if theory.threads_by_membership else ():
        for statement in (*module.equations, *module.rules):
            for node in walk_terms(statement):
                if isinstance(node, Apply) and not theory.is_thread(node) and _may_be_thread(theory, node):
                    message = f"`{show(theory, node)}` may be a thread or not"
                    hint = f"name its class, or make it one of {theory.thread_sort}"
                    if statement in module.rules:
                        raise theory.refuse(statement.label, f"has a part of which {message}", hint)
                    raise _refused(theory, statement, f"has a part of which {message}", hint)


def _may_be_thread(theory: Theory, node: Apply) -> bool:
    given = [theory.signature.least_sort(arg) for arg in node.args]
    return any(
        theory.is_thread_sort(sort) and all(map(theory.signature.may_meet, given, domain))
        for domain, sort in theory.signature.memberships.get((node.op, len(given)), ())
    )


def _is_state(theory: Theory, node: Node) -> bool:
    return theory.in_states(theory.signature.least_sort(node))


def _made_of_parts(theory: Theory, node: Node) -> bool:
    """Is a term made by a constructor of states, not by a function that computes one?"""
    if not isinstance(node, Apply):
        return True
    if theory.soup and node.op == theory.soup.name:
        return True
    return any(operator.constructor for operator in theory.signature.declared(node.op, len(node.args)))


def _refused(theory: Theory, equation: Statement, message: str, hint: str) -> InputError:
    """An error about an equation, at its line."""
    shown = show(theory, equation.left)
    file, place = _place_of_equation(theory, equation)
    path = Path(file)
    source = path.read_text(encoding="utf-8", errors="replace") if place and path.is_file() else None
    return InputError(f"the equation for `{shown}` {message}", file=file, place=place, source=source, hint=hint)


def _place_of_equation(theory: Theory, equation: Statement) -> tuple[str, Place | None]:
    """Where an equation is written: Maude's own object for it says so, and is told by its left-hand side."""
    wanted = normal(equation.left, theory.signature)
    for name in theory.description.modules:
        for loaded in bindings.module(name).getEquations():
            left = read_term(bindings.module_of_terms().upTerm(loaded.getLhs()))
            if normal(left, theory.signature) == wanted:
                return written_at(theory.file, str(loaded.getLineNumber())) or (str(theory.file), None)
    return str(theory.file), None
