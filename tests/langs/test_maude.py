"""Rewrite theories: what is derived from rules, what `transform` writes, and the shapes that states may have."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import porcini
from helpers import engines_agree
from laws.test_maude_laws import ENGINES, nothing_is_lost, one_step_bisimilar, reduced
from porcini.cli import main
from porcini.core.errors import InputError, InternalError
from porcini.engines.catalogue import Options
from porcini.langs import maude
from porcini.langs.maude import derived, visibility
from porcini.langs.maude.derived import Derived
from porcini.langs.maude.terms import Apply

EXAMPLES = Path(__file__).parents[2] / "examples" / "maude"


def example(name: str, por: str | None = None) -> maude.Model:
    return maude.load(str(EXAMPLES / f"{name}.maude"), por and str(EXAMPLES / f"{por}.toml"))


@pytest.fixture
def theory(tmp_path):
    """Write a theory with its description, and load it."""

    def write(name: str, body: str, state: str = "Conf", tid: str = "Nat", props: str = "") -> porcini.Model:
        text = f"sload model-checker\nmod {name} is\n  protecting NAT .\n{body}\nendm\n"
        described = {"module": name, "initial": "init", "state": state, "thread": "Thread", "tid": tid}
        if props:
            described["propositions"] = f"{name}-PROPS"
            text += f"mod {name}-PROPS is\n  protecting {name} .\n  including SATISFACTION .\n"
            text += f"  subsort {state} < State .\n  op x : Nat -> Prop [ctor] .\n{props}\nendm\n"
        path = tmp_path / f"{name.lower()}.maude"
        path.write_text(text)
        path.with_suffix(".toml").write_text("".join(f'{k} = "{v}"\n' for k, v in described.items()))
        return porcini.load(path)

    return write


# What is derived


def accesses(model: maude.Model) -> dict[str, set[tuple[str, int, bool]] | None]:
    """By rule: which parts, with how many keys, written or not."""
    found: Derived = model.derived
    return {
        rule.label: None if touched is None else {(a.part[0], len(a.keys), a.writes) for a in touched}
        for rule, touched in zip(model.theory.rules, found.accesses.values(), strict=True)
    }


def test_threads_touch_the_cells_and_locks_that_they_name() -> None:
    model = example("counter")
    assert model.derived.keys == {("`[_=_`]", 2): (0,), ("lock", 2): (0,)}
    assert accesses(model) == {
        "loop": set(),
        "yield": set(),
        "load": {("`[_=_`]", 1, False)},
        "store": {("`[_=_`]", 1, True)},
        "acquire": {("lock", 1, True)},
        "release": {("lock", 1, True)},
    }
    assert model.derived.unknown is None and model.notes == ()
    assert set(model.derived.uses) == {
        ("load_into_", 2, (0,)),
        ("store_into_", 2, (1,)),
        ("acquire_", 1, (0,)),
        ("release_", 1, (0,)),
    }


def test_channels_are_written_by_both_ends() -> None:
    found = accesses(example("table"))
    assert found.pop("guard") == set()
    assert list(found) == ["send", "receive", "choose-send", "choose-receive"]
    assert all(touched == {("chan", 1, True)} for touched in found.values())


def test_a_store_is_one_location_as_a_whole() -> None:
    model = example("vineyard")
    assert model.derived.keys == {("store", 1): ()}
    assert accesses(model) == {
        "assign": {("store", 0, True)},
        "test": {("store", 0, False)},
        "spawn": {("store", 0, False)},
    }


def test_footprints_by_derivation_and_by_the_user_are_the_same_but_for_names(tmp_path) -> None:
    """THREADS-POR says what the tool derives."""
    described = (EXAMPLES / "counter.toml").read_text()
    given = tmp_path / "given.toml"
    given.write_text(described + 'dependence = "THREADS-POR"\nfuture = "THREADS-POR"\n')
    systems = [example("counter"), maude.load(str(EXAMPLES / "counter.maude"), str(given))]
    seen = []
    for model in systems:
        system = maude.MaudeSystem(model)
        state, found = system.initial(), []
        for _ in range(4):
            first, *_ = (action for action in system.actions(state) if action.enabled)
            ahead = system.may_still_do(state, first.pid)
            for foot in (first.footprint, ahead):
                found.append([sorted(place.split("(")[1] for place in side) for side in (foot.reads, foot.writes)])
            state, _ = system.fire(state, first)
        seen.append(found)
    assert seen[0] == seen[1]
    assert porcini.explore(porcini.load(EXAMPLES / "counter.maude")).counts == (
        porcini.explore(porcini.load(EXAMPLES / "counter.maude", por=str(given))).counts
    )


SOUP = """
  sorts Thread Cell Conf .  subsorts Thread Cell < Conf .
  op none : -> Conf [ctor] .  op __ : Conf Conf -> Conf [ctor assoc comm id: none] .
"""
BARE = """
  sorts Thread Cell Conf .  subsorts Thread Cell < Conf .
  op __ : Conf Conf -> Conf [ctor assoc comm] .
"""
ADDING = """
  op t : Nat Nat -> Thread [ctor] .  op c : Nat Nat -> Cell [ctor] .  vars I K V : Nat .  var S : Conf .
"""


def test_a_rule_that_looks_at_the_rest_touches_anything(theory) -> None:
    model = theory(
        "LOOKS",
        f"{SOUP}{ADDING}  op zero : Conf -> Bool .  eq zero(c(0, 0) S) = true .  eq zero(S) = false [owise] .\n"
        "  crl [add] : t(I, s K) c(K, V) S => t(I, K) c(K, s V) S if zero(S) or K == 0 .\n"
        "  op init : -> Conf .  eq init = t(0, 2) t(1, 1) c(0, 0) c(1, 0) .",
    )
    assert accesses(model.graph) == {"add": None}
    assert "rule `add` looks at more than some parts of the state" in model.graph.notes[0]
    engines_agree(model.system(), ENGINES, 100)


# What `transform` writes

PLAIN_MAUDE = """
import sys
import maude
maude.init(advise=False)
for file in sys.argv[2:]:
    assert maude.load(file), file
name, formula = sys.argv[1].split("|")
module = maude.getModule(name)
term = module.parseTerm(f"modelCheck(Start, {formula})")
assert term is not None
term.reduce()
print(term.symbol())
"""


@pytest.mark.parametrize("heuristic", ["single", "closure"])
@pytest.mark.parametrize(
    "name, formula, module, result",
    [
        ("counter", "[] ~ x(2)", "COUNTER", "counterexample"),
        ("counter", "<> (x(1) \\\\/ x(2))", "COUNTER", "true"),
        ("table", "[] ~ (eats(0) /\\\\ eats(1))", "TABLE", "true"),
        ("vineyard", "[] ~ x(4)", "VINEYARD", "counterexample"),
    ],
)
def test_transformed_theories_run_in_plain_maude(tmp_path, heuristic, name, formula, module, result) -> None:
    """Written with -o, read by a process that knows nothing of Porcini, elsewhere, without a warning."""
    formula = formula.replace("\\\\", "\\")
    out, elsewhere = tmp_path / "written.maude", tmp_path / "elsewhere"
    elsewhere.mkdir()
    arguments = [
        "transform",
        str(EXAMPLES / f"{name}.maude"),
        "-o",
        str(out),
        "--ltl",
        formula,
        "--ample",
        heuristic,
    ]
    assert main(arguments) == 0
    done = subprocess.run(
        [sys.executable, "-c", PLAIN_MAUDE, f"{module}-REDUCED|{formula}", str(out)],
        cwd=elsewhere,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr, done.stdout.strip()) == (0, "", result)


def test_what_is_written_can_be_read(capsys) -> None:
    assert main(["transform", str(EXAMPLES / "counter.maude"), "--ltl", "<> x(2)"]) == 0
    out = capsys.readouterr().out
    for wanted in (
        "mod COUNTER-MARKED is",
        "mod COUNTER-REDUCED is",
        "crl [step] :",
        "MarkAmples",
        "eq Watched = (x(2)) .",
    ):
        assert wanted in out
    assert "rl [store] :\n      ready(" in out and all(line == line.rstrip() for line in out.splitlines())


# The shapes of states

MORE = {
    "WRAPPED": (
        "Sys",
        f"{SOUP}{ADDING}  sort Sys .  op {{_}} : Conf -> Sys [ctor] .\n"
        "  rl [add] : t(I, s K) c(K, V) => t(I, K) c(K, s V) .\n"
        "  op init : -> Sys .  eq init = { t(0, 2) t(1, 2) c(0, 0) c(1, 0) } .",
        "  var V : Nat .  var S : Conf .\n"
        "  eq { c(0, V) S } |= x(V) = true .  eq { S } |= P:Prop = false [owise] .",
    ),
    "WRAPPED-RULE": (
        "Sys",
        f"{SOUP}{ADDING}  sort Sys .  op {{_}} : Conf -> Sys [ctor] .\n"
        "  rl [add] : { t(I, s K) c(K, V) S } => { t(I, K) c(K, s V) S } .\n"
        "  op init : -> Sys .  eq init = { t(0, 2) t(1, 2) c(0, 0) c(1, 0) } .",
        "  var V : Nat .  var S : Conf .\n"
        "  eq { c(0, V) S } |= x(V) = true .  eq { S } |= P:Prop = false [owise] .",
    ),
    "BESIDE": (
        "Sys",
        f"{SOUP}{ADDING}  sorts Mem Sys .  op empty : -> Mem [ctor] .  op m : Nat Nat -> Mem [ctor] .\n"
        "  op _;_ : Mem Mem -> Mem [ctor assoc comm id: empty] .\n"
        "  op sys : Conf Mem -> Sys [ctor] .  var M : Mem .\n"
        "  rl [add] : sys(t(I, s K) S, m(K, V) ; M) => sys(t(I, K) S, m(K, s V) ; M) .\n"
        "  op init : -> Sys .  eq init = sys(t(0, 2) t(1, 2), m(0, 0) ; m(1, 0)) .",
        "  var V : Nat .  var S : Conf .  var M : Mem .\n"
        "  eq sys(S, m(0, V) ; M) |= x(V) = true .  eq sys(S, M) |= P:Prop = false [owise] .",
    ),
    "WITHOUT-IDENTITY": (
        "Conf",
        f"{BARE}{ADDING}  rl [add] : t(I, s K) c(K, V) => t(I, K) c(K, s V) .\n"
        "  op init : -> Conf .  eq init = t(0, 2) t(1, 2) c(0, 0) c(1, 0) .",
        "  var V : Nat .  var S : Conf .  eq c(0, V) S |= x(V) = true .  eq S |= P:Prop = false [owise] .",
    ),
    "NOTHING-AROUND": (
        "Conf",
        f"{BARE}{ADDING}  rl [add] : t(I, s K) c(K, V) => t(I, K) c(K, s V) .\n"
        "  op init : -> Conf .  eq init = t(0, 1) c(0, 0) .",
        "  var V : Nat .  var S : Conf .\n  eq c(0, V) S |= x(V) = true .  eq S |= P:Prop = false [owise] .",
    ),
    "THE-REST": (
        "Conf",
        f"{SOUP}{ADDING}  rl [add] : t(I, s K) c(K, V) S => t(I, K) c(K, s V) S .\n"
        "  op init : -> Conf .  eq init = t(0, 2) t(1, 2) c(0, 0) c(1, 0) .",
        "  var V : Nat .  var S : Conf .  eq c(0, V) S |= x(V) = true .  eq S |= P:Prop = false [owise] .",
    ),
    "SUBSORTS": (
        "Conf",
        f"{SOUP}  sorts Reader Writer .  subsorts Reader Writer < Thread .\n"
        "  op w : Nat Nat -> Writer [ctor] .  op r : Nat Nat Nat -> Reader [ctor] .\n"
        "  op c : Nat Nat -> Cell [ctor] .  vars I K V W : Nat .\n"
        "  rl [write] : w(I, s K) c(K, V) => w(I, K) c(K, s V) .\n"
        "  rl [read]  : r(I, s K, W) c(K, V) => r(I, K, V) c(K, V) .\n"
        "  op init : -> Conf .  eq init = w(0, 2) r(1, 2, 0) w(2, 1) c(0, 0) c(1, 0) .",
        "  var V : Nat .  var S : Conf .  eq c(0, V) S |= x(V) = true .  eq S |= P:Prop = false [owise] .",
    ),
    "COMING-AND-GOING": (
        "Conf",
        f"{SOUP}  op t : Nat Nat -> Thread [ctor] .  op c : Nat -> Cell [ctor] .  vars I K V : Nat .\n"
        "  rl [fork] : t(I, s K) => t(I, K) t(s (I * 2), K) .\n"
        "  rl [die]  : t(I, 0) c(V) => c(2 * V + I) .\n"
        "  op init : -> Conf .  eq init = t(0, 1) t(5, 0) c(0) .",
        "  var V : Nat .  var S : Conf .  eq c(V) S |= x(V) = true .  eq S |= P:Prop = false [owise] .",
    ),
    "CONSTANTS": (
        "Conf",
        f"{SOUP}  ops red green : -> Cell [ctor] .  op t : Nat -> Thread [ctor] .  op d : Nat -> Thread [ctor] .\n"
        "  op c : Nat -> Cell [ctor] .  vars I V : Nat .\n"
        "  rl [stop] : t(I) green => d(I) red .\n"
        "  rl [go]   : d(I) red c(V) => t(I) green c(2) .\n"
        "  op init : -> Conf .  eq init = t(0) t(1) green c(0) .",
        "  var V : Nat .  var S : Conf .  eq c(V) S |= x(V) = true .  eq S |= P:Prop = false [owise] .",
    ),
}


@pytest.mark.parametrize("name", MORE)
def test_shapes_of_states(theory, name: str) -> None:
    """Proposition 1 and Theorem 1, and every engine, wherever the threads stand in a state."""
    state, body, props = MORE[name]
    model = theory(name, body, state, props=props)
    for texts in (["x(0)"], ["x(1)", "x(2)"], []):
        assert nothing_is_lost(model.graph, texts, deterministic=True)
    one_step_bisimilar(model.graph)
    if name != "CONSTANTS":  # the others end
        assert engines_agree(model.system(), ENGINES, 300) is not None
    for formula in ("[] ~ x(2)", "<> x(2)", "x(0) U x(1)"):
        verdicts = {
            porcini.check(model, ltl=formula, engine="graph", options=Options(reduction=reduction)).verdict
            for reduction in ("none", "ample")
        }
        assert len(verdicts) == 1 and "unknown" not in verdicts


def test_threads_as_arguments_are_refused(theory) -> None:
    with pytest.raises(InputError, match="threads stand at several places of a state"):
        theory(
            "PAIRS",
            "  sorts Thread Conf .  op pair : Thread Thread -> Conf [ctor] .  op t : Nat Nat -> Thread [ctor] .\n"
            "  vars I K : Nat .  rl [go] : t(I, s K) => t(I, K) .\n"
            "  op init : -> Conf .  eq init = pair(t(0, 2), t(1, 2)) .",
        )


# What is observed


def test_what_stands_beside_the_soup_is_observed(theory) -> None:
    model = theory(
        "RACE-BESIDE",
        "  sorts Thread Conf Mem Sys .  subsort Thread < Conf .  op none : -> Conf [ctor] .\n"
        "  op __ : Conf Conf -> Conf [ctor assoc comm id: none] .\n"
        "  op m : Nat -> Mem [ctor] .  op sys : Conf Mem -> Sys [ctor] .\n"
        "  op t : Nat Nat -> Thread [ctor] .  op d : Nat -> Thread [ctor] .  vars I K V : Nat .  var S : Conf .\n"
        "  rl [set] : sys(t(I, K) S, m(V)) => sys(d(I) S, m(K)) .\n"
        "  op init : -> Sys .  eq init = sys(t(0, 1) t(1, 2), m(0)) .",
        "Sys",
    )
    report = porcini.explore(model)
    assert (report.verdict, len(report.outcomes)) == ("violated", 2)


def test_parts_that_look_alike_are_all_observed(theory) -> None:
    """Two writers, two cells without names: {7, 1}, {7, 2}, {0, 1} ... are different outcomes."""
    model = theory(
        "TWINS",
        f"{SOUP}  op b : Nat -> Cell [ctor] .  op t : Nat Nat -> Thread [ctor] .  op d : Nat -> Thread [ctor] .\n"
        "  vars I K V : Nat .  rl [put] : t(I, K) b(V) => d(I) b(K) .\n"
        "  op init : -> Conf .  eq init = t(0, 1) t(1, 2) b(0) b(7) .",
    )
    found = {str(sorted(map(str, outcome.state.values()))) for outcome in porcini.explore(model).outcomes}
    assert len(found) == 5, "{1, 2}, {0, 1}, {0, 2}, {1, 7}, {2, 7}"


def test_constants_are_observed(theory) -> None:
    model = theory(
        "LIGHTS",
        f"{SOUP}  ops red green dark : -> Cell [ctor] .  ops a b d : Nat -> Thread [ctor] .  var I : Nat .\n"
        "  rl [stop] : a(I) dark => d(I) red .\n  rl [go] : b(I) dark => d(I) green .\n"
        "  op init : -> Conf .  eq init = a(0) b(1) dark .",
    )
    states = [str(dict(outcome.state)) for outcome in porcini.explore(model).outcomes]
    assert (
        len(states) == 2 and any("red" in state for state in states) and any("green" in state for state in states)
    )


def test_equations_between_parts_are_seen_by_what_is_derived(theory) -> None:
    """red and green become yellow at once: who puts green takes red away from who waits for it."""
    model = theory(
        "LIGHTS-MIXED",
        f"{SOUP}  ops red green yellow : -> Cell [ctor] .  ops a b k d : Nat -> Thread [ctor] .  var I : Nat .\n"
        "  eq red green = yellow .\n"
        "  rl [red] : a(I) => d(I) red .\n  rl [green] : b(I) => d(I) green .\n  rl [take] : k(I) red => d(I) .\n"
        "  op init : -> Conf .  eq init = a(0) b(1) k(2) .",
    )
    assert engines_agree(model.system(), ENGINES, 100) is not None
    assert nothing_is_lost(model.graph, [], deterministic=True)


# What comes of a rule is not what it says, if equations rewrite it

TURNING = """
  ops c d e : Nat -> Cell [ctor] .  ops a b z : Nat -> Thread [ctor] .  vars I V : Nat .
  rl [take] : b(I) d(V) => z(I) d(s V) e(V) .
"""
TURNED = {
    "INTO-ANOTHER": "  eq c(1) = d(1) .  rl [put] : a(I) c(V) => z(I) c(s V) .",
    "BY-A-FUNCTION": "  op make : Nat -> Cell .  eq make(V) = d(V) .  rl [put] : a(I) c(V) => z(I) c(V) make(1) .",
    "BY-A-THREAD": "  op w : Nat -> Thread [ctor] .  eq w(I) = z(I) d(1) .  rl [put] : a(I) => w(I) .",
    "TOGETHER": "  eq c(1) c(1) = d(1) .  rl [put] : a(I) c(V) => z(I) c(s V) c(1) .",
    "WHICHEVER": "  eq X:Cell X:Cell = d(1) .  rl [put] : a(I) c(V) => z(I) c(s V) c(1) .",
}


def turning(theory, name: str, kind: str) -> porcini.Model:
    body = f"{SOUP}{TURNING}{TURNED[kind]}\n  op init : -> Conf .  eq init = b(0) a(1) c(0) d(7) ."
    props = (
        "  var V : Nat .  var S : Conf .  op taken : -> Prop [ctor] .\n"
        "  eq d(1) S |= x(1) = true .  eq e(V) S |= taken = true .  eq S |= P:Prop = false [owise] ."
    )
    return theory(f"{name}-{kind}", body, props=props)


@pytest.mark.parametrize("kind", TURNED)
def test_parts_that_equations_make_are_not_overlooked(theory, kind: str) -> None:
    """`take` finds one d, or two: the order matters, and a proposition sees a d that no rule writes."""
    model = turning(theory, "TURNS", kind)
    assert engines_agree(model.system(), ENGINES, 100) is not None
    assert nothing_is_lost(model.graph, ["x(1)", "taken"], deterministic=False)


@pytest.mark.parametrize("kind", TURNED)
def test_mutant_that_overlooks_what_equations_make(theory, monkeypatch, kind: str) -> None:
    for module in (derived, visibility):
        monkeypatch.setattr(module, "rewritten_parts", lambda theory: derived.Rewritten())
    model = turning(theory, "OVERLOOKED", kind)
    with pytest.raises(InternalError, match="said to be independent, and their order matters"):
        engines_agree(model.system(), ENGINES, 100)


@pytest.mark.parametrize("kind", TURNED)
def test_mutant_that_does_not_see_what_equations_make(theory, monkeypatch, kind: str) -> None:
    """A dependence that the user gives may be right, and yet rules do not say what is seen."""
    monkeypatch.setattr(visibility, "rewritten_parts", lambda theory: derived.Rewritten())
    found = turning(theory, "UNSEEN", kind).graph
    assert "Alters('put, U, P:Prop) = true" not in found.transformed("single", ("x(1)",))
    monkeypatch.undo()
    assert "Alters('put, U, P:Prop) = true" in turning(theory, "SEEN", kind).graph.transformed("single", ("x(1)",))


# What propositions look at


def test_propositions_look_at_parts_or_at_all_of_a_state() -> None:
    found = example("philosophers").visibility
    assert [pattern.part.op for pattern in found.others] == ["lock", "lock"] and not found.threads
    assert [each.op for each in found.whole if isinstance(each, Apply)] == ["waits"]
    found = example("table").visibility
    assert [(pattern.part.op, pattern.alone) for pattern in found.threads] == [("<_|_|_>", True)] * 2
    assert not found.others and not found.whole


def test_users_may_know_better_what_propositions_look_at() -> None:
    """All variables are in one store, so that each `put` could be seen by each proposition about it."""
    model, texts = example("semaphores"), ("holds('sum, 4)",)
    assert "if Known(sees(P:Prop)) then Clash(" in model.transformed("single", texts)
    found = reduced(model, "single", list(texts))
    assert found is not None and len(found.after) == 273


def test_sees_is_not_believed_about_locations_that_are_derived(theory) -> None:
    model = theory(
        "SEES-ALONE",
        f"{SOUP}  sort Code .  op inc : Nat -> Code [ctor] .  op nop : -> Code [ctor] .\n"
        "  op t : Nat Code -> Thread [ctor] .  op c : Nat Nat -> Cell [ctor] .  vars I K V : Nat .\n"
        "  rl [add] : t(I, inc(K)) c(K, V) => t(I, nop) c(K, s V) .\n"
        "  op init : -> Conf .  eq init = t(0, inc(0)) t(1, inc(1)) c(0, 0) c(1, 0) .",
        props="  protecting PORCINI .  op sees : Prop -> Footprint .  op y : Nat -> Prop [ctor] .\n"
        "  var V : Nat .  var S : Conf .  var P : Prop .  eq sees(P) = nothing .\n"
        "  eq c(0, V) S |= x(V) = true .  eq c(1, V) S |= y(V) = true .  eq S |= P = false [owise] .",
    )
    assert nothing_is_lost(model.graph, ["x(1)", "y(1)"], deterministic=True)


def test_threads_that_no_rule_moves_are_seen(theory) -> None:
    """z is a thread by its sort alone: it has nothing left to do."""
    model = theory(
        "RESTING",
        f"{SOUP}  ops t z : Nat -> Thread [ctor] .  var I : Nat .  rl [end] : t(I) => z(I) .\n"
        "  op init : -> Conf .  eq init = t(0) t(1) .",
        props="  var I : Nat .  var S : Conf .  eq z(I) S |= x(I) = true .  eq S |= P:Prop = false [owise] .",
    )
    assert nothing_is_lost(model.graph, ["x(0)", "x(1)"], deterministic=True)
    for formula in ("[] (x(0) -> x(1))", "[] (x(1) -> x(0))"):
        for reduction in ("none", "ample"):
            report = porcini.check(model, ltl=formula, engine="graph", options=Options(reduction=reduction))
            assert report.verdict == "violated"


def test_a_soup_that_must_not_be_empty_is_looked_at_as_a_whole(theory) -> None:
    """Without an identity, `c(V) S` needs something beside: who leaves last is seen."""
    model = theory(
        "LEAVING",
        f"{BARE}  op c : Nat -> Cell [ctor] .  op t : Nat -> Thread [ctor] .  vars I V : Nat .\n"
        "  rl [leave] : t(I) c(V) => c(V) .\n"
        "  op init : -> Conf .  eq init = t(0) t(1) c(0) .",
        props="  vars I V : Nat .  var S : Conf .  op here : Nat -> Prop [ctor] .\n"
        "  eq c(V) S |= x(V) = true .  eq t(I) S |= here(I) = true .  eq S |= P:Prop = false [owise] .",
    )
    assert nothing_is_lost(model.graph, ["x(0)", "here(0)"], deterministic=True)
    assert [each.op for each in model.graph.visibility.whole if isinstance(each, Apply)] == ["x", "here"]


def test_propositions_of_a_module_with_parameters_are_read(theory, tmp_path) -> None:
    """Equations that come with an instance of a module are not those of a module that is written anywhere."""
    path = tmp_path / "with_parameters.maude"
    path.write_text(
        f"sload model-checker\nmod PLAIN is\n  protecting NAT .\n{SOUP}{ADDING}"
        "  rl [add] : t(I, s K) c(K, V) => t(I, K) c(K, s V) .\n"
        "  op init : -> Conf .  eq init = t(0, 1) t(1, 2) c(0, 0) c(1, 0) .\nendm\n"
        "mod SEEING{X :: TRIV} is\n  protecting PLAIN .  including SATISFACTION .  subsort Conf < State .\n"
        "  op x : Nat -> Prop [ctor] .  var V : Nat .  var S : Conf .\n"
        "  op y : Nat -> Prop [ctor] .\n"
        "  eq c(0, V) S |= x(V) = true .  eq c(1, V) S |= y(V) = true .  eq S |= P:Prop = false [owise] .\nendm\n"
        "view Natural from TRIV to NAT is sort Elt to Nat . endv\n"
        "mod PLAIN-PROPS is\n  protecting SEEING{Natural} .\nendm\n"
    )
    described = {"module": "PLAIN", "initial": "init", "state": "Conf", "thread": "Thread", "tid": "Nat"}
    described["propositions"] = "PLAIN-PROPS"
    path.with_suffix(".toml").write_text("".join(f'{k} = "{v}"\n' for k, v in described.items()))
    model = porcini.load(path)
    assert len(model.graph.visibility.others) == 2
    formula = "[] (x(1) -> [] y(1))"
    verdicts = [
        porcini.check(model, ltl=formula, engine="graph", options=Options(reduction=reduction)).verdict
        for reduction in ("none", "ample")
    ]
    assert verdicts == ["violated"] * 2


def test_initial_states_may_be_written_out(tmp_path) -> None:
    """`initial` need not be the name of an equation."""
    path = tmp_path / "written_out.maude"
    for file in ("threads.maude", "expressions.maude"):
        shutil.copy(EXAMPLES / file, tmp_path)
    path.write_text("sload threads\nmod WRITTEN-OUT is\n  protecting THREADS .\nendm\n")
    path.with_suffix(".toml").write_text(
        'module = "WRITTEN-OUT"\nstate = "Conf"\nthread = "Thread"\ntid = "Tid"\n'
        """initial = "['x = 0] < 0 | store 1 into 'x | empty > < 1 | store 2 into 'x | empty >"\n"""
    )
    model = porcini.load(path)
    assert len(porcini.explore(model).outcomes) == 2
    assert nothing_is_lost(model.graph, [], deterministic=True)


def test_a_language_and_its_dependence_may_be_called_l_and_l_por(tmp_path) -> None:
    """Generated modules must not take the place of the user's."""
    path = tmp_path / "named.maude"
    path.write_text(
        f"mod NAMED is\n  protecting NAT .\n{SOUP}{ADDING}"
        "  rl [add] : t(I, s K) c(K, V) => t(I, K) c(K, s V) .\n"
        "  op init : -> Conf .  eq init = t(0, 2) t(1, 2) c(0, 0) c(1, 0) .\nendm\n"
        "mod NAMED-POR is\n  protecting NAMED .\n  protecting PORCINI .\n  op cell : Nat -> Location [ctor] .\n"
        "  op touches : Qid Thread -> Footprint .  op future : Thread -> Footprint .  protecting QID .\n"
        "  var Q : Qid .  vars I K : Nat .\n"
        "  eq touches(Q, t(I, s K)) = writes(cell(K)) .  eq touches(Q, t(I, 0)) = nothing .\n"
        "  eq future(t(I, s K)) = writes(cell(K)) & future(t(I, K)) .  eq future(t(I, 0)) = nothing .\nendm\n"
    )
    path.with_suffix(".toml").write_text(
        'module = "NAMED"\ninitial = "init"\nstate = "Conf"\nthread = "Thread"\ntid = "Nat"\n'
        'dependence = "NAMED-POR"\nfuture = "NAMED-POR"\n'
    )
    model = porcini.load(path)
    assert nothing_is_lost(model.graph, [], deterministic=True)
    assert engines_agree(model.system(), ENGINES, 100) is not None
    assert engines_agree(porcini.load(path).system(), ENGINES, 100) is not None, "a second time"
