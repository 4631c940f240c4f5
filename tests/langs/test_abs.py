"""ABS: what programs mean, and what is said about those that are wrong."""

from __future__ import annotations

import pytest

import porcini
from porcini import InputError, Limits
from porcini.cli import main

HEAD = "module M; import * from ABS.StdLib;\n"


def outcomes(source: str, **options) -> list[dict]:
    report = porcini.explore(porcini.loads(HEAD + source, "abs"), **options)
    return [dict(outcome.state) | {"kind": outcome.kind} for outcome in report.outcomes]


def value_of(expression: str, type_: str, declarations: str = "") -> object:
    """The value of an expression, in a field of the only object."""
    class_ = f"interface I {{}} class C implements I {{ {type_} v = {expression}; }}"
    (outcome,) = outcomes(f"{declarations} {class_} {{ I c = new C(); }}")
    assert outcome["kind"] == "terminated"
    return outcome["0.0.v"]


@pytest.mark.parametrize(
    ("expression", "type_", "value"),
    [
        ("1 + 2 * 3 - 4", "Int", 3),
        ("-7 % 3", "Int", 2),
        ("truncate(7 / 2)", "Int", 3),
        ("1/3 + 1/6", "Rat", "1/2"),
        ("4 / 2", "Rat", 2),
        ("!(1 < 2) || 2 >= 2 && True", "Bool", True),
        ('"a" + "b" + toString(3)', "String", "ab3"),
        ("list[1, 2, 3]", "List<Int>", (1, 2, 3)),
        ("Cons(1, Cons(2, Nil))", "List<Int>", (1, 2)),
        ("head(tail(list[1, 2]))", "Int", 2),
        ("nth(list[5, 6, 7], 2)", "Int", 7),
        ("length(appendright(reverse(list[1, 2]), 9))", "Int", 3),
        ("concatenate(list[1], list[2])", "List<Int>", (1, 2)),
        ("isEmpty(Nil)", "Bool", True),
        ("set[2, 1, 2]", "Set<Int>", "set[1, 2]"),
        ("contains(insertElement(emptySet(), 3), 3)", "Bool", True),
        ("size(remove(set[1, 2], 1))", "Int", 1),
        ("map[Pair(2, True), Pair(1, False)]", "Map<Int, Bool>", "map[Pair(1, False), Pair(2, True)]"),
        ("lookup(put(emptyMap(), 1, 2), 1)", "Maybe<Int>", "Just(2)"),
        ("lookupDefault(emptyMap(), 1, 7)", "Int", 7),
        ("lookupUnsafe(insert(emptyMap(), Pair(1, 8)), 1)", "Int", 8),
        ("size(keys(map[Pair(1, 2)])) + length(values(map[Pair(1, 2)]))", "Int", 2),
        ("fst(Pair(1, 2)) + snd(Pair(3, 4))", "Int", 5),
        ("fromJust(Just(3))", "Int", 3),
        ("isJust(Nothing)", "Bool", False),
        ("if 1 == 1 then 2 else 3", "Int", 2),
        ("when False then 2 else 3", "Int", 3),
        ("let (Int x) = 3 in x * x", "Int", 9),
        ("case Just(4) { Just(n) => n + 1; Nothing => 0; }", "Int", 5),
        ("case list[1, 2] { Cons(x, Cons(y, Nil)) => x + y; _ => 0; }", "Int", 3),
        ("case 5 { 5 => True | _ => False }", "Bool", True),
        ("Unit", "Unit", "Unit"),
    ],
)
def test_expressions(expression: str, type_: str, value: object) -> None:
    assert value_of(expression, type_) == value


def test_functions_data_and_synonyms() -> None:
    declarations = """
        type Numbers = List<Int>;
        data Tree<A> = Leaf | Node(Tree<A> left, A item, Tree<A> right);
        def Int sum(Numbers ns) = case ns { Nil => 0; Cons(n, rest) => n + sum(rest); };
        def Tree<A> single<A>(A x) = Node(Leaf, x, Leaf);
        def A pick<A>(Bool b, A x, A y) = if b then x else y;
    """
    assert value_of("sum(list[1, 2, 3])", "Int", declarations) == 6
    assert value_of("item(single(4))", "Int", declarations) == 4
    assert value_of("single(True)", "Tree<Bool>", declarations) == "Node(Leaf, True, Leaf)"
    assert value_of("pick(False, 1, 2)", "Int", declarations) == 2


def test_names_of_ours_are_names_like_any_other() -> None:
    """Generated source never holds a name of the program."""
    assert value_of("lambda(1, 2)", "Int", "def Int lambda(Int s, Int b) = s + b;") == 3
    source = """
        interface I { Unit def_(Int s, Int b, Int pid, Int me, Int o); }
        class None_(Int self) implements I {
            Int t = 0;
            Unit def_(Int s, Int b, Int pid, Int me, Int o) {
                Int f = s + b;
                Int v0 = f + pid;
                t = v0 + me + o + self;
            }
        }
        { I x = new None_(10); x!def_(1, 2, 3, 4, 5); }
    """
    assert outcomes(source) == [{"0.0.self": 10, "0.0.t": 25, "kind": "terminated"}]


COUNTER = """
    interface Counter { Int add(Int n); Unit twice(); Int both(Counter other); }
    class C(Int start) implements Counter {
        Int total = 0;
        { total = start; }
        Int add(Int n) { total = total + n; return total; }
        Unit twice() { Int a = this.add(1); Int b = this.add(a); }
        Int both(Counter other) { Int mine = this.add(1); Int theirs = other.add(1); return mine + theirs; }
    }
"""


def test_synchronous_calls_and_init_blocks() -> None:
    assert outcomes(COUNTER + "{ Counter c = new C(10); c!twice(); }")[0]["0.0.total"] == 22
    (there,) = outcomes(
        COUNTER
        + "{ Counter c = new C(1); Counter d = new C(2); Fut<Int> f = c!both(d); Int n = f.get; assert n == 5; }"
    )
    assert there["kind"] == "terminated"


def test_objects_of_one_group_call_each_other_at_once() -> None:
    source = (
        COUNTER
        + """
        interface Owner { Unit go(); }
        class O implements Owner { Int n = 0; Unit go() { Counter c = new local C(5); n = c.add(1); } }
        { Owner o = new O(); o!go(); }
    """
    )
    (only,) = outcomes(source)
    assert only["0.0.n"] == 6


def test_a_call_in_a_circle_of_groups_deadlocks() -> None:
    source = """
        interface A { Unit ask(A o); Unit answer(); }
        class P implements A { Unit ask(A o) { o.answer(); } Unit answer() { skip; } }
        { A a = new P(); A b = new P(); a!ask(b); b!ask(a); }
    """
    report = porcini.explore(porcini.loads(source, "abs"))
    assert {o.kind for o in report.outcomes} == {"terminated", "deadlock"}
    stuck = next(o for o in report.outcomes if o.kind == "deadlock")
    by_pid = {str(w.pid): w for w in stuck.waiting}
    assert by_pid["0.2"].holds == "0.0" and [str(p) for p in by_pid["0.2"].waits_for] == ["0.2.0"]
    assert [str(p) for p in by_pid["0.2.0"].waits_for] == ["0.3"], "who holds the actor that it needs"


def test_await_goes_on_in_the_same_step_if_it_can() -> None:
    source = """
        interface A { Unit set(); Unit wait(); }
        class P(Bool on) implements A {
            Int n = 0;
            Unit set() { on = True; }
            Unit wait() { await on; n = 1; }
        }
        { A a = new P(False); a!wait(); a!set(); }
    """
    already = porcini.explore(porcini.loads(source.replace("P(False)", "P(True)"), "abs"), engine="exhaustive")
    later = porcini.explore(porcini.loads(source, "abs"), engine="exhaustive")
    assert {len(o.trace) for o in already.outcomes} == {3}
    assert sorted(len(run.trace) for run in later.outcomes) in ([3], [4])
    assert later.counts.events > already.counts.events


def test_futures_in_all_ways() -> None:
    source = """
        interface W { Int work(Int n); }
        class Worker implements W { Int work(Int n) { return n * n; } }
        interface B { Unit go(W w); }
        class Boss implements B {
            Int total = 0;
            Bool ready = True;
            Unit go(W w) {
                Fut<Int> f = w!work(2);
                await f? & ready;
                Int x = f.get;
                Int y = await w!work(3);
                Fut<Int> g = w!work(x);
                suspend;
                total = x + y + g.get;
            }
        }
        { W w = new Worker(); B b = new Boss(); b!go(w); }
    """
    source = source.replace("total = x + y + g.get;", "Int z = g.get; total = x + y + z;")
    assert {o["0.1.total"] for o in outcomes(source)} == {29}


def test_a_method_that_waits_can_be_called_on_this() -> None:
    source = """
        interface A { Unit go(Int n); Int half(Int n); Unit tick(); }
        class P implements A {
            Int ticks = 0; Int got = -1;
            Unit tick() { ticks = ticks + 1; }
            Int half(Int n) {
                if (n == 0) { return 0; }
                await ticks > 0;
                if (n < 0) { skip; } else { return truncate(n / 2); }
                return -n;
            }
            Unit go(Int n) { got = this.half(n); got = got + 1; }
        }
        { A a = new P(); a!go(NUMBER); a!tick(); }
    """
    for number, got in ((0, 1), (10, 6), (-3, 4)):
        assert {o["0.0.got"] for o in outcomes(source.replace("NUMBER", str(number)))} == {got}


def test_loops_switches_and_run_methods() -> None:
    source = """
        data Op = Add(Int by) | Reset;
        interface I {}
        class C(List<Op> ops) implements I {
            Int n = 0; Int seen = 0;
            Unit run() {
                foreach (op, i in ops) {
                    seen = seen + i;
                    switch (op) { Add(k) => n = n + k; Reset => { n = 0; } }
                }
                while (n < 10) { n = n + 3; }
            }
        }
        { I c = new C(list[Add(5), Reset, Add(2)]); }
    """
    (only,) = outcomes(source)
    assert (only["0.0.n"], only["0.0.seen"]) == (11, 3)


def test_waiting_inside_of_loops_and_branches() -> None:
    """What follows a release point is the rest of its block, then the loop once more, then what comes after."""
    source = """
        interface A { Unit tick(); Unit count(Int n); }
        class P implements A {
            Int ticks = 0; Int seen = 0; Bool done = False;
            Unit tick() { ticks = ticks + 1; }
            Unit count(Int n) {
                Int i = 0;
                while (i < n) {
                    i = i + 1;
                    if (i == 2) { await ticks > 1; seen = seen + 10; } else { await ticks > 0; seen = seen + 1; }
                }
                done = True;
            }
        }
        { A a = new P(); a!count(3); a!tick(); a!tick(); }
    """
    found = outcomes(source)
    assert all(o["kind"] == "terminated" and o["0.0.seen"] == 12 and o["0.0.done"] for o in found)


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        ("I o = null; o!m();", "error", "a call on null"),
        ("I o = null; Unit u = o.m();", "error", "a call on null"),
        ("Int x = head(Nil);", "error", "head of an empty list"),
        ("Int x = case Nothing { Just(n) => n; };", "error", "no branch of the case matches Nothing"),
        ("Int x = fromJust(Nothing);", "error", "fromJust of Nothing"),
        ("Int x = lookupUnsafe(map[Pair(1, 2)], 3);", "error", "lookupUnsafe: no entry for 3"),
        ("Int x = nth(list[1], 1);", "error", "nth: there is no element 1 in a list of 1"),
        ("Int x = 1 % 0;", "error", "division by zero"),
        ("Rat x = 1 / 0;", "error", "division by zero"),
        ("Fut<Int> f; Int x = f.get;", "error", "waits for a future that is null"),
        ("assert 1 == 2;", "assertion", "the assertion does not hold"),
        ("await head(Nil) == 1;", "error", "head of an empty list"),
    ],
)
def test_run_time_errors_are_outcomes(body: str, kind: str, message: str) -> None:
    source = f"""// a comment
interface I {{ Unit m(); }} class C implements I {{
    Unit m() {{
        {body}
    }}
}}
{{ I c = new C(); c!m(); }}"""
    report = porcini.explore(porcini.loads(source, "abs"))
    (outcome,) = report.outcomes
    assert outcome.kind == kind
    failure = next(event.failure for event in outcome.trace if event.failure)
    assert failure.message == message and failure.place.line == 4
    assert outcome.state["0.1"] == "C.m failed"


WRONG = [
    ("interface I { Int m(); }\nclass C implements I { Int m() { skip; } }\n{ }", "may end without a value", 2),
    ("def Int f(Int x, Int x) = x;\n{ }", "`x` is declared twice", 1),
    ("data A = A(Int v);\ndata B = B(Int v);\n{ }", "`v` is declared twice", 2),
    ("data Maybe = No;\n{ }", "`Maybe` is declared twice", 1),
    ('{ String s = "\\q"; }', "unknown escape", 1),
    ('{ String s = "abc; }', "text that is not closed", 1),
    ("{ Int x := 1; }", "unexpected ':'", 1),
    ("{ Int if = 1; }", "unexpected 'if'", 1),
    ('{ String s = "a" + 1; }', "`+` is not for String and Int", 1),
    ("{ Int x = 1; x; }", "this is not a statement", 1),
    ("{ duration(1, 2); }", "outside the subset", 1),
    ("{ Foo x = null; }", "unknown type `Foo`", 1),
    ("{ I x = new Foo(); }\ninterface I {}", "unexpected", 2),
    ("interface I {}\n{ I x = new Foo(); }", "unknown class `Foo`", 2),
    ("interface I {}\nclass C(Int n) implements I {}\n{ I x = new C(); }", "wants 1 argument, not 0", 3),
    ("interface I { Unit m(); }\nclass C implements I {}", "has no method `m` of interface `I`", 2),
    ("interface I { Unit m(); }\nclass C implements I { Int m() { return 1; } }", "does not have the type", 2),
    ("interface I {}\nclass C implements I {}\n{ I x = new C();\nx!m(); }", "has no method `m`", 4),
    (
        "interface I { Unit m(Int n); }\nclass C implements I { Unit m(Int n) {} }\n{ I x = new C(); x!m(); }",
        "wants 1",
        3,
    ),
    (
        "interface I { Unit m(Int n); }\nclass C implements I { Unit m(Int n) {} }\n{ I x = new C(); x!m(True); }",
        "expected Int",
        3,
    ),
    ("interface I { Unit m(); }\nclass C implements I {\nUnit m() { n = 1; } }\n{ }", "unknown variable `n`", 3),
    ("interface I { Unit m(); }\nclass C implements I {\nUnit m() { this.n = 1; } }\n{ }", "unknown field `n`", 3),
    ("{ Int x = True; }", "expected Int, not Bool", 1),
    ("{ Int x = 1; Int x = 2; }", "declared twice", 1),
    ("{ Bool b = 1 == True; }", "cannot compare", 1),
    ("{ if (1) { skip; } }", "expected Bool, not Int", 1),
    ("{ Int x = foo(1); }", "unknown function `foo`", 1),
    ("{ Int x = head(1); }", "expected List", 1),
    ("{ List<Int> x = list[1, True]; }", "expected Int", 1),
    ("{ Int x = Foo; }", "unknown constructor `Foo`", 1),
    ("def Int f(Int n) = True;\n{ }", "expected Int, not Bool", 1),
    ("def Int f() = 1;\ndef Int f() = 2;\n{ }", "declared twice", 2),
    ("interface I extends J {}\n{ }", "unknown interface `J`", 1),
    ("interface I extends J {}\ninterface J extends I {}\n{ }", "extends itself", 1),
    ("type A = B;\ntype B = A;\n{ A x = 1; }", "is defined by itself", 1),
    ("interface I {}\nclass C implements I { Int n; }\n{ }", "has no initial value", 2),
    ("class C { Unit m() { skip; }", "unexpected end of file", 1),
    ("interface I {}", "there is no main block", 1),
    ("{ this!m(); }", "there is no `this` here", 1),
    ("delta D;\n{ }", "outside the subset of ABS that Porcini runs: deltas", 1),
    ("{ await duration(1, 2); }", "outside the subset", 1),
    ("{ try { skip; } catch { _ => skip; } }", "outside the subset of ABS that Porcini runs: exceptions", 1),
    ("{ Int x = 1 $ 2; }", "unexpected '$'", 1),
    ("", "the file is empty", None),
]


@pytest.mark.parametrize(("source", "message", "line"), WRONG)
def test_what_is_wrong_is_said_with_its_place(source: str, message: str, line: int | None) -> None:
    with pytest.raises(InputError) as problem:
        porcini.loads(source, "abs", "x.abs")
    assert message in problem.value.message
    assert line is None or problem.value.place.line == line
    assert str(problem.value).startswith("x.abs:" if line else "x.abs: error")


ENDLESS = [
    """interface I { Unit m(); } class C implements I { Unit m() { I c = new C(); c!m(); } }
       { I c = new C(); c!m(); }""",
    "interface I {} class C implements I {} { while (True) { I c = new C(); } }",
    "{ Int x = 0; while (True) { x = x + 1; } }",
    "def Int forever(Int n) = forever(n + 1); { Int x = forever(1); }",
    "interface I {} class C implements I { { I c = new C(); } } { I c = new C(); }",
    """interface I { Unit a(); Unit b(); }
       class C implements I { Unit a() { I me = this; me.b(); } Unit b() { suspend; } }
       { I c = new C(); c!a(); }""",
    "interface I { Unit m(I o); } class C implements I { Unit m(I o) { o!m(this); } } { I a = new C(); a!m(a); }",
]


@pytest.mark.parametrize("source", ENDLESS)
def test_what_does_not_end_is_unknown(source: str) -> None:
    report = porcini.explore(porcini.loads(source, "abs"), limits=Limits(timeout=20))
    assert report.verdict == "unknown" and report.limit.startswith("the ")


def test_inputs_are_functions_without_parameters() -> None:
    model = porcini.loads(
        "def Int n() = 2; interface I {} class C(Int v) implements I {} { I c = new C(n()); }", "abs"
    )
    assert porcini.explore(model).outcomes[0].state == {"0.0.v": 2}
    assert porcini.explore(model, inputs={"n": 5}).outcomes[0].state == {"0.0.v": 5}
    with pytest.raises(InputError, match="is not an input"):
        porcini.explore(model, inputs={"m": 5})
    with pytest.raises(InputError, match="wants a number"):
        porcini.explore(model, inputs={"n": True})


def test_observing_a_field_of_every_object_or_of_one() -> None:
    model = porcini.load("benchmarks/actors/registry.abs")
    assert len(porcini.explore(model, observe=["f"]).outcomes) == 1
    assert len(porcini.explore(model, observe=["0.0.g"]).outcomes) == 2


def test_engines_that_are_not_for_actors() -> None:
    model = porcini.load("benchmarks/actors/registry.abs")
    with pytest.raises(InputError, match="only rewrite theories"):
        porcini.transform(model)
    with pytest.raises(InputError, match=r"not for \.gcl"):
        porcini.explore("examples/gcl/vineyard.gcl", engine="transdpor")


def test_names_of_the_library_can_be_taken() -> None:
    """`foreach`, `map[..]` and patterns do not depend on what a program calls its functions and parts."""
    source = """
        data Item = Item(Int id, Int head) | Other(Int head);
        def Bool isEmpty(Int x) = True;
        def Int elements(Int x) = x;
        def Int map(Int x) = x;
        interface I {}
        class C implements I {
            Int sum = 0; Int picked = 0;
            Map<Int, Int> m = map[Pair(1, 2)];
            Unit run() {
                foreach (x in list[Item(1, 2), Other(3)]) { sum = sum + head(x); }
                foreach (x in set[4, 5]) { sum = sum + x; }
                picked = case list[7, 8] { Cons(h, t) => h; Nil => 0; };
            }
        }
        { I c = new C(); }
    """
    (only,) = outcomes(source)
    assert (only["0.0.sum"], only["0.0.picked"], only["0.0.m"]) == (14, 7, "map[Pair(1, 2)]")


def test_what_is_expected_settles_types() -> None:
    source = """
        interface I {} interface J extends I {} interface K extends I {}
        class A implements J {} class B implements K {}
        def Int two() = 2;
        class C(J j, K k) implements I {
            List<I> a = list[j, k];
            List<I> b = Cons(j, Cons(k, Nil));
            Map<Int, I> c = map[Pair(1, j), Pair(two(), k)];
            I d = if True then j else k;
            List<Rat> e = list[1, 1/2];
            Set<Int> f = EmptySet;
            Map<Int, Int> g = InsertAssoc(Pair(1, 2), EmptyMap);
            Int h = let (Int x) = 1, (Int y) = x + 1 in y;
            Bool lt = True == (1 < 2);
        }
        { J j = new A(); K k = new B(); I c = new C(j, k); println("done"); }
    """
    (only,) = outcomes(source)
    assert only["0.2.a"] == ("0.0", "0.1") and only["0.2.e"] == (1, "1/2") and only["0.2.h"] == 2
    assert (only["0.2.f"], only["0.2.g"]) == ("set[]", "map[Pair(1, 2)]")


def test_imports_annotations_and_comments_in_all_their_forms() -> None:
    source = (
        """module A.B; export f, X, *;
        """.replace(", *", "")
        + """
        import List, head, Maybe from ABS.StdLib; import * from ABS.StdLib;
        data X = X; def Int f() = 1;
        /* a comment
           of two lines */
        [Far] interface I { [Cost: 1, Deadline: 2] Unit m(List<[Near] I> is); }
        class C implements I { [Atomic] Unit m(List<[Near] I> is) { [Cost: 3] skip; } }
        { [Near] I c = new C(); c!m(list[c]); }"""
    )
    assert porcini.explore(porcini.loads(source, "abs")).verdict == "holds"


def test_long_chains_are_no_deep_nesting() -> None:
    arms = " ".join(f"{k} => n = {k};" for k in range(150))
    cases = " ".join(f"{k} => {k};" for k in range(300))
    source = f"""def Int f(Int x) = case x {{ {cases} }};
        interface I {{ Unit m(Int x); }}
        class C implements I {{ Int n = 0; Unit m(Int x) {{ switch (x) {{ {arms} }} n = f(n) + 1; }} }}
        {{ I c = new C(); c!m(120); }}"""
    assert outcomes(source)[0]["0.0.n"] == 121


def test_deep_recursion_is_not_a_failure_of_the_program(tmp_path) -> None:
    source = "def Int f(Int n) = if n == 0 then 0 else 1 + f(n - 1); { assert f(2000) == 2000; }"
    assert porcini.explore(porcini.loads(source, "abs")).verdict in ("holds", "unknown")
    file = tmp_path / "deep.abs"
    file.write_text(source)
    assert main(["explore", str(file), "--quiet"]) == 0, "the command allows more than Python does"


@pytest.mark.parametrize(
    "source",
    [
        "{ " + "if (True) { " * 300 + "}" * 300 + " }",
        "{ List<Int> x = " + "Cons(1, " * 300 + "Nil" + ")" * 300 + "; }",
        "{ Int x = " + "case 1 { 1 => " * 5000 + "1" + "; }" * 5000 + "; }",
        "{ " + "while (True) { " * 30 + "}" * 30 + " }",
    ],
)
def test_what_is_nested_too_deep_is_said(source: str) -> None:
    with pytest.raises(InputError, match="nested too deep"):
        porcini.loads(source, "abs").system()


def test_brackets_and_long_sums_are_not_deep() -> None:
    assert value_of("(" * 500 + "1" + " + 1" * 500 + ")" * 500, "Int") == 501


def test_a_method_that_no_class_implements_is_an_error_where_it_is_called() -> None:
    source = """interface I { Unit m(); }
        interface J extends I { Int z(); }
        class C(J j) implements I { Unit m() { Int k = CALL; } }
        { I x = new C(null); x!m(); }"""
    for call in ("j.z()", "await j!z()"):
        with pytest.raises(porcini.InputError, match=r"no class implements J, so nobody can answer `z`") as caught:
            porcini.loads(source.replace("CALL", call), "abs")
        assert caught.value.place.line == 3


COGS = """
interface I { Unit m(I o); Unit wait(); Unit done(); }
class C implements I {
    Bool ready = False; Int n = 0;
    Unit m(I o) { I d = MAKE D(this); d!m(this); n = n + 1; }
    Unit wait() { await ready; }
    Unit done() { ready = True; }
}
class D(I owner) implements I {
    Unit m(I o) { owner.done(); }
    Unit wait() { skip; }
    Unit done() { skip; }
}
{ I c = NEW C(); c!m(null); }
"""


def cogs(new: str, make: str) -> porcini.Report:
    return porcini.explore(porcini.loads(COGS.replace("NEW", new).replace("MAKE", make), "abs"))


def test_a_file_with_new_cog_is_read_in_the_older_dialect_throughout() -> None:
    """There, a plain `new` makes an object of the same group: calling its owner needs no second step."""
    older, today = cogs("new cog", "new"), cogs("new", "new local")
    assert [o.state for o in older.outcomes] == [o.state for o in today.outcomes]
    assert older.counts == today.counts != cogs("new", "new").counts
    (note,) = older.notes
    assert "`new cog` is of an older dialect" in note and not today.notes
    assert cogs("new cog", "new cog").counts == cogs("new", "new").counts


@pytest.mark.parametrize("body", ["if (v == 1) { u = 10; }", "while (v == 1) { u = 10; }"])
def test_a_branch_that_is_not_entered_touches_nothing(body: str) -> None:
    source = f"interface I {{ Unit m(Int v); }} class C implements I {{ Int u = 0; Unit m(Int v) {{ {body} }} }}"
    report = porcini.explore(porcini.loads(source + "{ I x = new C(); x!m(2); x!m(3); x!m(4); }", "abs"))
    assert report.counts.executions == 1
