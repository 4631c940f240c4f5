"""Patterns as users of Maude's `search` know them: `=>! < T | done | V > S such that T > 0`.

A pattern is read by Maude itself: it becomes the left-hand side of an equation, and what comes after `such that`
its condition, in a module of ours that includes the user's. What comes back is compared with what was meant: one
equation, and nothing else. In place of a pattern there may be a proposition: any state in which it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast

from porcini.core.errors import InputError
from porcini.langs.maude import bindings
from porcini.langs.maude.model import Model
from porcini.langs.maude.terms import Statement, read_module
from porcini.langs.maude.theory import fresh
from porcini.langs.maude.written import is_ambiguous

Arrow = Literal["=>*", "=>+", "=>1", "=>!"]
_ARROW = re.compile(r"\s*(=>[*+1!])(?:\s+|$)")
_CONDITION = re.compile(r"\s(?:such\s+that|s\.t\.)\s")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_HINT = "a variable of no module can say its sort: X:Nat"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to `search`, cut into its parts."""

    arrow: Arrow
    pattern: str
    condition: str | None


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern that was read: a term of the module, with variables in it, and its condition."""

    module: bindings.Module
    term: Any
    condition: Any

    def matches(self, state: Any) -> Iterator[Any]:
        """The ways in which a state is an instance of it, as substitutions."""
        found = state.match(self.term) if self.condition is None else state.match(self.term, self.condition)
        return (substitution for substitution, _ in found)


def read_binding(substitution: Iterable[tuple[Any, Any]]) -> dict[str, str]:
    """What each variable stands for."""
    return dict(sorted((str(name.getVarName()), " ".join(str(term).split())) for name, term in substitution))


def cut(text: str) -> Asked:
    """`=>*` is meant where no arrow is written."""
    text = re.sub(r"[\r\n\f]", " ", text)
    arrow = _ARROW.match(text)
    rest = text[arrow.end() :] if arrow else text
    plain = _STRING.sub(lambda string: "_" * len(string[0]), rest)
    if '"' in plain:  # Maude would wait for the other one
        raise InputError(f"`{rest.strip()}` is not a pattern of states: its quotes do not close")
    condition = _CONDITION.search(plain)
    pattern = rest[: condition.start()] if condition else rest
    if not pattern.strip():
        raise InputError("--search wants a pattern", hint="a state with variables in it, or a proposition")
    found = cast(Arrow, arrow[1]) if arrow else "=>*"
    return Asked(found, pattern.strip(), rest[condition.end() :].strip() if condition else None)


def read_proposition(model: Model, asked: Asked) -> str | None:
    """The pattern, if it is a proposition that the model declares."""
    if model.description.propositions is None:
        return None
    term = bindings.parse_if_any(model.engine_module(), asked.pattern, "the pattern")
    if term is None or str(term.getSort()) != "Prop":
        return None
    if asked.condition is not None:
        raise InputError("a proposition holds or not: `such that` goes with patterns")
    model.require_ground(term, asked.pattern)
    return asked.pattern


def read_pattern(model: Model, asked: Asked) -> Pattern:
    """The pattern, read by Maude in a module of its own."""
    theory = model.theory
    name = fresh(bindings.module_names(), theory.generated("SEARCH"))
    function = theory.names["Sought"]
    declared = _variables(model)
    statement = f"{function}(({asked.pattern})) = true"
    lines = [
        f"mod {name} is",
        *(f"  including {module} ." for module in model.description.modules),
        f"  op {function} : [{theory.signature.kind(model.description.state)}] -> Bool .",
        *(f"  var {variable} : {sort} ." for variable, sort in declared.items()),
        f"  ceq {statement} if {asked.condition} ." if asked.condition is not None else f"  eq {statement} .",
        "endm",
    ]
    try:
        warned = bindings.enter("\n".join(lines) + "\n")
    except InputError:
        raise InputError(f"`{asked.pattern}` is not one pattern") from None
    wrong = [each for each in warned if bindings.is_fatal(each) or is_ambiguous(each)]
    if wrong:
        raise InputError(f"`{_shown(asked)}` is not a pattern of states: {wrong[0].message}", hint=_HINT)
    if name not in bindings.module_names():
        raise InputError(f"`{_shown(asked)}` is not a pattern of states: its brackets or quotes do not close")
    meant = read_module(bindings.meta_module(name))
    others = (meant.sorts, meant.subsorts, meant.memberships, meant.rules)
    if (
        len(meant.equations) != 1
        or len(meant.operators) != 1
        or any(others)
        or _has_attributes(meant.equations[0])
    ):
        raise InputError(f"`{_shown(asked)}` is not one pattern with its condition")
    return _found(bindings.module(name), function)


def _has_attributes(equation: Statement) -> bool:
    return equation.owise or equation.nonexec or bool(equation.label)


def _found(module: bindings.Module, function: str) -> Pattern:
    equation = next(each for each in module.getEquations() if str(each.getLhs().symbol()) == function)
    (term,) = equation.getLhs().arguments()
    condition = equation.getCondition() if equation.hasCondition() else None
    return Pattern(module, term, condition)


def _variables(model: Model) -> dict[str, str]:
    """The variables of the user's modules; not those that are of one sort here and of another one there."""
    found: dict[str, set[str]] = {}
    for module in (*model.theory.below, *model.theory.touched):
        for name, sort in bindings.declared_variables(module.name):
            found.setdefault(name, set()).add(sort)
    constants = {name for name, arity in model.theory.signature.operators if arity == 0}
    known = {"".join(sort.split()) for sort in model.theory.signature.sorts}  # those of parameters are not
    only = {name: next(iter(sorts)) for name, sorts in found.items() if len(sorts) == 1 and name not in constants}
    return {name: sort for name, sort in only.items() if "".join(sort.split()) in known or sort.startswith("[")}


def _shown(asked: Asked) -> str:
    return asked.pattern if asked.condition is None else f"{asked.pattern} such that {asked.condition}"
