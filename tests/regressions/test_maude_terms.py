"""Theories that their transformed form misread: brackets lost around a user's commas, and names that were ours.

The verdict of Maude on the theory as it is, must be the one on the transformed theory, and of `graph`.
"""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pytest

from cli.test_cli import porcini  # noqa: F401  (fixture)

_numbers = count()
THREADS = """
  sorts Thread Cell Conf .  subsorts Thread Cell < Conf .
  op none : -> Conf [ctor] .  op __ : Conf Conf -> Conf [ctor assoc comm id: none] .
"""
SET = """  sort Names .  subsort Nat < Names .  op empty : -> Names [ctor] .  var Ns : Names .
  op _,_ : Names Names -> Names [ctor assoc comm id: empty PREC] .
  op member : Nat Names -> Bool .  eq member(X, (X, Ns)) = true .  eq member(X, Ns) = false [owise] .
"""
ADDING = """  op t : Nat Nat -> Thread [ctor] .  op d : Nat -> Thread [ctor] .  op c : Names -> Cell [ctor] .
  crl [add] : t(I, X) c(Ns) => d(I) c((X, Ns)) if not member(X, Ns) .
  op init : -> Conf .  eq init = t(0, 1) t(1, 2) t(2, 1) c(empty) .
"""
HAS = "  var Ns : Names .  eq c((X, Ns)) S |= has(X) = true .  eq t(I, X) S |= left = true .\n"
THEORIES = {
    "a set": (SET.replace("PREC", "prec 60") + ADDING, HAS),
    "a loose set": (SET.replace("PREC", "prec 121") + ADDING, HAS),
    "a set without a precedence": (SET.replace("PREC", "") + ADDING, HAS),
    "a set, and others with an argument more": (
        SET.replace("PREC", "prec 121")
        + "  op member : Nat Nat Names -> Bool .  op c : Nat Names -> Cell [ctor] .\n"
        "  eq member(X, I, Ns) = true .\n" + ADDING,
        HAS,
    ),
    "a list and a set with one comma": (
        SET.replace("PREC", "prec 60") + "  sort Pair .  op a : -> Pair [ctor] .\n"
        "  op _,_ : Pair Pair -> Pair [ctor prec 60] .  op first : Pair -> Bool .  vars Q Q' : Pair .\n"
        "  eq first((a, (Q, Q'))) = true .  eq first(Q) = false [owise] .\n"
        + ADDING.replace("if not member(X, Ns)", "if not member(X, Ns) /\\ not first(((a, a), a))"),
        HAS,
    ),
    "a map": (
        "  protecting MAP{Nat, Nat} * (sort Map{Nat, Nat} to Memory) .\n  var M : Memory .  var V : Nat .\n"
        "  op t : Nat Nat -> Thread [ctor] .  op d : Nat -> Thread [ctor] .  op c : Memory -> Cell [ctor] .\n"
        "  crl [add] : t(I, X) c(M) => d(I) c(insert(X, I, M)) if not $hasMapping(M, X) .\n"
        "  op init : -> Conf .  eq init = t(0, 1) t(1, 2) t(2, 1) c((7 |-> 7, 8 |-> 8)) .\n",
        "  vars V : Nat .  var M : Memory .  eq c((X |-> V, M)) S |= has(X) = true .\n"
        "  eq t(I, X) S |= left = true .\n",
    ),
    "brackets": (
        "  op <_,_> : Nat Nat -> Thread [ctor] .  op d : Nat -> Thread [ctor] .\n"
        "  op [_|_,_] : Nat Nat Nat -> Cell [ctor] .\n"
        "  op _,_ : Nat Nat -> Nat [prec 20] .  eq (I , X) = I + X .  vars V W : Nat .\n"
        "  crl [add] : < I, X > [X | V, W] => d(I) [X | (1, V), W] if V == 0 .\n"
        "  op init : -> Conf .  eq init = < 0, 1 > < 1, 2 > < 2, 1 > [1 | 0, 0] [2 | 0, 0] .\n",
        "  vars V W : Nat .  eq [X | 1, W] S |= has(X) = true .  eq < I, X > S |= left = true .\n",
    ),
    "threads and cells that are written alike": (
        "  sort Key .  op k : Nat -> Key [ctor] .  var W : Nat .\n"
        "  sort Code .  op [_,_] : Key Key -> Code [ctor] .  var Y : Key .  op d : Key -> Key [ctor] .\n"
        "  op [_,_] : Key Nat -> Cell [ctor] .  op [_,_] : Nat Code -> Thread [ctor] .\n"
        "  op d : Nat -> Thread [ctor] .\n"
        "  rl [add] : [I, [k(X), Y]] [k(X), 0] => d(I) [k(X), 1] .\n"
        "  op init : -> Conf .\n"
        "  eq init = [0, [k(1), k(0)]] [1, [k(2), k(0)]] [2, [k(1), k(0)]] [k(1), 0] [k(2), 0] .\n",
        "  var Y : Code .  eq [k(X), 1] S |= has(X) = true .  eq [I, Y] S |= left = true .\n",
    ),
    "our names": (
        "  sorts Way Location Footprint PState ThreadList StateInfo .  op nothing : -> Location .\n"
        "  ops Start C U anything : -> Location .  op way0 : -> Way .  op reads : Nat -> Location .\n"
        "  op _;;_ : Thread Conf -> Conf .  op _in_ : Thread Conf -> Bool .  op _Now_ : Nat Nat -> Nat .\n"
        "  op ready : Nat Nat -> Thread [ctor] .  op moved : Nat -> Thread [ctor] .\n"
        "  op enabled : Nat Nat -> Cell [ctor] .  op Uses : Nat -> Nat .  op Weight : Thread -> Nat .\n"
        "  crl [step] : ready(I, X) enabled(X, V:Nat) => moved(I) enabled(X, 1) if V:Nat == 0 .\n"
        "  op init : -> Conf .  eq init = ready(0, 1) ready(1, 2) ready(2, 1) enabled(1, 0) enabled(2, 0) .\n",
        "  eq enabled(X, 1) S |= has(X) = true .  eq ready(I, X) S |= left = true .\n",
    ),
    "states in our brackets": (
        "  sort Sys .  op {_|_} : Conf Nat -> Sys [ctor] .\n"
        "  op t : Nat Nat -> Thread [ctor] .  op d : Nat -> Thread [ctor] .  op c : Nat Nat -> Cell [ctor] .\n"
        "  crl [add] : t(I, X) c(X, V:Nat) => d(I) c(X, 1) if V:Nat == 0 .\n"
        "  op init : -> Sys .  eq init = { t(0, 1) t(1, 2) t(2, 1) c(1, 0) c(2, 0) | 5 } .\n",
        "  var N : Nat .  eq { c(X, 1) S | N } |= has(X) = true .  eq { t(I, X) S | N } |= left = true .\n",
    ),
}


def written(folder: Path, name: str) -> str:
    body, props = THEORIES[name]
    module, state = f"TERMS{next(_numbers)}", "Sys" if "sort Sys" in body else "Conf"
    path = folder / "model.maude"
    path.write_text(
        "sload model-checker\nview Nat from TRIV to NAT is sort Elt to Nat . endv\n".replace(
            "view Nat", f"view V{module}"
        )
        + f"mod {module} is\n  protecting NAT .\n{THREADS}  vars I X : Nat .\n{body}endm\n".replace(
            "{Nat, Nat}", f"{{V{module}, V{module}}}"
        )
        + f"mod {module}-PROPS is\n  protecting {module} .  including SATISFACTION .  subsort {state} < State .\n"
        "  op has : Nat -> Prop [ctor] .  op left : -> Prop [ctor] .  vars I X : Nat .  var S : Conf .\n"
        f"{props}  eq Z:{state} |= P:Prop = false [owise] .\nendm\n"
    )
    keys = {"module": module, "initial": "init", "state": state, "thread": "Thread", "tid": "Nat"}
    keys["propositions"] = f"{module}-PROPS"
    path.with_suffix(".toml").write_text("".join(f'{key} = "{value}"\n' for key, value in keys.items()))
    return str(path)


FORMULAS = {"<> ~ left": 1, "[] left": 0, "<> has(1)": 0, "<> [] (has(1) /\\ has(2))": 0, "[] ~ has(2)": 1}
"""Two threads want to put 1, and one of them may: so one is left, whatever the order."""

WAYS = (["--ample", "closure"], ["--ample", "single"], ["--engine", "graph"], ["--no-reduction"])


@pytest.mark.parametrize("name", THEORIES)
def test_verdicts_are_those_of_the_theory_as_it_is(porcini, tmp_path: Path, name: str) -> None:  # noqa: F811
    """Each formula in one of the ways, another one for each theory: all of them would take minutes."""
    file, first = written(tmp_path, name), list(THEORIES).index(name)
    for number, (formula, expected) in enumerate(FORMULAS.items(), first):
        options = WAYS[number % len(WAYS)]
        status, out, err = porcini("check", file, "--ltl", formula, *options, "--json")
        assert (status, err) == (expected, ""), (formula, options, out)
        assert json.loads(out)["verdict"] == ("violated" if expected else "holds")
    status, out, _ = porcini("explore", file, "--json")
    assert {each["kind"] for each in json.loads(out)["outcomes"]} == {"deadlock"}, "one of the three has to wait"


@pytest.mark.parametrize("name", THEORIES)
def test_transformed_theories_can_be_printed(porcini, tmp_path: Path, name: str) -> None:  # noqa: F811
    status, out, err = porcini("transform", written(tmp_path, name), "--ltl", "[] ~ has(2)")
    assert (status, err) == (0, "") and "MarkAmples" in out
    if name == "a set":
        assert "member(X, (X , Ns))" in out
    if name == "our names":
        assert "Start is Start2" in out and "op Start2 : -> PState2 ." in out


def test_a_misreading_is_noticed(porcini, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """A printer that forgets brackets: its text is read back, found to be wrong, and written without mixfix."""
    from porcini.langs.maude.text import Printer

    monkeypatch.setattr(Printer, "argument", lambda self, node: self.term(node))
    file = written(tmp_path, "a set")
    status, out, err = porcini("transform", file)
    assert (status, err) == (0, "") and "member(X:Nat, _`,_(X:Nat, Ns:Names))" in out
    monkeypatch.setattr(Printer, "_before_arguments", lambda self, node: self._mixfix(node)[0])
    status, out, err = porcini("transform", written(tmp_path, "a set"))
    assert (status, out) == (4, "") and "a generated module is wrong" in err
