"""Where Porcini's verdict once was not SPIN's. What SPIN says was seen by running it; one test asks it again."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, get_args
from unittest.mock import patch

import pytest

import porcini
from porcini.core.errors import InputError, InternalError
from porcini.engines.catalogue import Options
from porcini.engines.options import Reducing
from porcini.ir.operations import Send
from porcini.ir.packed import relations
from porcini.ir.packed.relations import Relations
from porcini.ir.packed.touch import NOTHING, Toucher
from porcini.ir.packed.transitions import disturbs
from porcini.ir.passes import merging

REDUCTIONS = get_args(Reducing)


class Case(NamedTuple):
    source: str
    fails: bool
    """May an assertion fail, something go wrong, or a formula not hold?"""
    states: int | None = None
    """As many as SPIN stores, without a reduction; where it stops at an error, it says nothing of the rest."""


TRACE = """mtype = {{ a, b }}; chan q = [2] of {{ mtype, byte }}; byte x;
trace {{ do :: q!a,_; q?a,_ :: q!b,2; q?b,2; break od }}
active proctype P() {{ q!a,1; x == 1; q!a,3; x == 2; {} }}
active proctype Q() {{ byte y; q?a,_; x = 1; q?a,y; x = 2; q?_,y }}"""
PLACES = {
    "an atomic that begins with a loop": ("x = 1; atomic { do :: x == 3 -> x = 0 od }", 12),
    "braces that begin with a loop": ("x = 1; { do :: x == 3 -> x = 0 od }", 14),
    "a loop inside an atomic, after a rendezvous": ("atomic { do :: r!0; r!1 od }", 12),
    "options that end with a rendezvous, then a choice": (
        "atomic { if :: r!0 :: r!2 fi; if :: r!1 :: r!3 fi }",
        22,
    ),
    "options that end with a rendezvous, then the last statement": ("atomic { if :: r!0 :: r!2 fi; r!1 }", 22),
    "a rendezvous, then a jump inside the atomic": ("atomic { do :: r!0; goto M od; M: do :: r!1 od }", 10),
    "a rendezvous, then a jump out of the atomic": ("L: atomic { if :: r!0; goto L :: r!2 fi; r!1 }", 23),
    "a rendezvous, then the end of two choices": ("atomic { if :: r!1; if :: r!2 fi fi; x = 2 }", 20),
    "a rendezvous, then the end of a loop": ("atomic { do :: r!0; break :: r!2 od; r!1 }", 23),
}
"""Bodies of a process, and how many states it has beside one that receives or not: it may stand where it does in
SPIN."""
RENDEZVOUS = "chan r = [0] of { byte }; byte x, y, z;"
CASES = {
    **{
        name: Case(
            f"""byte x; chan r = [0] of {{ byte }};
            active proctype I() {{ do :: if :: true; x = 3 :: r?x fi od }}
            active proctype R() {{ {body} }}""",
            False,
            states,
        )
        for name, (body, states) in PLACES.items()
    },
    "a d_step selects the first of a range that is no number": Case(
        "byte x = 1, i; active proctype P() { d_step { select(i : x .. 3) }; assert(i != 1) }", True
    ),
    "a message that is sorted in becomes the first": Case(
        """byte x, y; chan e = [3] of { byte };
        active proctype P() { e!2; x = 1 }
        active proctype S() { x == 1; assert(x == 1) }
        active proctype Q() { x == 1; atomic { e!!1; y = 1 } }
        active proctype R() { end: atomic { e?1; x = 2 } }
        active proctype T() { end: y == 1; y = 2 }""",
        True,
    ),
    "an escape begins with an option that can be escaped from": Case(
        """chan r = [0] of { byte }; chan v = [0] of { byte };
        active proctype R() { byte i;
            end: do :: { v?1 } unless { if :: { i = 1 } unless { true }; end1: r!1 fi } od }""",
        False,
        3,
    ),
    "at the end of an atomic choice nothing is escaped from": Case(
        """byte x; chan r = [0] of { byte }; active proctype P() { byte i; end: r?i }
        active proctype Q() { x = 1 }
        active proctype R() { byte i; atomic { if :: r!1 fi } unless { x; end: r?eval(i) } }""",
        False,
        11,
    ),
    "a d_step selects no other": Case(
        "byte x = 1, i; active proctype P() { d_step { select(i : x .. 3) }; assert(i == 1) }", False
    ),
    "the one to meet is not started yet": Case(
        f"""{RENDEZVOUS} proctype R() {{ end: r?1 }}
        active proctype P1() {{ run R() }}
        active proctype P2() {{ if :: r!1 -> assert(false) :: skip fi }}""",
        True,
    ),
    "who sends is not started yet": Case(
        f"""{RENDEZVOUS} proctype S() {{ end: r!1 }}
        active proctype P1() {{ run S() }}
        active proctype P2() {{ if :: r?x -> assert(false) :: skip fi }}""",
        True,
    ),
    "who is started is met in the same atomic": Case(
        f"""{RENDEZVOUS} proctype R() {{ end: r?x; y = 1 }}
        active proctype P1() {{ atomic {{ run R(); r!1 }}; z = 1 }}
        active proctype P2() {{ if :: x == 1 -> assert(y == 0) :: z == 0 fi }}""",
        True,
    ),
    "a partner who comes makes else impossible": Case(
        f"""{RENDEZVOUS} active proctype P1() {{ if :: r!1 :: else -> assert(false) fi }}
        active proctype P2() {{ x == 0; end: r?x }}""",
        True,
    ),
    "a partner who is started makes else impossible": Case(
        f"""{RENDEZVOUS} proctype R() {{ end: r?x }}
        active proctype P1() {{ if :: r!1 :: else -> assert(false) fi }}
        active proctype P2() {{ run R() }}""",
        True,
    ),
    "formulas do not look inside atomic, which keeps a sum": Case(
        """byte a = 10, b; active proctype P() { end: do :: atomic { a > 0; a--; b++ } od }
        ltl { [] (a + b == 10) }""",
        False,
    ),
    "formulas do not look inside atomic, which hides a value": Case(
        "byte x; active proctype P() { atomic { x = 1; x = 0 } } ltl { <> (x == 1) }", True
    ),
    "an atomic that blocks is seen": Case(
        "byte x; active proctype P() { atomic { x = 1; x == 2; x = 0 } } active proctype Q() { x == 1; x = 2 } "
        "ltl { <> (x == 1) }",
        False,
    ),
    "a d_step that begins with a rendezvous is not divided": Case(
        f"""{RENDEZVOUS} active proctype P() {{ d_step {{ r?x; y = 2 }} }}
        active proctype Q() {{ r!1; assert(y == 2) }}""",
        False,
        5,
    ),
    "a d_step with a choice after a rendezvous": Case(
        f"""{RENDEZVOUS}
        active proctype P() {{ d_step {{ r?x; y = 3; if :: x == 4 -> z = 1 :: else -> z = 2 fi }}; y = 4 }}
        active proctype Q() {{ r!4; assert(z == 1) }}""",
        False,
        8,
    ),
    "a d_step cannot wait for who receives": Case(
        f"""{RENDEZVOUS} active proctype P() {{ d_step {{ r!1; y = 2 }} }} active proctype Q() {{ r?x }}""", True
    ),
    "a d_step that begins with a choice takes its first option": Case(
        """byte x; active proctype P() { d_step { if :: x = 1 :: x = 2 fi; x = x + 3 }; x = x + 10 }
        active proctype Q() { end: x == 15; assert(false) }""",
        False,
        3,
    ),
    "a formula over a rendezvous into an atomic": Case(
        f"""{RENDEZVOUS} active proctype P() {{ atomic {{ r?x; y = 2; y == 2; y = 3 }} }}
        active proctype Q() {{ r!1 }} ltl {{ [] (y != 3) }}""",
        True,
    ),
    "what a started process begins with": Case(
        """byte f = 1, x; proctype R() { byte k = f; assert(k == 1) }
        active proctype P() { f = 0 } active proctype Q() { run R() }""",
        True,
    ),
    "a jump alone in an atomic is a step": Case(
        """byte x; active proctype P() { x = 1; atomic { goto L }; x = 5; L: x = 2 }
        active proctype Q() { x = 3 }""",
        False,
        20,
    ),
    "a jump alone in braces is a step": Case(
        """byte x; active proctype P() { x = 1; { goto L }; x = 5; L: x = 2 } active proctype Q() { x = 3 }""",
        False,
        20,
    ),
    "a jump with a label that is asked for is a step": Case(
        """byte x; active proctype P() { do :: x < 3 -> x++ :: x > 1 -> m: break od }
        active proctype Q() { P@m; assert(false) }""",
        True,
    ),
    "a send inside an atomic that waits for who receives": Case(
        """byte x; chan c = [1] of { byte };
        active proctype Q() { end: c!7; c?_ }
        active proctype P() { atomic { x = 1; c!1; x = 2 } }
        active proctype R() { end: x == 1; false }""",
        True,
    ),
    "a private step before a receive can be seen": Case(
        f"""{RENDEZVOUS} active proctype P() {{ z == 1; if :: r!1 :: else -> assert(false) fi }}
        active proctype Q() {{ byte i; z = 1; i = 1; end: r?_ }}""",
        True,
    ),
    "a jump from one atomic into another does not interrupt": Case(
        """byte x; active proctype S() { atomic { x = 1; goto f }; atomic { skip; f: x = 0 } }
        active proctype Q() { assert(x == 0) }""",
        False,
        7,
    ),
    "a jump to where an atomic begins interrupts": Case(
        """byte x; active proctype S() { atomic { x = 1; goto f }; f: atomic { x = 0; skip } }
        active proctype Q() { assert(x == 0) }""",
        True,
    ),
    "an else in a sequence can be taken": Case("byte x; active proctype P() { x = 1; else; x = 2 }", False, 5),
    "a label on a for is on its loop": Case(
        """byte n, k, i; active proctype F() {
        L: for (i : 0 .. 1) { n++ }; k++; if :: k < 2 -> goto L :: else fi; assert(n == 4) }""",
        True,
    ),
    "a label on a select that counts is on its loop": Case(
        "byte i; active proctype F() { i = 7; goto L; L: select(i : 0 .. (1)); assert(i < 2) }", True
    ),
    "a select of many numbers is a loop, which a d_step goes round": Case(
        "byte t, s; active proctype P() { d_step { select(s : 1 .. 40); t = s }; assert(t == 40) }", False, 4
    ),
    "a select of fewer is not": Case(
        "byte t, s; active proctype P() { d_step { select(s : 1 .. 33); t = s }; assert(t == 1) }", False, 4
    ),
    "a label on a select of many numbers is before its first step": Case(
        "byte s; active proctype P() { s = 7; goto L; L: select(s : 0 .. 40); assert(s < 41); s = 50 }", False
    ),
    "a select of a name with an underscore is a loop": Case(
        "active proctype P() { byte a_b; select(a_b : 1 .. 3); a_b = 5 }", False, 11
    ),
    "a select in an inline is a loop": Case(
        "inline f(v) { select(v : 1 .. 3); v = 7 } active proctype P() { byte s; f(s); s = 5 }", False, 12
    ),
    "a select on two lines is a loop": Case(
        "active proctype P() { byte s; select(s : 1\n.. 3); s = 5 }", False, 11
    ),
    "a select counts if its bounds are more than numbers": Case(
        "byte f; active proctype P() { select(f : 1 .. (3)) } ltl { !((f == 0) U (f == 3)) }", False
    ),
    "a rendezvous channel is never full": Case(
        f"{RENDEZVOUS} active proctype P() {{ end: full(r); assert(false) }}", False, 1
    ),
    "a rendezvous channel has room": Case(f"{RENDEZVOUS} active proctype P() {{ nfull(r); assert(false) }}", True),
    "a rendezvous channel cannot be polled": Case(f"{RENDEZVOUS} active proctype P() {{ end: r?[1] }}", True),
    "a guard that is protected from an error": Case(
        "byte a[3], p; active proctype Q() { end: (p > 0 && a[6 / p] == 1) }", False, 1
    ),
    "32 bits of a product": Case("int j = 65536; active proctype P() { assert(j * j) }", True),
    "32 bits of a sum": Case("int k = 2147483647; active proctype P() { assert(k + 1 < 0) }", False, 3),
    "an escape goes first": Case(
        """byte x, y; active proctype P() { { x = 1; x = 2; x = 3 } unless { y == 1 -> x = 9 }; assert(x != 2) }
        active proctype Q() { y = 1 }""",
        False,
    ),
    "the outermost escape goes before the others": Case(
        """byte x, y; active proctype P() {
        { { x = 1; x = 2 } unless { y == 1; x = 9; assert(false) } } unless { y >= 1; x = 20 } }
        active proctype Q() { y = 1 }""",
        False,
    ),
    "an escape of one option goes before the others": Case(
        """byte x, y = 1; active proctype P() { if :: { x = 1 } unless { y == 1 } :: x = 5; assert(false) fi }""",
        False,
        3,
    ),
    "who is provided with nothing answers nobody": Case(
        f"""{RENDEZVOUS} active proctype P() provided (x == 0) {{ end: r?y; assert(false) }}
        active proctype Q() {{ x = 1; end2: r!1 }}""",
        False,
    ),
    "a later receive is only there when an escape does not take the message": Case(
        f"""{RENDEZVOUS} active proctype P() {{ {{ r?x; assert(false) }} unless {{ r?y }} }}
        active proctype Q() {{ r!1 }}""",
        False,
    ),
    "who has a higher priority goes first": Case(
        """byte x; active proctype P() priority 2 { x = 1; x = 2 } active proctype Q() { assert(x == 2) }""",
        False,
    ),
    "who has a higher priority and cannot go does not keep others": Case(
        """byte x; active proctype P() priority 2 { end: x == 7 } active proctype Q() { assert(x == 2) }""", True
    ),
    "who took the last step": Case(
        """byte x; active proctype P() { x++ } active proctype Q() { x == 1; assert(_last == 0) }""", True
    ),
    "a process leaves a label and comes back to it": Case(
        "bit b; active proctype Q() { L0: !b; true; goto L0 } ltl { [] (Q@L0) }", True
    ),
    "escapes at the head of a block go together": Case(
        "byte x; active proctype P() { { { { x == 3 } unless { assert(false) } } unless { x = 1 } } }", True
    ),
    "a rendezvous cannot be copied": Case(
        f"{RENDEZVOUS} active proctype P() {{ r?<x> }} active proctype Q() {{ r!1 }}", True
    ),
    "a trace that allows what happens": Case(TRACE.format("q!b,2"), False, 13),
    "a trace that does not allow what is sent": Case(TRACE.format("q!b,1"), True),
    "a notrace that comes to its end": Case(
        """chan q = [2] of { byte }; notrace { do :: q?1 :: q?2 -> break od }
        active proctype P() { byte y; q!1; q!2; q?_; q?y }""",
        True,
    ),
    "a notrace that does not come to its end": Case(
        """chan q = [2] of { byte }; notrace { do :: q?1 :: q?2 -> break od }
        active proctype P() { byte y; q!1; q!3; q?_; q?y; q!2; q?_ }""",
        False,
        8,
    ),
    "a process that dies first leaves its number to the next one": Case(
        """byte n; proctype A() { n = _pid } proctype M() { skip }
        init { run M(); run A(); (n > 0); assert(n != 2) }""",
        True,
    ),
    "an atomic is left where who receives has not come yet": Case(
        f"""{RENDEZVOUS} active proctype P() {{ atomic {{ x = 1; r!1 }} }}
        active proctype Q() {{ byte i; i = 1; atomic {{ r?_; x = 0 }} }}
        active proctype R() {{ assert(x == 0) }}""",
        True,
    ),
    "a rendezvous interrupts an atomic at the end of an option": Case(
        f"""{RENDEZVOUS} chan v = [0] of {{ byte }}; active proctype P() {{ end: do :: v?_ od }}
        active proctype Q() {{ atomic {{
            if :: v!1 :: v!2; if :: x -> skip :: else -> v!1 fi fi; x++; end: r?y }} }}""",
        False,
        4,
    ),
    "a rendezvous interrupts an atomic before the way back to a loop, and out of it": Case(
        f"""{RENDEZVOUS} chan v = [0] of {{ byte }}; active proctype P() {{ end: do :: v?_ od }}
        active proctype Q() {{ atomic {{
            do :: v!1 :: x = 1 - x; do :: v!2 :: v!3; break od :: break od; x = 3; end: r?y }} }}""",
        False,
        6,
    ),
    "a rendezvous interrupts an atomic before a jump": Case(
        f"""{RENDEZVOUS} chan v = [0] of {{ byte }}; active proctype P() {{ end: do :: v?_ od }}
        active proctype Q() {{ atomic {{ if :: v!2; goto L :: v!1 fi; x = 1; L: endL: r?y }} }}""",
        False,
        5,
    ),
    "an atomic moves a third process to where it answers beside an else": Case(
        f"""{RENDEZVOUS} chan c = [0] of {{ bit }}; active proctype P() {{ atomic {{ skip; r!1 }} }}
        active proctype Q() {{ r?_; c?_ }} active proctype E() {{ if :: c!1 :: else -> assert(false) fi }}""",
        True,
    ),
    "an atomic that is met moves a third process": Case(
        f"""{RENDEZVOUS} chan c = [0] of {{ bit }}; chan e = [0] of {{ bit }}; active proctype P() {{ r!0 }}
        active proctype Q() {{ atomic {{ r?_; y = 1; e!0 }} }} active proctype S() {{ e?_; end: c?_ }}
        active proctype E() {{ if :: c!1 :: else -> assert(false) fi }}""",
        True,
    ),
    "an atomic moves a third process to where it interrupts": Case(
        f"""{RENDEZVOUS} chan c = [0] of {{ bit }}; active proctype P() {{ atomic {{ y = 1; r!1 }} }}
        active proctype Q() {{ r?_; end: c?_ }}
        active proctype E() {{ {{ x = 2; assert(false) }} unless {{ c!1 }} }}""",
        True,
    ),
    "an atomic moves a third process from where nobody else can": Case(
        f"""{RENDEZVOUS} active proctype E() {{ x = 1 }}
        active proctype P() {{ atomic {{ skip; if :: r!1 :: else fi }} }}
        active proctype Q() {{ end: r?_; assert(x == 1) }}""",
        True,
    ),
    "who is started later moves a third process": Case(
        f"""{RENDEZVOUS} proctype P() {{ atomic {{ skip; if :: r!1 :: else fi }} }}
        active proctype Q() {{ end: r?_; assert(x == 1) }} active proctype E() {{ x = 1 }} init {{ run P() }}""",
        True,
    ),
    "who is started later moves a third process to where it answers": Case(
        f"""{RENDEZVOUS} chan c = [0] of {{ bit }}; proctype P() {{ atomic {{ skip; r!1 }} }}
        active proctype Q() {{ r?_; c?_ }} active proctype E() {{ if :: c!1 :: else -> assert(false) fi }}
        init {{ run P() }}""",
        True,
    ),
    "where an atomic begins is not at the label of its loop": Case(
        "active proctype P() { atomic { L0: do :: break od } } ltl { (false) W (P[0]@L0) }", True
    ),
    "nor where a block begins": Case(
        """byte x; active proctype P() { { L0: do :: x == 0 -> x = 1 :: x == 1 -> break od } }
        ltl { (false) W (P[0]@L0) }""",
        True,
    ),
    "but there it comes back to": Case(
        """byte x; active proctype P() { { L0: do :: x == 0 -> x = 1 :: x == 1 -> break od } }
        ltl { [] (P[0]@L0 -> x == 1) }""",
        False,
    ),
    "a formula that asks who can move sees private steps": Case(
        """byte g; active proctype P() { byte l; g = 1; l = 1; g == 2 }
        ltl { [] (g == 1 -> !enabled(0)) }""",
        True,
    ),
    "a select with its bracket on the next line": Case(
        "byte j; active proctype A() { select\n (j : 0 .. 1); }", False, 5
    ),
    "a private step after a rendezvous into an atomic": Case(
        f"{RENDEZVOUS} active proctype P() {{ byte i; r!1; i = 2; x = i }} init {{ atomic {{ r?y; z = 1 }} }}",
        False,
        8,
    ),
    "one of several skips in an option": Case("active proctype P() { do :: skip; skip; true od }", False, 2),
}


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("optimise", [True, False])
@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_verdict(case: Case, reduction: Reducing, optimise: bool) -> None:
    options = Options(reduction=reduction, optimise=optimise)
    report = porcini.check(porcini.loads(case.source, "pml"), options=options)
    assert (report.verdict == "violated") == case.fails
    for outcome in report.outcomes:
        again = porcini.replay(porcini.loads(case.source, "pml"), outcome.schedule)
        assert again.outcomes[0].kind == outcome.kind


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("optimise", [True, False])
def test_a_parameter_in_provided_is_read_at_every_point(reduction: Reducing, optimise: bool) -> None:
    """SPIN takes no parameters there."""
    source = """byte g; proctype P(byte x) provided (x > 0) { x = x; g = 1; assert(g == 2) }
    init { run P(1); do :: g == 0 -> skip :: g == 7 -> break od }"""
    report = porcini.check(porcini.loads(source, "pml"), options=Options(reduction=reduction, optimise=optimise))
    assert report.verdict == "violated"


def fails(case: Case) -> bool:
    return porcini.check(porcini.loads(case.source, "pml")).verdict == "violated"


def _by_who_begins(one: Any, other: Any) -> bool:
    """A transition disturbs an `else` by the processes only that begin it."""
    begin = {mover.slot for mover, _ in one.stands}
    ends = {slot: points for slot, points in one.ends.items() if slot in begin}
    return disturbs(replace(one, ends=ends), other)


_touched_by = Toucher._talk


def _sorted_in_at_the_tail(self: Toucher, talk: Any) -> Any:
    """As if a message that is sorted in were never the first."""
    return _touched_by(self, replace(talk, ordered=False) if isinstance(talk, Send) else talk)


MUTANTS = [
    ("a message that is sorted in becomes the first", Toucher, "_talk", _sorted_in_at_the_tail),
    ("the one to meet is not started yet", Relations, "_later_meetings", lambda *_: None),
    ("the one to meet is not started yet", Relations, "_find_later", lambda *_: None),
    ("who sends is not started yet", Relations, "_later_meetings", lambda *_: None),
    ("a partner who comes makes else impossible", Relations, "_watch_partners", lambda *_: None),
    ("a send inside an atomic that waits for who receives", relations, "_tested", lambda *_: NOTHING),
    ("a private step before a receive can be seen", merging, "_may_be_missed", lambda *_: False),
    ("an atomic moves a third process from where nobody else can", Relations, "_may_be_moved", lambda *_: None),
    ("an atomic moves a third process to where it answers beside an else", relations, "disturbs", _by_who_begins),
    ("an atomic moves a third process to where it interrupts", relations, "disturbs", _by_who_begins),
    ("what a started process begins with", Toucher, "_first_value", lambda *_: NOTHING),
]


@pytest.mark.parametrize(("name", "place", "condition", "mutant"), MUTANTS)
def test_each_condition_is_needed(name: str, place: object, condition: str, mutant: Any) -> None:
    """Without it the failure is lost, or a step is not found again that was foreseen."""
    assert fails(CASES[name])
    counted = patch.object(
        relations, "_forgets_numbers", lambda *_: False
    )  # else starts are taken before all others
    with counted, patch.object(place, condition, mutant):
        try:
            assert not fails(CASES[name])
        except InternalError as problem:
            assert "no step leads" in str(problem)


@pytest.mark.parametrize(
    "case", [c for c in CASES.values() if c.states], ids=[n for n in CASES if CASES[n].states]
)
def test_states(case: Case) -> None:
    options = Options(reduction="none", optimise=False)
    assert porcini.check(porcini.loads(case.source, "pml"), options=options).counts.states == case.states


@pytest.mark.skipif(not (shutil.which("spin") and shutil.which("tcc")), reason="SPIN or tcc is not installed")
@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_spin_agrees(case: Case, tmp_path: Path) -> None:
    (tmp_path / "model.pml").write_text(case.source)
    subprocess.run(["spin", "-a", "-o1", "-o2", "-o3", "model.pml"], cwd=tmp_path, capture_output=True, check=True)
    subprocess.run(["tcc", "-w", "-DNOREDUCE", "-o", "pan", "pan.c"], cwd=tmp_path, check=True)
    pan = ["./pan", "-a", "-m10000"]
    said = subprocess.run(pan, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    assert ("errors: 0" not in said) == case.fails
    stored = re.search(r"(\d+) states, stored", said)
    assert stored is not None and case.states in (None, int(stored[1]))


JUMP = "byte x; active proctype P() { do :: x < 3 -> x++ :: x > 1 -> m: break od; x = 0 }"


def test_a_label_on_a_jump_that_the_model_does_not_ask_for(tmp_path: Path) -> None:
    """Nobody stands there; what is asked from outside must not be answered as if the model never came by."""
    model, claim = porcini.loads(JUMP, "pml"), tmp_path / "claim"
    with pytest.raises(InputError, match="nobody stands at `m`"):
        porcini.check(model, ltl="[] !P@m")
    claim.write_text("never { do :: P@m -> break :: else od }")
    with pytest.raises(InputError, match="nobody stands at `m`"):
        porcini.check(model, claim=claim)


def test_a_label_that_an_included_file_asks_for(tmp_path: Path) -> None:
    (tmp_path / "formula").write_text("ltl { [] !P@m }")
    (tmp_path / "model.pml").write_text(f'{JUMP}\n#include "formula"\n')
    assert porcini.check(tmp_path / "model.pml").verdict == "violated"


CLAIMS = {
    "a variable of a process, where a label could be": (
        "active proctype Q() { byte y; y = 2; y = 3 } byte y; never { do :: Q:y == 2 -> break :: true od }",
        True,
    ),
    "one in a statement": (
        "active proctype Q() { byte y = 1; y = 2; y = 3 } byte y; active proctype R() { Q:y == 2; assert(false) }",
        True,
    ),
    "one in an inline that was written before": (
        "inline f() { Q:y == 2; assert(false) } active proctype Q() { byte y; y = 2; y = 3 } byte y; "
        "active proctype R() { f() }",
        True,
    ),
    "a label of the name of a later proctype": (
        "byte y; active proctype R() { Q: y++; if :: y < 3 -> goto Q :: else fi; assert(y != 3) } "
        "proctype Q() { skip }",
        True,
    ),
    "an end label of a claim": (
        "byte x; active proctype P() { do :: x = 1 - x od } never { end: do :: true od }",
        True,
    ),
    "an end label that is not reached": (
        "byte x; active proctype P() { do :: x = 1 - x od } never { do :: true :: x == 2 -> end: true od }",
        False,
    ),
    "an accept label of a process": (
        "byte x; active proctype P() { accept: do :: x = 1 - x od } never { do :: true od }",
        True,
    ),
    "one that is left for ever": (
        "byte x; active proctype P() { accept: x = 1; do :: x = 3 - x od } never { do :: true od }",
        False,
    ),
    "one on the way that a claim goes along with": (
        "byte x; active proctype P() { do :: x < 5 -> accept: x++ :: x = 0 od } never { do :: x < 2 od }",
        True,
    ),
    "one after which the claim cannot go on": (
        "byte x; active proctype P() { do :: x < 5 -> accept: x++ :: x = 0 od } never { do :: x < 1 od }",
        False,
    ),
}


@pytest.mark.parametrize("machine", ["python", "native"])
@pytest.mark.parametrize("source, fails", CLAIMS.values(), ids=list(CLAIMS))
def test_claims(source: str, fails: bool, machine: Any) -> None:
    report = porcini.check(porcini.loads(source, "pml"), options=Options(machine=machine))
    found = report.verdict == "violated" and (report.trail is not None or "assertion" in str(report))
    assert found == fails


@pytest.mark.skipif(not (shutil.which("spin") and shutil.which("tcc")), reason="SPIN or tcc is not installed")
@pytest.mark.parametrize("source, fails", CLAIMS.values(), ids=list(CLAIMS))
def test_spin_agrees_on_claims(source: str, fails: bool, tmp_path: Path) -> None:
    test_spin_agrees(Case(source, fails), tmp_path)


@pytest.mark.parametrize(
    "source, message",
    [
        ("active proctype P() { skip } never { do :: timeout -> break :: true od }", "`timeout` in a never claim"),
        (
            "byte x; active proctype P() { do :: atomic { x = 1; accept: x = 0 } od } never { do :: true od }",
            "`accept` is inside of `atomic`",
        ),
    ],
)
def test_claims_that_are_refused(source: str, message: str) -> None:
    """The first was an internal error. SPIN's verifier sees such a label, although no state is stored there."""
    with pytest.raises(InputError, match=message):
        porcini.check(porcini.loads(source, "pml"))


def test_a_formula_has_no_part_in_accept_labels() -> None:
    """`pan -a` reports a cycle; the formula holds."""
    model = porcini.loads("byte x; active proctype P() { accept: do :: x = 1 - x od } ltl p { [] (x < 2) }", "pml")
    report = porcini.check(model)
    assert report.formulas == {"p": "holds"} and any("--acceptance" in note for note in report.notes)
    assert porcini.check(model, cycles="acceptance").verdict == "violated"
