"""The kinds of programs that are generated and judged, by the language that they are written in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

import porcini
from conformance import laws
from conformance.actors.bases import BASES
from conformance.actors.edits import mutate
from conformance.actors.programs import generate as actors
from conformance.laws import Search
from helpers import Collecting
from porcini.engines.catalogue import Options


class Program(Protocol):
    """A generated program."""

    def text(self) -> str: ...

    def smaller(self) -> Iterator[Any]:
        """Programs with less in them."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Programs of one language: how many `make conformance` looks at, how one is made, and what must hold of it.

    `check` says how many classes a program has, and may be told which engines to ask.
    """

    name: str
    programs: int
    draw: Callable[[Random], Program]
    check: Callable[..., int]


TRANSDPOR = tuple(
    Search("transdpor", Options(actors=by, tasks=tasks), once=False)
    for by in ("first", "stable")
    for tasks in ("all", "independent")
)


def _searches(engines: Sequence[str] | None, more: Sequence[Search] = ()) -> Sequence[Search]:
    return tuple(map(Search, engines)) if engines else (*laws.SEARCHES, *more)


def _as_sets(tally: Collecting) -> Iterator[tuple[str, frozenset[Any]]]:
    return ((final.kind, frozenset(final.state.items())) for _, final, _ in tally.runs)


def _actor_program(random: Random) -> Program:
    return actors(random) if random.random() < 0.7 else mutate(random, random.choice(BASES))


def _check_actors(program: Any, engines: Sequence[str] | None = None) -> int:
    system = porcini.loads(program.text(), "abs").system()
    return laws.compared(system, program.machine(), _as_sets, _searches(engines, TRANSDPOR), most=600)


KINDS = {kind.name: kind for kind in (Kind("abs", 1_000, _actor_program, _check_actors),)}
