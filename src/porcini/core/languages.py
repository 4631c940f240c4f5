"""What a language is to the rest of Porcini: something that reads a text, and the model that results.

A language is registered under the entry point group `porcini.languages`, by the ending of its files.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from porcini.core.capabilities import Capabilities
from porcini.core.errors import InputError, InternalError, Place
from porcini.core.events import Schedule
from porcini.core.registry import Registry
from porcini.core.reports import Counts, Cycles
from porcini.core.systems import OwnReduction, Scalar, System, Value


@dataclass(frozen=True, slots=True)
class Source:
    """A program as it was given. `defines` are macros, `description` is a file that accompanies it."""

    text: str
    file: str
    defines: Mapping[str, str] = field(default_factory=dict)
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A property that the model itself states: a formula with a name, as text, and where it begins."""

    name: str
    formula: str
    place: Place


class Checker(Protocol):
    """A language's own model checker, for formulas."""

    @property
    def name(self) -> str:
        """Its name as an engine."""

    @property
    def title(self) -> str: ...

    @property
    def signs(self) -> Mapping[str, str]:
        """How it writes `true`, `false`, `!`, `X`, `&&`, `||`, `U` and `V`."""

    def check(self, system: System, formula: str, watched: Sequence[str], asked: CheckerOptions) -> Lasso | None:
        """The states of a run on which a formula about some propositions does not hold, if there is one. Counts go
        into `asked.counts`, and a limit that is hit raises `LimitHit`."""


Lasso = tuple[tuple[Any, ...], tuple[Any, ...]]
"""An infinite run: the states of a stem, and those of a loop after it, as `System.state_graph` has them."""


@dataclass(frozen=True, slots=True)
class CheckerOptions:
    """The options of a language's own checker; `ample` is P1's heuristic, or None for no reduction."""

    counts: Counts
    ample: str | None = None
    timeout: float | None = None
    max_states: int | None = None


@dataclass(frozen=True, slots=True)
class FindingOptions:
    """How far to search for states; `look` is called with the number of states seen, and may raise `LimitHit`."""

    max_states: int
    max_depth: int
    look: Callable[[int], None]
    first: bool = False
    """Is one solution enough?"""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a search for states has found: how many solutions, and in how many states. Each of the first ones comes
    with a run that leads to it and with what the variables of the pattern stand for."""

    solutions: int
    states: int
    exact: bool
    """Are these all? Else there are at least so many."""
    runs: tuple[tuple[Schedule, Mapping[str, str]], ...]


class Finder(Protocol):
    """A search for states that match a pattern, as a language's own users know it."""

    @property
    def reduced(self) -> bool: ...

    @property
    def why_not_reduced(self) -> str | None:
        """Why nothing can be left out for this pattern, if so."""

    def search(self, asked: FindingOptions) -> None:
        """To its end; a limit that is hit is a `LimitHit`, and what was found until then stays found."""

    def found(self) -> Finding: ...


@dataclass(frozen=True, eq=False)
class Model(ABC):
    """A program that was read and checked, ready to run.

    A language implements how it is compiled (`compile`) and what can be observed; the rest has defaults.
    """

    file: str
    language: str
    source: str

    takes_inputs: ClassVar[bool] = False
    chooses_inputs: ClassVar[bool] = False
    """Are there inputs only where a user asks for them? Otherwise these variables have their own initial
    values."""
    input_hint: ClassVar[str | None] = None
    """How to give a program of the language an input, or what to do instead where it has none."""
    kind: ClassVar[str] = "programs of this language"

    @property
    @abstractmethod
    def capabilities(self) -> Capabilities: ...

    @property
    @abstractmethod
    def observable(self) -> set[str]:
        """What can be observed: names of variables, or of fields."""

    @abstractmethod
    def compile(self, inputs: Mapping[str, Value], *, optimise: bool) -> System:
        """Compile the program, given a value of the right type for some of its inputs; `optimise` is for searches
        that keep states."""

    @property
    def inputs(self) -> Mapping[str, str]:
        """The inputs by name, each with its type: `int` or `bool`."""
        return {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know about how the program was read."""
        return ()

    @property
    def checker(self) -> Checker | None:
        """The language's own model checker, if there is one."""
        return None

    def finder(self, system: System, pattern: str, ample: str | None) -> Finder:
        """A search for the states that match a pattern, which must be one of the language's own; `ample` is P1's
        heuristic for where the language can reduce it, or None for no reduction."""
        raise InternalError("a model that has no patterns was searched")

    def formula(self, text: str) -> str:
        """A formula that a user gave, with the language's own operators replaced by ours of the same length."""
        return text

    @property
    def claims(self) -> Sequence[Claim]:
        """The formulas in the model itself."""
        return ()

    @property
    def has_never_claim(self) -> bool:
        """Does the model describe runs that must never happen?"""
        return False

    def never_claim(self, system: System) -> Any:
        """The runs that must never happen, as an automaton that reads the states of the system."""
        raise InternalError("a model without a never claim was asked for it")

    def with_claim(self, text: str, file: str) -> Model:
        """The same model with a never claim from another file in place of its own."""
        raise InputError("never claims are for Promela models", file=self.file)

    def cycle_claim(self, system: System, cycles: Cycles) -> Any:
        """The infinite runs that labels describe, as an automaton like that of a never claim."""
        raise InputError("labels that say what a run for ever must do are for Promela models", file=self.file)

    def proposition(self, text: str, place: Place) -> Any:
        """Parse and check a proposition of a formula, for `System.watching`."""
        raise InputError("formulas cannot speak of this program's states", place=place)

    def symbolic(self, inputs: Sequence[str] = ()) -> Any:
        """The program with symbols for inputs (`ir.symbolic.formulas.SymbolicSystem`): for all inputs that it
        declares, or, where it declares none but can take some, for the given ones."""
        raise InternalError("a model without formulas was asked for them")

    def read_trail(self, trail: str) -> tuple[Schedule, Schedule | None]:
        """The run in a trail that SPIN's verifier wrote, and the cycle that it then repeats for ever, if any."""
        raise InputError("trails are SPIN's, and for Promela models only", file=self.file)

    def write_trail(self, schedule: Schedule, loop: Schedule | None = None) -> str:
        """A trail that makes SPIN follow a schedule, and then repeat a loop, if there is one."""
        raise InputError("trails are SPIN's, and for Promela models only", file=self.file)

    def transform(self, ample: str, watched: Sequence[str], load: str | None) -> str:
        """The program with partial order reduction built in, as text in its own language."""
        raise InternalError("a model that cannot be transformed was asked to be")

    def own_reduction(
        self, system: System, ample: str, watched: Sequence[str], most: int
    ) -> OwnReduction[Any] | None:
        """The graph of the transformed program, if there is one. More than `most` states raise `LimitHit`."""
        return None

    def show_proposition(self, proposition: str) -> str:
        """A proposition as a user would write it."""
        return proposition

    def system(self, inputs: Mapping[str, Value] | None = None, *, optimise: bool = False) -> System:
        """The compiled program, with a value for each of its inputs; `optimise` is for searches that keep
        states."""
        given = dict(inputs or {})
        for name, value in given.items():
            self._check_input(name, value)
        try:
            return self.compile(given, optimise=optimise)
        except InputError as problem:
            problem.file = problem.file or self.file
            raise

    def _check_input(self, name: str, value: Value) -> None:
        if not self.takes_inputs:
            raise InputError(f"{self.kind} have no inputs", file=self.file, hint=self.input_hint)
        type_ = self.inputs.get(name)
        if type_ is None:
            known = ", ".join(sorted(self.inputs))
            hint = f"known: {known}" if known else self.input_hint
            raise InputError(f"`{name}` is not an input of {self.file}", hint=hint)
        if not isinstance(value, Scalar) or isinstance(value, bool) != (type_ == "bool"):
            expected = "a boolean" if type_ == "bool" else "a number"
            raise InputError(f"input `{name}` wants {expected}, not {value!r}")


class Language(Protocol):
    """How programs of one kind are read."""

    @property
    def title(self) -> str:
        """What the language is, in a few words."""

    @property
    def capabilities(self) -> Capabilities: ...

    @property
    def takes_macros(self) -> bool: ...

    @property
    def takes_description(self) -> bool: ...

    @property
    def takes_latin(self) -> bool:
        """Is a text that is not UTF-8 read as Latin-1? Only comments and strings may have more than ASCII then."""

    def load(self, source: Source) -> Model:
        """Read a program. An error in the text raises an `InputError` that says where it is."""


LANGUAGES: Registry[Language] = Registry("porcini.languages", "language")
"""The languages, by the ending of their files."""
OTHER_ENDINGS: Registry[Language] = Registry("porcini.endings", "ending")
"""Other endings that files of a language may have."""
