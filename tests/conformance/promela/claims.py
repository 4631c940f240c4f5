"""Random never claims beside random models, and labels that say what a run for ever must do: SPIN judges both.

Formulas are translated by both sides, each in its own way; what a user writes down as a claim is taken as it
stands, with labels of its own, choices, loops, variables of other processes, and labels of these. An attack by
hand found four differences in an hour, where models with formulas had found none.

What is compared, each by the reference and by native code, and under weak fairness, too:

    claims         `-a`: can the claim reach its end, or an `end` label, or go on for ever past `accept` labels?
    acceptance     `-a` without a claim: is there a run for ever past `accept` labels?
    non-progress   `-l`: is there one that comes to no `progress` label any more?
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import porcini
from conformance.laws import Broken
from conformance.oracle import TooMany
from conformance.promela.comparison import MOST_STATES, SECONDS, Refused
from conformance.promela.everything import Shape, Writer, places, put
from conformance.promela.text import (
    Block,
    Choice,
    Labelled,
    Line,
    Model,
    Proctype,
    Statement,
    block_lines,
    has_else_in_first_choice,
    smaller_block,
)
from conformance.promela.text import smaller as smaller_model
from conformance.promela.verifier import Rejected, Unfinished, Verifier
from porcini.core.errors import InputError
from porcini.engines.catalogue import Options

_FEATURES = (
    *(("labels", 4), ("buffered", 3), ("meetings", 3), ("atomic", 3), ("arrays", 1), ("typedef", 1), ("types", 1)),
    *(("ends", 1), ("d_step", 1), ("loops", 1), ("runs", 1), ("unless", 1), ("timeout", 1), ("asserts", 1)),
)
_SHAPES = (Shape(_FEATURES, 3, 4), Shape(_FEATURES, 5, 5))
_LABELS = ("accept", "accept", "progress")
_MACHINES = ("python", "native")


class OtherClaims(Broken):
    """One finds a run that a claim accepts, the other does not."""


class OtherCycles(Broken):
    """One finds a run for ever that labels describe, the other does not."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A model without formulas, and the body of a never claim."""

    model: Model
    claim: Block

    def text(self) -> str:
        return self.model.text() + self.claim_text()

    def claim_text(self) -> str:
        return "\n".join(["never {", *(f"  {line}" for line in block_lines(self.claim)), "}"]) + "\n"


def generate(random: Random) -> Claimed:
    writer = Writer(random, random.choice(_SHAPES))
    model = writer.model()
    proctypes = tuple(_labelled(proctype, random) for proctype in model.proctypes)
    claim = _ClaimWriter(random, writer).body()
    words = "\n".join(block_lines(claim))
    plain = replace(model, proctypes=proctypes, formulas=(words,))
    declared = writer.declarations(proctypes, (words,))
    return Claimed(replace(plain, declarations=declared, formulas=()), claim)


def _labelled(proctype: Proctype, random: Random) -> Proctype:
    body = proctype.body
    for number in range(random.randrange(3)):
        found = list(places(body))
        if found:
            body = put(body, random.choice(found), f"{random.choice(_LABELS)}{number}")
    return replace(proctype, body=body)


class _ClaimWriter:
    """Writes the body of one claim."""

    def __init__(self, random: Random, writer: Writer) -> None:
        self.random, self.writer = random, writer
        self.labels = 0

    def chance(self, one_in: int) -> bool:
        return self.random.randrange(one_in) == 0

    def body(self) -> Block:
        return tuple(self._statement(2) for _ in range(self.random.randint(1, 3)))

    def _statement(self, depth: int) -> Statement:
        made: Statement
        if depth == 0 or self.chance(4):
            made = Line(self._condition())
        else:
            head = "do" if self.chance(2) or depth == 2 else "if"
            options = [self._option(head, depth - 1) for _ in range(self.random.randint(1, 3))]
            if self.chance(5):
                options.append((Line("else"), *self._after(head)))
            made = Choice(head, tuple(options))
        if self.chance(3):
            self.labels += 1
            name = self.random.choice(("accept", "accept", "accept", "end", "progress", "L"))
            made = Labelled(f"{name}_{self.labels}", made)
        return made

    def _option(self, head: str, depth: int) -> Block:
        first = Line("true" if self.chance(3) else self._condition())
        if depth and self.chance(3):
            return first, self._statement(depth), *self._after(head)
        return first, *self._after(head)

    def _after(self, head: str) -> Block:
        return (Line("break"),) if head == "do" and self.chance(3) else ()

    def _condition(self) -> str:
        found = self.writer.proposition()
        return f"!({found})" if self.chance(4) else f"({found})"


# Comparing ------------------------------------------------------------------------------------------------------


def compare(claimed: Claimed) -> int:
    """How many states the model has; `TooMany` if there are too many, or if it cannot be compared: an `accept`
    label inside of `atomic` is refused."""
    if any(has_else_in_first_choice(each.body) for each in claimed.model.proctypes):
        raise TooMany
    model = claimed.model.without_assertions()
    with TemporaryDirectory() as folder:
        try:
            alone = _verifier(model.text(), Path(folder, "alone"))
            states = alone.states()
            if states.error or states.states > MOST_STATES:
                raise TooMany
            _compare_claim(claimed, model, _verifier(model.text() + claimed.claim_text(), Path(folder, "claimed")))
            _compare_cycles(model, alone)
        except (Rejected, Unfinished):
            raise TooMany from None
    return states.states


def _verifier(text: str, folder: Path) -> Verifier:
    folder.mkdir()
    source = folder / "model.pml"
    source.write_text(text)
    return Verifier(source, folder, seconds=SECONDS)


def _compare_claim(claimed: Claimed, model: Model, verifier: Verifier) -> None:
    here = _loaded(model.text() + claimed.claim_text())
    for fair in (False, True):
        if fair and _restrains(verifier):
            return
        theirs = verifier.violates("never_0", fair=fair)
        for machine in _MACHINES:
            _differ(OtherClaims, "the claim", here, {}, machine, fair, theirs)


def _compare_cycles(model: Model, verifier: Verifier) -> None:
    here = _loaded(model.text())
    for cycles in ("acceptance", "non-progress"):
        for fair in (False, True):
            if fair and _restrains(verifier):
                return
            theirs = verifier.has_cycle(progress=cycles == "non-progress", fair=fair)
            for machine in _MACHINES:
                _differ(OtherCycles, cycles, here, {"cycles": cycles}, machine, fair, theirs)


def _restrains(verifier: Verifier) -> bool:
    """A process that is never allowed to run keeps SPIN from finding fair runs."""
    return "provided" in verifier.text or "priority" in verifier.text


def _differ(
    kind: type[Broken], what: str, model: Any, asked: dict[str, Any], machine: Any, fair: bool, theirs: bool
) -> None:
    options = Options(machine=machine, fair=fair)
    try:
        report = porcini.check(model, options=options, limits=porcini.Limits(timeout=60), **asked)
    except InputError as problem:
        if "inside of `atomic`" not in problem.message:
            raise
        raise TooMany from None
    if report.verdict == "unknown":
        return
    if fair and report.trail and not report.trail.loop:
        return  # where nobody can move fairness asks nothing, but SPIN finds no runs that end when it is on
    ours = report.verdict == "violated"
    if ours and fair and asked.get("cycles") == "non-progress":
        return  # SPIN misses some of these: `do :: x = 1 - x :: break od` beside somebody who can never go
    if ours != theirs:
        how = f"{machine}, weak fairness" if fair else machine
        raise kind(f"{what}: SPIN {_found(theirs)}, Porcini ({how}) {_found(ours)}")


def _found(run: bool) -> str:
    return "finds a run" if run else "finds none"


def _loaded(text: str) -> porcini.Model:
    try:
        return porcini.loads(text, "pml")
    except InputError as problem:
        raise Refused(f"Porcini refuses the model: {problem}") from problem


def smaller(claimed: Claimed) -> Iterator[Claimed]:
    for claim in smaller_block(claimed.claim):
        if claim:
            yield replace(claimed, claim=claim)
    for model in smaller_model(claimed.model):
        yield replace(claimed, model=model)
