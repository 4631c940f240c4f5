"""Any language that is given as a rewrite theory in Maude (P1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from porcini.core import languages
from porcini.core.capabilities import Capabilities
from porcini.core.errors import Place
from porcini.core.systems import OwnReduction, System, Value
from porcini.langs.maude.checker import MaudeChecker
from porcini.langs.maude.model import Model, load
from porcini.langs.maude.names import tokens
from porcini.langs.maude.reduction import Heuristic
from porcini.langs.maude.searching import Finder
from porcini.langs.maude.system import MaudeSystem
from porcini.langs.maude.transformed import Transformed

__all__ = ["LANGUAGE", "MaudeChecker", "MaudeModel", "MaudeSystem", "Model", "load"]

_NEXT = re.compile(r"(?<![^\s(!])O(?=[\s(!<\[])")
"""`O` where an operand begins."""

CAPABILITIES = Capabilities(
    ".maude programs",
    {
        "commuting": "terms are not translated for the solver",
        "formulas": "rules rewrite terms, which are not formulas",
        "symbolic": "rules rewrite terms, which are not formulas",
        "actors": "its threads are not tasks of actors",
    },
    interpreter="Maude",
)


@dataclass(frozen=True, eq=False)
class MaudeModel(languages.Model):
    graph: Model

    input_hint: ClassVar[str] = "`initial` says them all"
    kind: ClassVar[str] = "rewrite theories"
    capabilities: ClassVar[Capabilities] = CAPABILITIES

    @property
    def checker(self) -> MaudeChecker:
        return MaudeChecker(self.graph)

    def formula(self, text: str) -> str:
        """Maude writes `~` and `O`. An `O` of the user's own, in an operator of theirs, stays what it is."""
        text = text.replace("~", "!")
        operators = self.graph.theory.signature.all_operators()
        own = any("O" in tokens(each.name) for each in operators if each.range != "Formula")
        return text if own or '"' in text else _NEXT.sub("X", text)

    @property
    def notes(self) -> tuple[str, ...]:
        return self.graph.notes

    @property
    def observable(self) -> set[str]:
        system = MaudeSystem(self.graph)
        return set(system.observe(system.initial()))

    def proposition(self, text: str, place: Place) -> Any:
        return self.graph.proposition(self.graph.engine_module(), text, place)

    def transform(self, ample: str, watched: Sequence[str], load: str | None) -> str:
        return self.graph.transformed(cast(Heuristic, ample), tuple(watched), load)

    def own_reduction(self, system: System, ample: str, watched: Sequence[str], most: int) -> OwnReduction[Any]:
        assert isinstance(system, MaudeSystem)
        return Transformed(system, cast(Heuristic, ample), watched).followed(most)

    def finder(self, system: System, pattern: str, ample: str | None) -> Finder:
        assert isinstance(system, MaudeSystem)
        return Finder(system, pattern, ample)

    def compile(self, inputs: Mapping[str, Value], *, optimise: bool) -> MaudeSystem:
        return MaudeSystem(self.graph)


class Maude:
    title = "rewrite theories in Maude: a language of your own"
    capabilities = CAPABILITIES
    takes_macros = takes_latin = False
    takes_description = True

    def load(self, source: languages.Source) -> MaudeModel:
        return MaudeModel(source.file, "maude", source.text, load(source.file, source.description))


LANGUAGE = Maude()
