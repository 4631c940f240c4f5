"""Programs in which something may go wrong, by choice: what Porcini finds, and what the judge of faults finds."""

from __future__ import annotations

import itertools
import linecache
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from random import Random
from types import ModuleType
from typing import Any
from unittest.mock import patch

import porcini
from conformance import laws, oracle
from conformance.coroutines import faulty, programs
from conformance.coroutines.judge import NotRepeatable
from conformance.coroutines.recalling import recalled_as_run
from conformance.coroutines.states import NotUnderstood
from porcini.coroutines.code import search
from porcini.coroutines.faults import Faults, errors_from
from porcini.coroutines.quiet import quiet
from porcini.coroutines.session import session
from porcini.engines.catalogue import ENGINES, Options
from porcini.engines.stats import SearchStats
from porcini.langs.aio import commuting

SIZES = (2, 2, 3, 3, 4)
FAKES = """
async def pause():
    await asyncio.sleep(0)


async def quick():
    pass


def call():
    pass
"""
CAUGHT = {"asyncio.CancelledError": "(asyncio.CancelledError, OSError)", "NameError": "(NameError, OSError)"}
FAKED = {"errors": {"pause": faulty.raising, "call": faulty.calling}, "suspend": {"pause": faulty.suspending}}
"""What the judge puts in the place of these functions."""
_numbers = itertools.count()


@dataclass(frozen=True)
class Wrong:
    """A program, and which faults may strike, and how many of them."""

    program: Any
    kind: str
    most: int = 1

    def text(self) -> str:
        text = f"# {self.kind}, at most {self.most}\n{self.program.text()}"
        if self.kind == "errors":  # a call after each assignment, and handlers that catch what it raises
            text = re.sub(r"^( +s\.[xyz] = [^\n:]+)$", r"\1; call()", text, flags=re.MULTILINE)
            text = re.sub(r"except ([\w.]+)", lambda found: f"except {CAUGHT.get(found[1], found[1])}", text)
        if self.kind in ("errors", "suspend"):
            text = text.replace("await asyncio.sleep(0)", "await pause()")
            text = text.replace("import asyncio\n", f"import asyncio\n{FAKES}", 1)
        return text

    def smaller(self) -> Iterator[Wrong]:
        if self.most > 1:
            yield Wrong(self.program, self.kind, self.most - 1)
        for program in self.program.smaller():
            yield Wrong(program, self.kind, self.most)


def generate(random: Random) -> Wrong:
    kind = random.choice(faulty.KINDS)
    most = random.choice((1, 1, 2)) if kind != "suspend" else 1
    return Wrong(programs.generate(random, SIZES if most == 1 else SIZES[:2]), kind, most)


def _module(text: str) -> ModuleType:
    """A program as a module that can be imported, whose source can be found."""
    name = f"wrong_program_{next(_numbers)}"
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    module = ModuleType(name)
    exec(compile(text, file, "exec"), vars(module))
    return module


def check(wrong: Wrong, engines: Sequence[str] | None = None) -> int:
    """How many classes there are; all engines and the judge must find the same outcomes."""
    text = wrong.text()
    cancels_itself = "current_task()" in text or "join.cancel()" in text
    if "__del__" in text or (wrong.kind == "suspend" and cancels_itself):
        raise oracle.TooMany  # who cancels itself can tell that it was suspended
    module = _module(text)
    sys.modules[module.__name__] = module
    try:
        found, classes = _found(wrong, module, engines or ("optimal", "source"))
        vars(module).update(FAKED.get(wrong.kind, {}))
        wanted = faulty.outcomes(module.main, wrong.kind, wrong.most, most=3_000)
    except (NotRepeatable, NotUnderstood):
        raise oracle.TooMany from None
    except LookupError as problem:
        raise laws.Broken(f"a search wants what cannot be done: {problem!r}") from problem
    finally:
        del sys.modules[module.__name__]
    for engine, ends in found.items():
        if ends != wanted:
            lost, more = sorted(wanted - ends)[:3], sorted(ends - wanted)[:3]
            raise laws.Broken(f"{engine}: other outcomes than the judge's (lost {lost}, more {more})")
    return classes


def _found(wrong: Wrong, module: Any, engines: Sequence[str]) -> tuple[dict[str, set[oracle.Outcome]], int]:
    targets = [f"{module.__name__}:{name}" for name in ("pause", "call")]
    faults = Faults(
        cancel=0 if wrong.kind == "cancel main" else wrong.kind == "cancel",
        timeouts=wrong.kind == "timeouts",
        errors=errors_from({OSError: targets} if wrong.kind == "errors" else {}),
        max_faults=wrong.most,
    )
    found: dict[str, set[oracle.Outcome]] = {}
    classes = None
    as_far_as_it_goes = patch.object(commuting, "_CHEAP", 10**9)
    with quiet(), session(module.main, faults=faults) as opened, recalled_as_run(), as_far_as_it_goes:
        fake = patch.object(module, "pause", module.quick) if wrong.kind == "suspend" else nullcontext()
        with fake:  # which Porcini heeds
            for engine in engines:
                stats = SearchStats(porcini.Limits(max_executions=2_000))
                stats = search(opened.program("any"), ENGINES[engine], stats, Options(), faults)
                if stats.stopped != "exhausted":
                    raise oracle.TooMany
                classes = stats.counts.classes if classes is None else classes
                laws.check_counts(laws.Search(engine), stats.counts, classes)
                found[engine] = {
                    (end.kind, str(*end.state.values()) if end.kind == "terminated" else "")
                    for end in stats.outcomes
                }
    return found, classes or 0
