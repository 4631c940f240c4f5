"""P1's interface in full: what theories may be made of, and what descriptions may say about them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

import pytest

import porcini
from cli.test_cli import porcini as command  # noqa: F401  (fixture)
from cli.test_maude_cli import COUNTER
from laws.test_maude_laws import ENGINES
from porcini import InputError, InternalError
from porcini.api import check_annotations, verify_reduction
from porcini.core.footprints import Footprint, Location
from porcini.engines.catalogue import Options
from porcini.langs.maude import derived, reduction, steps, theory
from porcini.langs.maude import model as model_module
from porcini.langs.maude.steps import Steps
from porcini.langs.maude.system import MaudeSystem
from porcini.langs.maude.touches import Groups, Touch

_numbers = count()


@pytest.fixture
def write(tmp_path):
    """A theory and its description as files; BODY is a module, and may have others behind it."""

    def write(text: str, **keys: str) -> str:
        name = f"IFACE{next(_numbers)}"
        path = tmp_path / f"{name.lower()}.maude"
        path.write_text("sload model-checker\n" + text.replace("BODY", name))
        described = {"module": name, "initial": "init", "state": "Conf", "thread": "Thread", "tid": "Nat", **keys}
        lines = (f'{key} = "{value}"\n' for key, value in described.items())
        path.with_suffix(".toml").write_text("".join(lines).replace("BODY", name))
        return str(path)

    return write


SOUP = """
  protecting NAT .  protecting QID .
  sorts Thread Cell Conf Code .  subsorts Thread Cell < Conf .
  op none : -> Conf [ctor] .  op __ : Conf Conf -> Conf [ctor assoc comm id: none] .
  op t : Nat Code -> Thread [ctor] .
  op done : -> Code [ctor] .  op _;_ : Code Code -> Code [ctor assoc id: done] .
  vars I J N M : Nat .  vars X Y : Qid .  vars K L : Code .  var S : Conf .  op init : -> Conf .
"""


def outcomes(report) -> set:
    return {(each.kind, tuple(sorted(each.state.items()))) for each in report.outcomes}


def engines_agree(program) -> set:
    """All engines, and the graph with and without reduction, find the same outcomes, which are returned."""
    model = porcini.load(program) if isinstance(program, str) else program
    found = outcomes(porcini.explore(model, engine="exhaustive"))
    for engine in (*ENGINES, "graph"):
        assert outcomes(porcini.explore(model, engine=engine)) == found, engine
    assert verify_reduction(model).verdict == "holds"
    check_annotations(model)
    return found


# Next


@pytest.mark.parametrize("engine", ["maude", "graph"])
def test_o_is_next_and_nothing_is_reduced(engine) -> None:
    for formula, verdict in {
        "O O (x(0) \\/ x(1))": "holds",
        "O x(1)": "violated",
        "[] (x(2) -> O x(2))": "holds",
        "~ O~ x(0)": "holds",
        "O(x(0))": "holds",
        "O[] x(0)": "violated",
    }.items():
        report = porcini.check(COUNTER, ltl=formula, engine=engine)
        assert (report.verdict, report.reduction) == (verdict, "none"), formula
        assert any("X counts steps" in note for note in report.notes)


def test_an_o_of_the_users_own_stays_what_it_is(write) -> None:
    file = write(
        f"mod BODY is{SOUP}  op O : -> Code [ctor] .  op c : Code -> Cell [ctor] .\n"
        "  eq init = t(0, O) c(done) .  rl [go] : t(I, O ; K) c(L) => t(I, K) c(O) .\nendm\n"
        "mod BODY-PROPS is protecting BODY . including SATISFACTION . subsort Conf < State .\n"
        "  op _is set : Code -> Prop [ctor] . var K : Code . var S : Conf . var P : Prop .\n"
        "  eq c(K) S |= K is set = true . eq S |= P = false [owise] .\nendm\n",
        propositions="BODY-PROPS",
    )
    assert porcini.check(file, ltl="<> (O is set)").verdict == "holds"
    assert porcini.check(file, ltl="X (O is set)").verdict == "holds"


def test_an_o_in_a_string_stays_what_it_is(write) -> None:
    file = write(
        f"mod BODY is{SOUP}  protecting STRING .  op c : String -> Cell [ctor] .  op go : -> Code [ctor] .\n"
        '  eq init = t(0, go) c(" O (x") .  rl [go] : t(I, go ; K) => t(I, K) .\nendm\n'
        "mod BODY-PROPS is protecting BODY . including SATISFACTION . subsort Conf < State .\n"
        "  op is : String -> Prop [ctor] . var W : String . var S : Conf . var P : Prop .\n"
        "  eq c(W) S |= is(W) = true . eq S |= P = false [owise] .\nendm\n",
        propositions="BODY-PROPS",
    )
    assert porcini.check(file, ltl='[] is(" O (x")').verdict == "holds"


def test_functions_of_the_users_own_are_not_ours(write) -> None:
    """`future` of two numbers and `group` of one say nothing about threads and locations."""
    text = JUMPS.replace("op future : Thread Conf -> Footprint .", "op future : Thread -> Footprint .")
    text = text.replace("future(t(I, K), S) = uses(K, S)", "future(t(I, K)) = anything")
    text = text.replace("op put :", "op future : Nat Nat -> Nat . op group : Nat -> Nat .  op put :")
    assert len(engines_agree(write(text, **JUMP_KEYS))) == 3


# Lines in errors of equations


@pytest.mark.parametrize(
    ("equation", "message"),
    [
        ("  eq t(I, done) = none .", "does not keep threads"),
        ("  eq t(I, 'a) c(N) = t(I, done) c(N) .", "looks at a thread together with something else"),
        ("  ceq t(I, 'a) = t(I, done) c(0) if I > 0 .\n  eq t(I, 'b) = none .", "does not keep threads"),
    ],
)
def test_errors_about_equations_say_the_line(write, equation, message) -> None:
    text = f"mod BODY is{SOUP}  op c : Nat -> Cell [ctor] . subsort Qid < Code .\n  eq init = t(0, 'a) c(0) .\n"
    file = write(f"{text}{equation}\n  rl [go] : t(I, 'b ; K) c(N) => t(I, K) c(s N) .\nendm\n")
    with pytest.raises(InputError, match=message) as problem:
        porcini.load(file)
    lines = Path(file).read_text().splitlines()
    assert problem.value.place is not None and problem.value.file == file
    assert lines[problem.value.place.line - 1].strip().startswith(("eq t(I", "ceq t(I"))
    assert "t(I" in str(problem.value).splitlines()[1]


# Ids that are used again

AGAIN = f"""mod BODY is{SOUP}
  ops c : Nat -> Cell [ctor] .  op free : Nat -> Cell [ctor] .
  ops work end : -> Code [ctor] .  op start : -> Code [ctor] .
  rl [work]  : t(I, work ; K) c(N) => t(I, K) c(N * 2 + I) .
  rl [end]   : t(I, end) => free(I) .
  rl [start] : t(I, start ; K) free(J) => t(I, K) t(J, work ; end) .
"""


def test_ids_can_be_used_again(write) -> None:
    file = write(f"{AGAIN}  eq init = t(0, start ; start ; start) free(1) c(1) .\nendm\n")
    assert [kind for kind, _ in engines_agree(file)] == ["terminated"]
    report = porcini.explore(file)
    assert report.counts.classes == 1 and "0.2" in str(report.outcomes[0].trace.schedule)
    two = write(f"{AGAIN}  eq init = t(0, start ; start) t(5, start) free(1) free(2) c(1) .\nendm\n")
    assert len(engines_agree(two)) > 2


def test_two_threads_with_one_id_are_an_error(write) -> None:
    text = AGAIN.replace("free(J) =>", "free(J) => free(J)")
    file = write(f"{text}  eq init = t(0, start ; start) free(1) c(1) .\nendm\n")
    for ask in (porcini.explore, porcini.check):
        with pytest.raises(InputError, match="two threads of a state have the id 1"):
            ask(file)


# Objects as threads

OBJECTS = """omod BODY is
  protecting NAT .
  class Worker | left : Nat, at : Oid .  class Boss .  subclass Boss < Worker .  class Cell | value : Nat .
  ops w c : Nat -> Oid [ctor] .
  vars T O : Oid .  vars N M : Nat .
  rl [add] : < T : Worker | left : s N, at : O > < O : Cell | value : M >
          => < T : Worker | left : N > < O : Cell | value : (2 * M + N) > .
  op init : -> Configuration .
  eq init = < w(0) : Worker | left : 2, at : c(0) > < w(1) : Worker | left : 1, at : c(0) >
            < w(2) : Boss | left : 2, at : c(1) > < c(0) : Cell | value : 1 > < c(1) : Cell | value : 1 > .
endom
"""
OBJECT_KEYS = {"state": "Configuration", "thread": "Worker", "tid": "Oid"}


def test_objects_of_a_class_can_be_threads(write) -> None:
    """The boss has a cell of its own: three orders at the other one, and not thirty."""
    file = write(OBJECTS, **OBJECT_KEYS)
    assert len(engines_agree(file)) == 2
    report = porcini.explore(file)
    assert report.counts.classes == 3
    assert porcini.check(file).counts.states < porcini.check(file, pattern="S:Configuration").counts.states


def test_objects_that_may_be_threads_are_refused(write) -> None:
    """Marks would hide threads from a rule for objects of whichever class."""
    rule = "  rl [any] : < O : Boss | left : N > < T : C:Cid | > => < O : Boss | left : N > .\nendom\n"
    file = write(OBJECTS.replace("endom\n", rule), **OBJECT_KEYS)
    with pytest.raises(InputError, match="may be a thread or not") as problem:
        porcini.load(file)
    assert problem.value.place is not None


# Keys of several parts

FIELDS = f"""mod BODY is{SOUP}
  op f : Nat Qid Nat -> Cell [ctor] .
  op set : Nat Qid Nat -> Code [ctor] .
  rl [set] : t(I, set(N, X, M) ; K) f(N, X, J) => t(I, K) f(N, X, 3 * J + M) .
  MORE
  eq init = t(0, set(0, 'a, 1) ; set(0, 'b, 1)) t(1, set(0, 'b, 2)) t(2, set(1, 'a, 2) ; set(1, 'a, 1))
            f(0, 'a, 0) f(0, 'b, 0) f(1, 'a, 0) f(1, 'b, 0) .
endm
"""


def test_a_part_can_have_several_keys(write) -> None:
    """Fields of objects: `a` of 0 is neither `b` of 0 nor `a` of 1."""
    model = porcini.load(write(FIELDS.replace("MORE", "")))
    assert model.graph.derived.unknown is None
    assert model.graph.derived.uses == {("set", 3, (0, 1)): [(("f", 3), True)]}
    assert len(engines_agree(model)) == 2
    assert porcini.explore(model).counts.classes == 2


MIXING = "  op mix : -> Code . rl [mix] : t(I, mix ; set(N, X, M) ; set(J, Y, M) ; K) => t(I, set(N, Y, M) ; K) ."
MIXED = FIELDS.replace("MORE", MIXING)
MIXED = MIXED.replace("t(1, set(0, 'b, 2))", "t(1, mix ; set(1, 'b, 2) ; set(0, 'a, 2))")


def test_two_old_keys_may_make_a_new_name(write) -> None:
    """The object of one instruction with the field of another: that was not to be foreseen from either."""
    model = porcini.load(write(MIXED))
    assert model.graph.derived.unknown == "rule `mix` makes an instruction `set`"
    assert len(engines_agree(model)) == 2


def test_mutant_that_takes_keys_one_by_one(write, monkeypatch) -> None:
    """As if an instruction were old when each of its keys is."""

    def one_by_one(theory, found, statement, before, after, real=derived._made):
        each = {(op, arity, (n,)): use for (op, arity, numbers), use in found.uses.items() for n in numbers}
        split = replace(found, uses=each)
        return real(theory, split, statement, before, after)

    file = write(MIXED)
    monkeypatch.setattr(derived, "_made", one_by_one)
    with pytest.raises((AssertionError, InternalError)):
        engines_agree(file)


def test_arguments_that_commute_are_no_keys(write) -> None:
    """`swap(X, Y)` is `swap(Y, X)`: from its arguments nobody can tell which of them is written."""
    file = write(
        f"mod BODY is{SOUP}  op f : Qid Nat -> Cell [ctor] .  op swap : Qid Qid -> Code [ctor comm] .\n"
        "  rl [swap] : t(I, swap(X, Y) ; K) f(X, N) => t(I, K) f(X, 2 * N + I) .\n"
        "  eq init = t(0, swap('a, 'b)) t(1, swap('b, 'c)) t(2, swap('c, 'a)) f('a, 1) f('b, 1) f('c, 1) .\nendm\n"
    )
    assert porcini.load(file).graph.derived.unknown == "rule `swap` names what it touches by the thread itself"
    assert len(engines_agree(file)) > 5


# A rendezvous

MEETING = f"""mod BODY is{SOUP}
  op c : Nat -> Cell [ctor] .  ops send get local : Nat -> Code [ctor] .
  rl [meet]  : t(I, send(N) ; K) t(J, get(M) ; L) => t(I, K) t(J, local(N) ; L) .
  rl [local] : t(I, local(N) ; K) c(M) => t(I, K) c(3 * M + N) .
  THREADS
endm
mod BODY-PROPS is protecting BODY . including SATISFACTION . subsort Conf < State .
  op x : Nat -> Prop [ctor] .  op waits : Nat -> Prop [ctor] .
  var K : Code . vars N I : Nat . var S : Conf . var P : Prop .
  eq c(N) S |= x(N) = true . eq t(I, get(N) ; K) S |= waits(I) = true . eq S |= P = false [owise] .
endm
"""


def meeting(threads: str) -> str:
    return MEETING.replace("THREADS", f"eq init = {threads} c(0) .")


def test_two_threads_can_meet(write) -> None:
    """Either sender may meet the receiver first, and the fourth thread goes on beside them."""
    text = meeting("t(0, send(1)) t(1, send(2)) t(2, get(0) ; get(0)) t(3, local(5))")
    file = write(text, propositions="BODY-PROPS")
    found = engines_agree(file)
    ends = porcini.check(file, pattern="=>! c(N) S:Conf")
    assert {value for _, ((_, value),) in found} == {int(each.binding["N"]) for each in ends.search.first}
    assert {kind for kind, _ in found} == {"terminated"} and len(found) == 5  # 9 + 15 + 2 = 18 + 3 + 5
    for formula in ("<> ~ waits(2)", "[] ~ x(1)", "<> x(2)", "[] (waits(2) \\/ ~ x(0))"):
        verdicts = {
            porcini.check(file, ltl=formula, engine=engine, options=Options(reduction=reduction)).verdict
            for engine in ("maude", "graph")
            for reduction in (None, "none")
        }
        assert len(verdicts) == 1, formula


def test_who_waits_for_a_meeting_is_not_at_its_end(write) -> None:
    file = write(meeting("t(0, send(1)) t(1, get(0)) t(2, get(0))"))
    report = porcini.check(file)
    assert {outcome.kind for outcome in report.outcomes} == {"deadlock"}
    assert {each.guard for outcome in report.outcomes for each in outcome.waiting} == {"meet"}
    assert len(engines_agree(file)) == 1
    alone = porcini.check(write(meeting("t(0, send(1))")))
    assert [each.name for each in alone.outcomes[0].waiting] == ["thread 0"]


def test_what_is_said_about_a_meeting_is_not_believed(write) -> None:
    """`touches` and `future` speak of locations, and the thread that is moved from outside is none."""
    lies = """mod BODY-POR is protecting BODY . protecting PORCINI .
  op touches : Qid Thread -> Footprint . op future : Thread -> Footprint . op cell : -> Location .
  var T : Thread . var N : Nat . vars K L : Code . var I : Nat .
  eq touches('meet, T) = nothing . eq touches('local, T) = writes(cell) . eq future(T) = nothing .
endm
"""
    text = meeting("t(0, send(1)) t(1, send(2)) t(2, get(0) ; get(0)) t(3, local(5))") + lies
    file = write(text, propositions="BODY-PROPS", dependence="BODY-POR", future="BODY-POR")
    assert len(engines_agree(file)) == 5
    plain = porcini.check(file, ltl="[] ~ x(2)", options=Options(reduction="none")).verdict
    assert porcini.check(file, ltl="[] ~ x(2)").verdict == plain == "violated"


TAKEN = f"""mod BODY is{SOUP}  op c : Nat -> Cell [ctor] .  ops a b : Nat -> Code [ctor] .
  rl [meet] : t(I, a(N) ; K) t(J, b(M) ; L) => t(I, K) AFTER .
  rl [b]    : t(I, b(N) ; K) c(M) => t(I, K) c(3 * M + N + I) .
  eq init = t(0, a(1)) t(1, a(2)) t(2, b(3) ; b(1)) c(0) .
endm
"""


@pytest.mark.parametrize("after", ["t(J, done)", "none"])
def test_what_a_meeting_takes_from_a_thread_is_not_lost(write, after) -> None:
    """The third thread could have gone on by itself, once or twice, before it was ended by the step of another."""
    found = engines_agree(write(TAKEN.replace("AFTER", after)))
    assert {state for _, state in found} == {(("Cell", value),) for value in (0, 5, 18)}


@pytest.mark.parametrize("after", ["t(J, done)", "none"])
def test_mutant_that_loses_what_a_meeting_takes(write, monkeypatch, after) -> None:
    real = MaudeSystem._actions
    moving = lambda self, state: [each for each in real(self, state) if str(each.label) != "nothing"]  # noqa: E731
    monkeypatch.setattr(MaudeSystem, "_actions", moving)
    with pytest.raises(AssertionError):
        engines_agree(write(TAKEN.replace("AFTER", after)))


def test_sorts_of_maudes_own_are_no_threads(write) -> None:
    with pytest.raises(InputError, match="`Object` is a sort of Maude's own"):
        porcini.load(write(OBJECTS, **{**OBJECT_KEYS, "thread": "Object"}))


@pytest.mark.parametrize("place", ["derived", "future"])
def test_mutant_that_forgets_the_other_thread(write, monkeypatch, place) -> None:
    """A meeting touches nothing; or threads that meet may touch what the code of one of them names."""
    text = meeting("t(0, send(1)) t(1, send(2)) t(2, get(0) ; get(0)) t(3, local(5))")
    monkeypatch.setattr(theory.Theory, "has_rendezvous", property(lambda self: False))
    if place == "derived":
        monkeypatch.setattr(Steps, "footprint", lambda self, number: "nothing")
    real = derived.derive

    def forgetful(theory):
        found = real(theory)
        found.accesses = {number: accesses or [] for number, accesses in found.accesses.items()}
        found.unknown = None
        return found

    for module in (derived, model_module, reduction):
        monkeypatch.setattr(module, "derive", forgetful)
    file = write(text, propositions="BODY-PROPS")
    with pytest.raises((AssertionError, InternalError, InputError)):
        assert len(engines_agree(file)) == 5


def test_three_threads_cannot_meet(write) -> None:
    rule = "  rl [three] : t(I, K) t(J, K) t(N, K) => none .\nendm\nmod BODY-PROPS"
    text = meeting("t(0, send(1))").replace("endm\nmod BODY-PROPS", rule)
    with pytest.raises(InputError, match="has 3 threads on its left-hand side"):
        porcini.load(write(text))


# What threads may still do, in a state

JUMPS = f"""mod BODY is{SOUP}
  op c : Qid Nat -> Cell [ctor] .  op prog : Nat Code -> Cell [ctor] .
  op put : Qid Nat -> Code [ctor] .  op goto : Nat -> Code [ctor] .
  rl [put]  : t(I, put(X, M) ; K) c(X, N) => t(I, K) c(X, 3 * N + M) .
  rl [goto] : t(I, goto(N) ; K) prog(N, L) => t(I, L) prog(N, L) .
  eq init = t(0, put('x, 1) ; goto(0)) t(1, goto(1) ; put('z, 1)) t(2, put('y, 2) ; put('y, 1))
            prog(0, put('x, 2) ; put('x, 1)) prog(1, put('x, 2)) c('x, 0) c('y, 0) c('z, 0) .
endm
mod BODY-POR is protecting BODY . protecting PORCINI .
  op cell : Qid -> Location [ctor] .  op code : -> Location [ctor] .
  op touches : Qid Thread -> Footprint .  op future : Thread Conf -> Footprint .
  op uses : Code Conf -> Footprint .
  vars I N M : Nat . vars K L : Code . var X : Qid . var S : Conf .
  eq touches('put, t(I, put(X, M) ; K)) = writes(cell(X)) .
  eq touches('goto, t(I, goto(N) ; K)) = reads(code) .
  eq future(t(I, K), S) = uses(K, S) .
  eq uses(done, S) = nothing .
  eq uses(put(X, M) ; K, S) = writes(cell(X)) & uses(K, S) .
  eq uses(goto(N) ; K, prog(N, L) S) = reads(code) & uses(L, S) .
  eq uses(goto(N) ; K, S) = reads(code) [owise] .
endm
mod BODY-PROPS is protecting BODY . including SATISFACTION . subsort Conf < State .
  op x : Nat -> Prop [ctor] .  var N : Nat . var S : Conf . var P : Prop .
  eq c('x, N) S |= x(N) = true . eq S |= P = false [owise] .
endm
"""
JUMP_KEYS = {"dependence": "BODY-POR", "future": "BODY-POR", "propositions": "BODY-PROPS"}


def test_what_threads_may_do_can_depend_on_the_state(write) -> None:
    """Code is taken out of the state: from a thread alone nobody can tell what it comes to."""
    model = porcini.load(write(JUMPS, **JUMP_KEYS))
    assert len(engines_agree(model)) == 3
    whole = porcini.check(model, options=Options(reduction="none")).counts.states
    for ample in ("single", "closure"):
        assert porcini.check(model, options=Options(ample=ample)).counts.states < whole / 2
        for formula, verdict in {"[] ~ x(2)": "violated", "<> x(16)": "violated", "[] ~ x(99)": "holds"}.items():
            reduced = porcini.check(model, ltl=formula, options=Options(ample=ample))
            assert (reduced.verdict, reduced.reduction) == (verdict, "ample")
            assert porcini.check(model, ltl=formula, options=Options(reduction="none")).verdict == verdict
        assert verify_reduction(model, ltl="[] ~ x(2)", options=Options(ample=ample)).verdict == "holds"


def test_futures_that_grow_with_the_state_are_noticed(write) -> None:
    """Thread 1 is said to do nothing while the code that it jumps to stands there, and more when it has jumped."""
    lie = JUMPS.replace("reads(code) & uses(L, S) .", "reads(code) .")
    model = porcini.load(write(lie, **JUMP_KEYS))
    with pytest.raises(InputError, match="which `future` does not say"):
        check_annotations(model)


@pytest.mark.parametrize("place", ["engines", "transformed"])
def test_mutant_that_forgets_what_the_state_says(write, monkeypatch, place) -> None:
    model = porcini.load(write(JUMPS, **JUMP_KEYS))
    if place == "engines":
        real = MaudeSystem.future_of
        jump = Location("code")

        def of_thread_alone(self, thread, term):
            return Touch(reads=frozenset({jump})) if "goto" in str(thread) else real(self, thread, term)

        monkeypatch.setattr(MaudeSystem, "future_of", of_thread_alone)
        monkeypatch.setattr(MaudeSystem, "_foreseen", lambda *_: None)
    else:
        real = steps._with_states
        monkeypatch.setattr(steps, "_with_states", lambda text: real(text).replace("FutureIn(W, C))", "nothing)"))
    assert verify_reduction(model).verdict == "violated"


# Locations that stand for many

OBJECT_FIELDS = f"""mod BODY is{SOUP}
  op r : Nat Nat Code -> Thread [ctor] .  op f : Nat Qid Nat -> Cell [ctor] .
  op aim : Nat -> Code [ctor] .  op set : Qid Nat -> Code [ctor] .  op get : Qid -> Code [ctor] .
  rl [aim] : r(I, J, aim(N) ; K) => r(I, N, K) .
  rl [set] : r(I, J, set(X, M) ; K) f(J, X, N) => r(I, J, K) f(J, X, 3 * N + M) .
  rl [get] : r(I, J, get(X) ; K) f(J, X, N) => r(I, N, K) f(J, X, N) .
  eq init = THREADS f(0, 'a, 0) f(1, 'a, 0) f(0, 'b, 0) f(1, 'b, 0) .
endm
mod BODY-POR is protecting BODY . protecting PORCINI .
  op field : Nat Qid -> Location [ctor] .  op fields : Qid -> Location [ctor] .  op heap : -> Location [ctor] .
  op touches : Qid Thread -> Footprint .  op future : Thread -> Footprint .  op uses : Code -> Footprint .
  op group : Location -> Location .
  vars I J N M : Nat . vars K L : Code . var X : Qid . var T : Thread .
  eq group(field(N, X)) = fields(X) .
  eq group(fields(X)) = heap .
  eq touches('aim, T) = nothing .
  eq touches('set, r(I, J, set(X, M) ; K)) = writes(field(J, X)) .
  eq touches('get, r(I, J, get(X) ; K)) = reads(field(J, X)) .
  eq future(r(I, J, K)) = uses(K) .
  eq uses(done) = nothing .
  eq uses(aim(N) ; K) = uses(K) .
  eq uses(set(X, M) ; K) = writes(fields(X)) & uses(K) .
  eq uses(get(X) ; K) = reads(fields(X)) & uses(K) .
endm
"""
FIELD_KEYS = {"dependence": "BODY-POR", "future": "BODY-POR"}
AIMING = "r(0, 0, aim(1) ; set('a, 1)) r(1, 1, set('a, 2)) r(2, 0, set('b, 1) ; set('b, 2)) r(3, 1, get('b))"


def fields(threads: str = AIMING) -> str:
    return OBJECT_FIELDS.replace("THREADS", threads)


def test_a_location_can_stand_for_many(write) -> None:
    """Thread 0 may write field `a` of any object, and does so where thread 1 does."""
    model = porcini.load(write(fields(), **FIELD_KEYS))
    assert len(engines_agree(model)) == 2
    whole = porcini.check(model, options=Options(reduction="none")).counts.states
    assert porcini.check(model).counts.states < whole / 2


@pytest.mark.parametrize(
    ("future", "classes"),
    [("writes(heap)", 2), ("reads(heap) & writes(fields(X))", 2), ("reads(fields('b)) & writes(heap)", 2)],
)
def test_groups_of_groups(write, future, classes) -> None:
    text = fields().replace("= writes(fields(X)) & uses(K)", f"= {future} & uses(K)")
    assert len(engines_agree(write(text, **FIELD_KEYS))) == classes


def test_a_step_that_touches_a_group_touches_anything(write) -> None:
    text = fields().replace("= writes(field(J, X)) .", "= writes(fields(X)) .")
    model = porcini.load(write(text, **FIELD_KEYS))
    assert len(engines_agree(model)) == 2
    assert any("which stands for others" in note for note in porcini.explore(model).notes)


def test_what_is_not_in_the_group_is_not_foreseen(write) -> None:
    text = fields().replace("= writes(fields(X)) & uses(K)", "= writes(fields('c)) & uses(K)")
    with pytest.raises(InputError, match="which `future` does not say"):
        porcini.check(write(text, **FIELD_KEYS))


@pytest.mark.parametrize("place", ["engines", "transformed"])
def test_mutant_that_compares_names_only(write, monkeypatch, place) -> None:
    """As if `fields(X)` had nothing to do with `field(N, X)`."""
    if place == "engines":
        plain = lambda _, reads, writes: Footprint(frozenset(reads), frozenset(writes))  # noqa: E731
        monkeypatch.setattr(Groups, "spread", plain)
    else:
        monkeypatch.setattr(steps, "_sections", partial(_without_groups, steps._sections()))
    model = porcini.load(write(fields("r(0, 0, aim(1) ; set('a, 1)) r(1, 1, set('a, 2))"), **FIELD_KEYS))
    assert verify_reduction(model).verdict == "violated"


def _without_groups(sections: dict[str, str]) -> dict[str, str]:
    return sections | {"groups": sections["groups"].replace("Within(L, L') or-else Within(L', L)", "L == L'")}
