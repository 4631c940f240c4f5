"""The outcomes of programs in the little language as plain Maude finds them, for checking their judge.

Run as a module, because modules are global in a process of Maude's: reads initial states from its input, one to a
line after the name of their module, and prints for each of them the final states that `search =>!` finds.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from conformance.oracle import Outcome
from conformance.rewriting.program import THEORY, Program, in_term

INTERFACE = "fmod PORCINI is sorts Location Access Footprint . subsort Access < Footprint . \
  ops reads writes awaits : Location -> Access [ctor] . op nothing : -> Footprint [ctor] . \
  op _&_ : Footprint Footprint -> Footprint [ctor assoc comm id: nothing prec 60] . endfm"


def outcomes(programs: Iterable[Program]) -> Iterator[set[Outcome]]:
    """How each of the programs can end."""
    asked = "".join(f"{program.module} {program.initial()}\n" for program in programs)
    command = [sys.executable, "-m", "conformance.rewriting.plain_maude"]
    here = Path(__file__).parents[2]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True, cwd=here)
    for line in done.stdout.splitlines():
        yield {_outcome(term) for term in line.split("\t") if term}


def _outcome(term: str) -> Outcome:
    threads = [part.split("|")[2].strip() for part in term.replace("|->", "->").split("<")[1:]]
    return "terminated" if all(code == "done" for code in threads) else "deadlock", in_term(term)


def _main() -> None:
    import maude

    maude.init(advise=False)
    maude.input(INTERFACE)
    maude.load(str(THEORY))
    for line in sys.stdin:
        module_name, term = line.split(maxsplit=1)
        module = maude.getModule(module_name)
        anything = module.parseTerm("S:Conf")
        found = module.parseTerm(term).search(maude.NORMAL_FORM, anything)
        print("\t".join(" ".join(str(state).split()) for state, *_ in found), flush=True)


if __name__ == "__main__":
    _main()
