"""A theory with its description, as the rest of Porcini sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from porcini.core.errors import InputError, InternalError, Place
from porcini.langs.maude import bindings
from porcini.langs.maude.assumptions import check_assumptions
from porcini.langs.maude.derived import Derived, derive
from porcini.langs.maude.description import Description, read_description, wrong_value
from porcini.langs.maude.reduction import LIBRARIES, Heuristic, heading, transformed
from porcini.langs.maude.steps import Steps, future_of_states
from porcini.langs.maude.theory import Theory, read_theory
from porcini.langs.maude.visibility import Visibility, look_at
from porcini.langs.maude.written import Written, enter


@dataclass(slots=True, eq=False)
class _Kept:
    """What was made of a theory, and need not be made again."""

    engine: str | None = None
    reduced: dict[tuple[str, tuple[str, ...]], tuple[str, bool]] = field(default_factory=dict)


@dataclass(eq=False)
class Model:
    """A rewrite theory that was read and checked."""

    theory: Theory
    _kept: _Kept = field(default_factory=_Kept)

    @property
    def description(self) -> Description:
        return self.theory.description

    @cached_property
    def derived(self) -> Derived:
        return derive(self.theory)

    @cached_property
    def visibility(self) -> Visibility:
        return look_at(self.theory)

    @property
    def future_of_states(self) -> bool:
        return future_of_states(self.theory)

    @property
    def notes(self) -> tuple[str, ...]:
        """What Maude said, and what could not be derived."""
        found = [str(warned) for warned in self.theory.warned]
        if self.theory.has_rendezvous:
            rule = next(rule.label for rule in self.theory.rules if rule.partner is not None)
            found.append(f"rule `{rule}` moves two threads: any two steps may be dependent, nothing is reduced")
        elif self.derived.unknown and not self.description.future:
            found.append(
                f"what threads may still do is not known: {self.derived.unknown}. A module with `future` can tell"
            )
        return tuple(found)

    def transformed(self, heuristic: Heuristic, watched: tuple[str, ...] = (), load: str | None = None) -> str:
        """The theory with partial order reduction, as text: what is run, but for the names of the modules."""
        self.reduced_module(heuristic, watched)
        plain = self._kept.reduced[heuristic, watched][1]
        modules = transformed(self.theory, heuristic, watched, plain=plain)
        return "\n".join([heading(self.theory, load), *(each.text for each in modules)])

    def reduced_module(self, heuristic: Heuristic, watched: tuple[str, ...]) -> bindings.Module:
        """The same, loaded."""
        key = heuristic, watched
        if key not in self._kept.reduced:
            self._kept.reduced[key] = self._loaded(
                "REDUCED", lambda theory, plain: transformed(theory, heuristic, watched, plain=plain)
            )
        return bindings.module(self._kept.reduced[key][0])

    def engine_module(self) -> bindings.Module:
        """The theory as it is, with what its rules mean for threads: for Porcini's own engines."""
        if self._kept.engine is None:
            self._kept.engine, _ = self._loaded("ENGINE", self._engine)
        return bindings.module(self._kept.engine)

    def _engine(self, theory: Theory, plain: bool) -> list[Written]:
        description = self.description
        steps = Steps(theory, self.derived, theory.signature, {}, marks=False, plain=plain)
        kept, name = steps.printer.kept, theory.generated("ENGINE")
        text = "\n".join(
            [
                kept(f"mod {name} is"),
                *(kept(f"  including {module} .") for module in description.modules),
                *(kept(f"  protecting {module} .") for module in (*LIBRARIES, theory.names.interface)),
                *(["  including MODEL-CHECKER ."] if description.propositions else []),
                "",
                steps.signature(),
                *steps.declared(),
                "",
                *steps.text(),
                *(self.visibility.text(steps) if description.propositions else ()),
                "endm",
                "",
            ]
        )
        return [Written(steps.printer.filled(text), theory.signature, terms=steps.printer.terms, name=name)]

    def _loaded(self, kind: str, make: Callable[[Theory, bool], list[Written]]) -> tuple[str, bool]:
        """Load generated modules, under names that are new, and give the name of the last one. If they are not
        read as they are meant, they are written again, without any mixfix, and that is the second result."""
        wrong: str | None = None
        for plain in (False, True):
            theory = self._next_version(kind)
            wrong = next(filter(None, map(enter, make(theory, plain))), None)
            if wrong is None:
                return theory.generated(kind), plain
        raise InternalError(f"a generated module is wrong: {wrong}")

    def _next_version(self, kind: str) -> Theory:
        """Maude does not always survive when modules are redefined."""
        theory, taken = self.theory, bindings.module_names()
        while theory.generated(kind) in taken:
            theory = replace(theory, version=theory.version + 1)
        return theory

    def initial_in(self, module: bindings.Module) -> bindings.Term:
        """The initial state, in normal form."""
        term = bindings.normal_form(self.parsed(module, self.description.initial, "initial"))
        sort = str(term.getSort())
        if not self.theory.signature.below(sort, self.description.state):
            message = f"`{self.description.initial}` is a {sort}, no {self.description.state}: {_short(str(term))}"
            raise wrong_value(self.description, "initial", message)
        return term

    def parsed(self, module: bindings.Module, text: str, key: str) -> bindings.Term:
        try:
            return bindings.parse(module, text, f"`{key}`:")
        except InputError as problem:
            raise wrong_value(self.description, key, problem.message) from None

    def proposition(self, module: bindings.Module, text: str, place: Place | None) -> bindings.Term:
        """A proposition of a formula."""
        self.require_propositions(place)
        try:
            term = bindings.parse(module, text, "the proposition")
        except InputError as problem:
            problem.place = place
            raise
        if str(term.getSort()) != "Prop":
            raise InputError(f"`{text}` is a {term.getSort()}, no Prop", place=place)
        self.require_ground(term, text, place)
        return term

    def require_ground(self, term: bindings.Term, text: str, place: Place | None = None) -> None:
        """A proposition says all; one with variables would be many."""
        left = [term]
        while left:
            each = left.pop()
            if each.isVariable():
                raise InputError(f"`{text}` has variables, and a proposition must say all", place=place)
            left += each.arguments()

    def require_propositions(self, place: Place | None = None) -> None:
        """Maude's checker comes with a module that defines some, even where a formula has none."""
        if self.description.propositions is None:
            hint = 'propositions = "A-MODULE" in the TOML file'
            raise InputError("the description names no propositions", place=place, hint=hint)

    @property
    def rules_with_anything(self) -> bool:
        """May a step touch anything? Then any two steps may depend on each other."""
        if self.theory.has_rendezvous:
            return True
        if self.description.dependence is None:
            return any(accesses is None for accesses in self.derived.accesses.values())
        return any(
            getattr(node, "op", "") == "anything"
            for module in self.theory.touched
            if module.name == self.description.dependence
            for equation in module.equations
            for node in (equation.left, *getattr(equation.right, "args", ()), equation.right)
        )


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."


def load(file: str, por: str | None = None) -> Model:
    """Read a theory and its description: FILE with `.toml`, unless another is named."""
    path = Path(file)
    bindings.maude()
    description = read_description(Path(por) if por else path.with_suffix(".toml"))
    theory = read_theory(path, description)
    check_assumptions(theory)
    return Model(theory)
