"""Promela to abstract syntax: every construct, places, macros, inlines, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from porcini import load
from porcini.core.errors import InputError, Place
from porcini.langs.promela import syntax as ast
from porcini.langs.promela.parser import parse, parse_expression
from porcini.langs.promela.preprocess import includer

HERE = Place(1, 1)


def shown(node: object) -> str:
    """An expression or statement in one line, all operators in brackets."""
    match node:
        case ast.Number(_, value):
            return str(value)
        case ast.Ref(_, name, index, field):
            return name + (f"[{shown(index)}]" if index else "") + (f".{shown(field)}" if field else "")
        case ast.Unary(_, op, operand):
            return f"({op}{shown(operand)})"
        case ast.Binary(_, op, left, right):
            return f"({shown(left)} {op} {shown(right)})"
        case ast.Conditional(_, test, then, otherwise):
            return f"({shown(test)} -> {shown(then)} : {shown(otherwise)})"
        case ast.Asked(_, what, channel):
            return f"{what}({shown(channel)})"
        case ast.Eval(_, operand):
            return f"eval({shown(operand)})"
        case ast.Poll(_, channel, args, anywhere):
            return f"{shown(channel)}{'??' if anywhere else '?'}[{many(args)}]"
        case ast.Run(_, name, args):
            return f"run {name}({many(args)})"
        case ast.AtLabel(_, name, index, label):
            return f"{name}{f'[{shown(index)}]' if index else ''}@{label}"
        case ast.Remote(_, name, index, variable):
            return f"{name}{f'[{shown(index)}]' if index else ''}:{shown(variable)}"
        case ast.Timeout():
            return "timeout"
        case ast.Values(_, values):
            return f"{{{many(values)}}}"
        case ast.ChannelInit(_, capacity, types):
            return f"[{capacity}] of {{{', '.join(types)}}}"
        case ast.Variable(_, type_, name, size, initial, width):
            text = f"{type_} {name}" + (f"[{shown(size)}]" if size else "") + (f" : {width}" if width else "")
            return text + (f" = {shown(initial)}" if initial else "")
        case ast.Declare(_, variables):
            return many(variables)
        case ast.Assign(_, target, value):
            return f"{shown(target)} = {shown(value)}"
        case ast.Condition(_, test):
            return shown(test)
        case ast.Send(_, channel, args, sorted_):
            return f"{shown(channel)}{'!!' if sorted_ else '!'}{many(args)}"
        case ast.Receive(_, channel, args, anywhere, keep):
            inside = f"<{many(args)}>" if keep else many(args)
            return f"{shown(channel)}{'??' if anywhere else '?'}{inside}"
        case ast.Assert(_, test):
            return f"assert {shown(test)}"
        case ast.Print(_, text, args):
            return f"print {text!r} {many(args)}".rstrip()
        case ast.Goto(_, label):
            return f"goto {label}"
        case ast.Break():
            return "break"
        case ast.Else():
            return "else"
        case ast.Labelled(_, label, body):
            return f"{label}: {shown(body)}"
        case ast.Choose(_, options, loops):
            return f"{'do' if loops else 'if'} {' '.join(shown(option) for option in options)}"
        case ast.For(_, variable, low, high, array, body):
            bounds = f"in {shown(array)}" if array else f": {shown(low)} .. {shown(high)}"
            return f"for {shown(variable)} {bounds} {shown(body)}"
        case ast.Select(_, variable, low, high):
            return f"select {shown(variable)} : {shown(low)} .. {shown(high)}"
        case ast.Exclusive(_, what, channels):
            return f"{what} {many(channels)}"
        case ast.Block(_, statements, kind):
            return f"{'' if kind == 'plain' else kind}{{{'; '.join(shown(s) for s in statements)}}}"
    raise AssertionError(node)


def many(parts: tuple[object, ...]) -> str:
    return ", ".join(shown(part) for part in parts)


def body(text: str, before: str = "") -> str:
    """The body of `init { text }`."""
    return shown(parse(f"{before}\ninit {{ {text} }}").proctypes[-1].body)[1:-1]


def expr(text: str) -> str:
    return shown(parse_expression(text, HERE))


def error(source: str, include: Callable[[str], str] | None = None) -> InputError:
    with pytest.raises(InputError) as caught:
        parse(source, "m.pml", include)
    assert caught.value.place is not None, caught.value.message
    assert caught.value.file == "m.pml"
    return caught.value


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("a || b && c | d ^ e & f", "(a || (b && (c | (d ^ (e & f)))))"),
        ("a == b < c << d + e * f", "(a == (b < (c << (d + (e * f)))))"),
        ("a - b - c % d / e", "((a - b) - ((c % d) / e))"),
        ("a >= 1 && b <= 2 || c != 3 && d > 4", "(((a >= 1) && (b <= 2)) || ((c != 3) && (d > 4)))"),
        ("!a && ~b == -c", "((!a) && ((~b) == (-c)))"),
        ("! ! a", "(!(!a))"),
        ("-1 - -2 >> 1", "((-1 - -2) >> 1)"),
        ("(a -> b : (c -> d : e))", "(a -> b : (c -> d : e))"),
        ("true + false + skip", "((1 + 0) + 1)"),
        ("'a' + '\\n' + '\\''", "((97 + 10) + 39)"),
        ("s.a[i].b[2] == a[b[1]]", "(s.a[i].b[2] == a[b[1]])"),
        ("len(c) + empty(c[1])", "(len(c) + empty(c[1]))"),
        ("full(s.c) || nempty(c) || nfull(c)", "((full(s.c) || nempty(c)) || nfull(c))"),
        ("c?[x, 3] && c??[m(eval(y), _)]", "(c?[x, 3] && c??[m, eval(y), _])"),
        ("run p() + run q(1, x)", "(run p() + run q(1, x))"),
        ("p@here && p[i + 1]@there", "(p@here && p[(i + 1)]@there)"),
        ("p:x + p[2]:s.y[1]", "(p:x + p[2]:s.y[1])"),
        ("timeout && _nr_pr > _pid", "(timeout && (_nr_pr > _pid))"),
    ],
)
def test_expressions(text: str, meaning: str) -> None:
    assert expr(text) == meaning


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("x = 1; y++ -> z--", "x = 1; y = (y + 1); z = (z - 1)"),
        ("skip;; -> ; skip; ", "1; 1"),
        ("c!1; c!m(2, x); c!!x, 3; c[1]!-1; s.c!(x)", "c!1; c!m, 2, x; c!!x, 3; c[1]!-1; s.c!x"),
        ("c!(a -> b : d); c ! x + 1", "c!(a -> b : d); c!(x + 1)"),
        ("c?x; c?m(x, _); c??x, -3; c?<x>; c??<m(x)>", "c?x; c?m, x, _; c??x, -3; c?<x>; c??<m, x>"),
        ("c?eval(x + 1), 'a', true; c?(x, y); c?s.x, a[2]", "c?eval((x + 1)), 97, 1; c?x, y; c?s.x, a[2]"),
        ("c?<x>->y = 1", "c?<x>; y = 1"),
        ("c?[x] -> c?x", "c?[x]; c?x"),
        ("(a -> b : d) -> skip", "(a -> b : d); 1"),
        ("assert(x == 1); assert x", "assert (x == 1); assert x"),
        ('printf("a\\tb\\"%d\\n", x, y + 1); printm(m)', "print 'a\\tb\"%d\\n' x, (y + 1); print '%e' m"),
        ("if :: a -> b; :: else fi; skip", "if {a; b} {else}; 1"),
        ("if :: a :: else -> skip fi", "if {a} {else; 1}"),
        ("do :: x = 1 :: else x = 2; break; od", "do {x = 1} {else; x = 2; break}"),
        ("atomic { x = 1; } d_step { y = 1 } { z = 1 }", "atomic{x = 1}; d_step{y = 1}; {z = 1}"),
        ("L: x = 1; M: N: goto L", "L: x = 1; M: N: goto L"),
        ("goto L; L: ; skip; M: ", "goto L; L: 1; 1; M: 1"),
        ("do :: L: x -> break od; end: atomic { E: y }", "do {L: x; break}; end: atomic{E: y}"),
        ("for (i : 1 .. n - 1) { x = i } y = 1", "for i : 1 .. (n - 1) {x = i}; y = 1"),
        ("for (i in a) { x = a[i]; }", "for i in a {x = a[i]}"),
        ("select (i : 1..n); skip", "select i : 1 .. n; 1"),
        ("xr c, d[1]; xs e; skip", "xr c, d[1]; xs e; 1"),
        ("run p(1, x); run q()", "run p(1, x); run q()"),
        ("p@here; p[1]:x == 2", "p@here; (p[1]:x == 2)"),
        (
            "byte x = 1, y[3] = 2; mtype m = ack; unsigned u : 4 = 3",
            "byte x = 1, byte y[3] = 2; mtype m = ack; unsigned u : 4 = 3",
        ),
        ("byte x[3] = { 1,\n 2, N };\nskip", "byte x[3] = {1, 2, N}; 1"),
        (
            "chan c = [2 * 2] of { byte, mtype:t, T }, d, e[2] = [0] of { chan }; skip",
            "chan c = [4] of {byte, mtype:t, T}, chan d, chan e[2] = [0] of {chan}; 1",
        ),
        (
            "hidden bit b; local pid q; show T t, u[4]; short s; int i; bool o; skip",
            "bit b; pid q; T t, T u[4]; short s; int i; bool o; 1",
        ),
        ("timeout -> _ = x", "timeout; _ = x"),
    ],
)
def test_statements(text: str, meaning: str) -> None:
    assert body(text, "proctype p() { skip }") == meaning


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("x = 1 @ y = 2 @ skip", "x = 1; y = 2; 1"),
        ("x = x @ - 1", "x = x; -1"),
        ("c!m @ (1)", "c!m; 1"),
        ("x @ !y", "x; (!y)"),
        ("x = 1 @ { skip }", "x = 1; {1}"),
        (
            "if :: x == 1 @ x = 2 @ :: else @ x = 3 fi @ y++ @ z",
            "if {(x == 1); x = 2} {else; x = 3}; y = (y + 1); z",
        ),
        ("x == 1 @ -> skip @ ; skip", "(x == 1); 1; 1"),
        ("goto L @ L: @ skip", "goto L; L: 1"),
        ("for (i : 1 .. (2)) @ { skip } @ atomic @ { skip }", "for i : 1 .. 2 {1}; atomic{1}"),
        ("T @ t @ byte @ b, @ d @ skip", "T t; byte b, byte d; 1"),
        ("x = (a @ + b) @ M", "x = (a + b); y = 1"),
        ("x = y @ + 1", "x = (y + 1)"),
        ("f(x, @ y) @ skip", "{x = y; y = x}; 1"),
        ("chan c = [1] of @ { byte } @ c!1", "chan c = [1] of {byte}; c!1"),
    ],
)
def test_the_end_of_a_line_ends_a_statement(text: str, meaning: str) -> None:
    before = "typedef T { byte a @ byte b }\n#define M y = \\\n1\ninline f(a, b) { a = b @ b = a }\n"
    assert body(text.replace("@", "\n"), before.replace("@", "\n")) == meaning


def test_a_proctypes_name_before_a_colon_is_a_remote_reference_within_a_conditional() -> None:
    assert body("x = (a -> p:v : b); x = (a -> b : p:v)", "proctype p() { byte v; skip }") == (
        "x = (a -> p:v : b); x = (a -> b : p:v)"
    )
    text = "(a -> p:x : q[1]:y)"
    assert shown(parse_expression(text, HERE, proctypes=["p", "q"])) == text


def test_programs() -> None:
    program = parse(
        """
        #define N 2
        mtype = { a, b };  mtype:other = { c d };
        mtype:other v = c;
        typedef T { byte x, y[2]; chan c; };
        T t; byte n = N;
        proctype one(byte i, j; chan c; T s) { skip };
        active proctype two() { skip }
        active [N + 1] D_proctype three(int k) { skip }
        init { run one(1, 2, t.c) }
        never claim { skip }
        never { T0: do :: skip od }
        """
    )
    assert [(m.type, m.names) for m in program.mtypes] == [("mtype", ("a", "b")), ("mtype:other", ("c", "d"))]
    assert [shown(v) for v in program.variables] == ["mtype:other v = c", "T t", "byte n = 2"]
    assert [(t.name, many(t.fields)) for t in program.typedefs] == [("T", "byte x, byte y[2], chan c")]
    assert [(p.name, many(p.parameters), p.active and shown(p.active)) for p in program.proctypes] == [
        ("one", "byte i, byte j, chan c, T s", None),
        ("two", "", "1"),
        ("three", "int k", "(2 + 1)"),
        ("init", "", "1"),
    ]
    assert [(never.name, shown(never.body)) for never in program.nevers] == [
        ("claim", "{1}"),
        (None, "{T0: do {1}}"),
    ]


def test_places() -> None:
    program = parse("byte x;\nproctype p(byte a)\n{\n  x = a + 1;\n  (x > 1) -> L: c?x\n}\n")
    (p,) = program.proctypes
    assert program.variables[0].place == Place(1, 6)
    assert (p.place, p.parameters[0].place, p.body.place, p.end) == (
        Place(2, 10),
        Place(2, 17),
        Place(3, 1),
        Place(6, 1),
    )
    assign, condition, labelled = p.body.statements
    assert isinstance(assign, ast.Assign) and isinstance(assign.value, ast.Binary)
    assert (assign.place, assign.value.place, assign.value.right.place) == (
        Place(4, 3),
        Place(4, 9),
        Place(4, 11),
    )
    assert condition.place == Place(5, 3), "a condition begins at its parenthesis"
    assert isinstance(labelled, ast.Labelled)
    assert (labelled.place, labelled.body.place) == (Place(5, 14), Place(5, 17))


def test_places_after_comments_continuations_and_windows_lines() -> None:
    program = parse("/* one\n two */ byte a;\r\n// \\\n byte no;\nbyte \\\n b;")
    assert [(v.name, v.place) for v in program.variables] == [("a", Place(2, 14)), ("b", Place(6, 2))]


def test_places_in_an_expression_alone() -> None:
    found = parse_expression("a &&\n  b", Place(3, 7))
    assert isinstance(found, ast.Binary)
    assert (found.left.place, found.place, found.right.place) == (Place(3, 7), Place(3, 9), Place(4, 3))
    with pytest.raises(InputError) as caught:
        parse_expression("a + ) b", Place(3, 7))
    assert (caught.value.message, caught.value.place) == ("syntax error, saw ')'", Place(3, 11))
    for text in ("", "a +", "a b", "x = 1", "a; b", "a -> b", "eval(x)"):
        with pytest.raises(InputError):
            parse_expression(text, HERE)


# Macros


@pytest.mark.parametrize(
    ("before", "text", "meaning"),
    [
        ("#define N 3", "x = N", "x = 3"),
        ("#define A B\n#define B 2", "x = A", "x = 2"),
        ("#define x x + y\n#define y x", "x", "(x + x)"),
        ("#define f(a) a\n", "f(f(f(1))) + f", "(1 + f)"),
        ("#define f(a) a(a)\n", "g = f", "g = f"),
        (
            "#define MAX(a, b) ((a) > (b) -> (a) : (b))",
            "x = MAX(y, MAX(1, 2))",
            "x = ((y > ((1 > 2) -> 1 : 2)) -> y : ((1 > 2) -> 1 : 2))",
        ),
        ("#define f (x)", "f", "x"),
        ("#define f() 1", "f() + f ( )", "(1 + 1)"),
        ("#define swap(a, b) t = a; \\\n   a = b; \\\n   b = t", "swap(x, y[1])", "t = x; x = y[1]; y[1] = t"),
        ("#define two(a, b) c?a; b", "two((x, y), 3)", "c?x, y; 3"),
        ("#define N 1\n#undef N", "N", "N"),
        ("#define N 1\n#define N 2", "N", "2"),
        ("#define cat(a) a /* comment */ + 1 // more", "cat(x)", "(x + 1)"),
        ("#define long(a,b) \\\n a \\\n + b", "long(1,\n2)", "(1 + 2)"),
        ("#ifdef N\n#error no\n#else\n#define M 1\n#endif", "M", "1"),
        ("#ifndef N\n#define M 1\n#endif", "M", "1"),
        ("#define N 4\n#if N > 3 && defined(N) && !defined M\n#define M 1\n#else\n'\n#endif", "M", "1"),
        ("#if 0\n' \" @@ $\n#if 1\n#define M 1\n#endif\n#elif 7 / 2 == 3\n#define M 2\n#endif", "M", "2"),
        ("#if 0\n#elif 0\n#elif 1\n#define M 3\n#elif 1\n#define M 4\n#else\n#define M 5\n#endif", "M", "3"),
        ("#if (1 << 4 | 1) % 16 == 1 && -7 / 2 == -3 && ~0 == -1\n#define M 1\n#endif", "M", "1"),
        ("# define  N 1\n#pragma x\n#\n#line 3", "N", "1"),
    ],
)
def test_macros(before: str, text: str, meaning: str) -> None:
    assert body(text, before) == meaning


def test_a_macro_stands_where_it_is_used_and_its_arguments_where_they_are() -> None:
    program = parse("#define inc(a) \\\n  a = a + 1\n\ninit {\n  inc(  x)\n}")
    (assign,) = program.proctypes[0].body.statements
    assert isinstance(assign, ast.Assign) and isinstance(assign.value, ast.Binary)
    assert assign.target.place == Place(5, 9)
    assert assign.value.place == Place(5, 3)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("#define f(a) a\ninit { f(1, 2) }", "takes 1 arguments, not 2"),
        ("#define f(a) a\ninit { f(1 }", "the arguments of `f` are not closed"),
        ("#define f(a, a) a", "two parameters"),
        ("#define f(a b) a", "not names between commas"),
        ("#define f(a", "not names between commas"),
        ("#define f(a...) a", "not names between commas"),
        ("#define f(a) #b", "`#` stands before a parameter"),
        ("#define f(a) a #", "`#` stands before a parameter"),
        ("#define f(a) a ##", "`##` stands between two words"),
        ("#define f ## a", "`##` stands between two words"),
        ("#define f(a, b) a ## b\ninit { f(x, -) }", "`x` and `-` do not make one word"),
        ("#define f(..., a) a", "are not names between commas"),
        ("#define", "needs a name"),
        ("#undef 3", "needs a name"),
        ("#ifdef", "needs a name"),
        ("#if defined", "needs a name"),
        ("#if\n#endif", "ends too early"),
        ("#if 1 +\n#endif", "ends too early"),
        ("#if 1 / 0\n#endif", "no value"),
        ("#if 1 << 99\n#endif", "no value"),
        ("#if 1 2\n#endif", "unexpected '2'"),
        ("#if " + "(" * 999 + "\n#endif", "nested too deep"),
        ("#if (1\n#endif", "not closed"),
        ("#if 1", "without `#endif`"),
        ("#else", "without `#if`"),
        ("#endif", "without `#if`"),
        ("#if 1\n#else\n#else\n#endif", "after `#else`"),
        ("#error stop here", "#error stop here"),
        ("#nothing", "unknown directive"),
        ("#include <a.h>", "needs a file's name"),
        ("#include", "needs a file's name"),
        ('#include "a.h"', "cannot be included here"),
        ("byte x; /* open", "comment that is not closed"),
        ("//@ dependent a b", "unknown note"),
        ("//@ independent a", "unknown note"),
        ("//@ independent a b c", "unknown note"),
    ],
)
def test_what_the_preprocessor_refuses(source: str, message: str) -> None:
    assert message in error(source).message


def test_bombs() -> None:
    doubling = "".join(f"#define a{i} a{i + 1} a{i + 1}\n" for i in range(60))
    assert "more than 500000 words" in error(doubling + "init { a0 }").message
    doubling = "".join(f"#define a{i}(x) a{i + 1}(x x)\n" for i in range(60))
    assert "more than 500000 words" in error(doubling + "init { a0(x) }").message
    chain = "".join(f"#define a{i} a{i + 1}\n" for i in range(1000))
    assert "nested too deep" in error(chain + "init { a0 }").message
    assert "nested too deep" in error("#define f(x) x\ninit { " + "f(" * 999 + "1" + ")" * 999 + "}").message
    assert error("#define f(x) x(x)\ninit { f(f) }").message == "syntax error, saw '('", "f is not expanded again"
    calls = "".join(f"inline a{i}() {{ a{i + 1}(); a{i + 1}() }}\n" for i in range(60))
    assert "more than 500000 words" in error("inline a60() { skip }" + calls + "init { a0() }").message
    chain = "".join(f"inline a{i}() {{ a{i + 1}() }}\n" for i in range(2000))
    assert "inlines nested more than" in error(chain + "init { a0() }").message
    longer = "".join(f"#define a{i}(x) a{i + 1}(x##x)\n" for i in range(60))
    assert "more than 10000 characters" in error(longer + "init { a0(x) }").message
    quoted = "#define s(x) #x\n#define t(x) s(x)\n"
    assert "more than 10000 characters" in error(quoted + "init { " + "t(" * 40 + "x" + ")" * 40 + "}").message


def test_notes() -> None:
    program = parse("byte a, b; //@ independent a b\n//@  independent  b  c \n#if 0\n//@ x\n#endif\ninit { skip }")
    assert program.independent == (("a", "b", Place(1, 12)), ("b", "c", Place(2, 1)))


# Included files


def test_included_files(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.h").write_text('#define N 3\n#include "b.h"\n')
    (tmp_path / "sub" / "b.h").write_text("byte x;\nbyte y = ;\n")
    (tmp_path / "ok.h").write_text("\n\nbyte z;")
    include = includer(tmp_path)
    found = parse('byte a;\n #include "ok.h"\nbyte b;', "m.pml", include)
    assert [(v.name, v.place) for v in found.variables] == [
        ("a", Place(1, 6)),
        ("z", Place(2, 2)),
        ("b", Place(3, 6)),
    ]
    problem = error('\n#include "sub/a.h"\n', include)
    assert problem.place == Place(2, 1)
    assert problem.message == "syntax error, saw ';' (in the included sub/b.h:2)"
    (tmp_path / "f.h").write_text("float f;")
    assert "(in the included f.h)" in error('#include "f.h"', include).message


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../out.h", "outside the model's folder"),
        ("/etc/passwd", "absolute path"),
        ("C:/x", "absolute path"),
        ("link.h", "outside the model's folder"),
        ("none.h", "no file"),
        (".", "no file"),
        ("bytes.h", "not text"),
        ("self.h", "more than 20 deep"),
        ("x\0y", "cannot be read"),
    ],
)
def test_files_that_are_not_included(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "out.h").write_text("byte x;")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "link.h").symlink_to(tmp_path / "out.h")
    (folder / "bytes.h").write_bytes(b"\xff\xfe\x00")
    (folder / "self.h").write_text('#include "self.h"')
    problem = error(f'\n#include "{name}"', includer(folder))
    assert message in problem.message and problem.place is not None and problem.place.line == 2


def test_comments_and_strings_in_latin_1(tmp_path: Path) -> None:
    """SPIN reads bytes; many old models are not UTF-8."""
    (tmp_path / "shared.h").write_bytes(b"byte x; /* variable globale partag\xe9e */\n")
    model = tmp_path / "model.pml"
    model.write_bytes(b'#include "shared.h"\ninit { printf("pass\xe9\\n"); x = 1 } // d\xe9but\n')
    assert load(model).language == "pml"
    model.write_bytes(b"byte \xe9; init { skip }")
    with pytest.raises(InputError, match="1:6"):
        load(model)


def test_words_that_macros_make() -> None:
    join = "#define join(a, b) a ## b\n#define both(a, b) join(a, b)\n#define N 1"
    assert body("join(x, 1) = 2", join) == "x1 = 2"
    assert body("join(x, N) = 2; both(x, N) = 3", join) == "xN = 2; x1 = 3", "what is joined is not replaced first"
    assert body("join(x,) = 2; join(, y)++; join(,)skip", join) == "x = 2; y = (y + 1); 1"
    assert body("x join(=, =) 0; join(1, 2) == 12", join) == "(x == 0); (12 == 12)"
    assert body("three(x, 1, 2) = 3", "#define three(a, b, c) a##b##c") == "x12 = 3"
    assert body("four = 5", "#define four x ## 4") == "x4 = 5"
    assert body('say(x  ==1); say("a")', "#define say(x) printf(#x)") == "print 'x ==1'; print '\"a\"'"
    assert body("send(1, 2)", "#define send(...) c!__VA_ARGS__") == "c!1, 2"


# Inlines


def test_inlines() -> None:
    assert body("f(x, a[g(2)]); x = 0", "inline f(v, w) { v = w; c!v }\n#define g(x) x") == (
        "{x = a[2]; c!x}; x = 0"
    )
    assert body("f() g()", "inline g() { skip } inline f() { g(); x = 1; }") == "{{1}; x = 1}; {1}"
    assert body("f((a, b))", "inline f(v) { c?v }") == "{c?a, b}"
    assert body("atomic { f(x) }", "inline f(v) { if :: v -> skip :: else fi }") == "atomic{{if {x; 1} {else}}}"
    assert body("f = 1; c?f", "inline f() { skip }") == "f = 1; c?f", "only a call is a call"


def test_inlines_that_return_a_value() -> None:
    assert body("x = f(2); y = 1", "inline f(a) { z = a; return a + 1 }") == "{z = 2; x = (2 + 1)}; y = 1"
    assert body("s.a[i + 1] = f(2)", "inline f(a) { return a; skip }") == "{s.a[(i + 1)] = 2; 1}", "it goes on"
    assert body("x = f(2)", "inline g(a) { return a } inline f(a) { t = g(a); return t }") == "{{t = 2}; x = t}"
    assert body("x = f(2)", "inline f(a) { skip }") == "{1}", "SPIN assigns nothing"


def test_places_in_inlines() -> None:
    program = parse("inline f(v) {\n  v = v + 1\n}\ninit {\n  f(x)\n}")
    (block,) = program.proctypes[0].body.statements
    assert isinstance(block, ast.Block) and block.place == Place(5, 3)
    (assign,) = block.statements
    assert isinstance(assign, ast.Assign) and isinstance(assign.value, ast.Binary)
    assert (assign.target.place, assign.value.place) == (Place(5, 5), Place(2, 9))


def test_labels_of_inlines_are_their_own() -> None:
    inline = "inline f(l) { x = 1; end: x++; if :: goto end :: goto l :: goto far fi }"
    assert body("f(far); f(M); M: far: skip", inline) == (
        "{x = 1; end#1: x = (x + 1); if {goto end#1} {goto far} {goto far}}; "
        "{x = 1; end#2: x = (x + 1); if {goto end#2} {goto M} {goto far}}; M: far: 1"
    )
    nested = "inline g(l) { L: goto l } inline f() { L: g(L) }"
    assert body("f()", nested) in ("{L#1: {L#2: goto L#1}}", "{L#1: {L#2: goto L#2}}")
    assert body("f(A); goto A", "inline f(l) { l: skip }") == "{A: 1}; goto A", "a label given as an argument"


@pytest.mark.parametrize(
    ("source", "message", "place"),
    [
        ("inline f() { f() }\ninit { f() }", "inline `f` calls itself", Place(1, 14)),
        ("inline f() { g() } inline g() { f() }\ninit { f() }", "inline `f` calls itself", Place(1, 33)),
        ("inline f(a) { skip }\ninit { f() }", "parameters for inline `f`: 1, not 0", Place(2, 8)),
        (
            "inline f(a) { a }\ninit { f(1, 2) }",
            "parameters for inline `f`: 1, not 2",
            Place(2, 8),
        ),
        ("inline f() { skip }\ninit { f(1) }", "parameters for inline `f`: 0, not 1", Place(2, 8)),
        ("inline f(1) { skip }", "are not names between commas", Place(1, 8)),
        ("active proctype P() priority 0 { skip }", "a number from 1 to 255", Place(1, 30)),
        ("inline f { skip }", "an inline is written", Place(1, 1)),
        ("inline f() skip", "needs `{`", Place(1, 12)),
        ("inline f() { skip", "not closed", Place(1, 8)),
        ("inline f() { skip }\ninline f() { skip }", "a second inline", Place(2, 8)),
        (
            "inline f() { return 1 }\ninit { f() }",
            "`return` is for an inline whose value is assigned",
            Place(1, 14),
        ),
        ("init { return 1 }", "`return` is for an inline whose value is assigned", Place(1, 8)),
        ("inline f() { return 1 }\ninit { byte x = f(); skip }", "syntax error", Place(2, 17)),
        ("init { f(1) }", "syntax error, saw '('", Place(1, 9)),
        ("init { inline f() { skip } }", "syntax error, saw 'inline'", Place(1, 8)),
    ],
)
def test_inlines_that_are_refused(source: str, message: str, place: Place) -> None:
    problem = error(source)
    assert message in problem.message and problem.place == place


# Formulas


def test_formulas() -> None:
    program = parse(
        "#define p (x==1)\n#define q user@cs\nbyte x;\nltl live { []<>p && (q U !p) }\n"
        "ltl { !<>(x<->y) -> X x }\nltl { always eventually x W y }\ninit { skip }"
    )
    assert [(f.name, " ".join(f.formula.split())) for f in program.formulas] == [
        ("live", "[]<>( x == 1 ) && ( user @ cs U ! ( x == 1 ) )"),
        ("ltl_0", "!<>(x<->y) -> X x"),
        ("ltl_1", "always eventually x W y"),
    ]
    assert [f.place for f in program.formulas] == [Place(4, 12), Place(5, 7), Place(6, 7)]
    assert "a second formula" in error("ltl a { x } ltl a { y }").message
    assert "without a formula" in error("ltl a { }").message
    assert "not closed" in error("ltl a { x").message
    assert "needs `{`" in error("ltl a x").message
    assert error("byte x;\nltl a { x $ y }").place == Place(2, 11)


# Errors


@pytest.mark.parametrize(
    ("word", "source"),
    [
        ("c_code", "init { c_code { int x = '$; } }"),
        ("c_expr", "init { c_expr { x } -> skip }"),
        ("c_decl", 'c_decl { \\#include "x" }'),
        ("c_state", 'c_state "int x" "Global"'),
        ("c_track", 'c_track "x" "4"'),
        ("pc_value", "never { pc_value(0) }"),
        ("STDIN", "init { STDIN?x }"),
    ],
)
def test_outside_the_subset(word: str, source: str) -> None:
    problem = error("byte x;\n" + source)
    assert problem.message == f"`{word}` is outside the subset of Promela that Porcini runs"
    assert problem.place == Place(2, source.index(word) + 1)


@pytest.mark.parametrize(
    ("source", "message", "place"),
    [
        ("", "the file is empty", None),
        ("init {\n  x = = 1\n}", "syntax error, saw '='", Place(2, 7)),
        ("init { x = 1 y = 2 }", "syntax error, saw 'y'", Place(1, 14)),
        ("init { x == 1 = 2 }", "syntax error, saw '='", Place(1, 15)),
        ("init { }", "syntax error, saw '}'", Place(1, 8)),
        ("init { ; skip }", "syntax error, saw ';'", Place(1, 8)),
        ("init { if fi }", "syntax error, saw 'fi'", Place(1, 11)),
        ("init { if :: fi }", "syntax error, saw 'fi'", Place(1, 14)),
        ("init { if :: skip od }", "syntax error, saw 'od'", Place(1, 19)),
        ("init { if :: skip fi x = 1 }", "syntax error, saw 'x'", Place(1, 22)),
        ("init { skip", "syntax error, saw the end of the file", Place(1, 12)),
        ("init { L: byte x; skip }", "label preceding declaration", Place(1, 8)),
        ("init { x = 'ab' }", "character that is not closed", Place(1, 12)),
        ('init { printf("a) }', "text that is not closed", Place(1, 15)),
        ("init { x = $ }", "saw the character '$'", Place(1, 12)),
        ("init { x = \x01 }", "saw the character U+0001", Place(1, 12)),
        ("init { x = é }", "saw the character 'é'", Place(1, 12)),
        ("init { x = 1.5 }", "decimal point", Place(1, 12)),
        ("float f;", "the type `float`", Place(1, 1)),
        ("byte b : 3;", "only `unsigned` has a width", Place(1, 6)),
        ("init { x = 9999999999 }", "the number is too large", Place(1, 12)),
        ("chan c = [n] of { byte };", "capacity must be a constant", Place(1, 11)),
        ("chan c = [1 / 0] of { byte };", "capacity must have a value", Place(1, 13)),
        ("proctype p(a) { skip }", "has no type", Place(1, 12)),
        ("init { !!x }", "syntax error, saw '!!'", Place(1, 8)),
        ("init { x = eval(y) }", "syntax error, saw 'eval'", Place(1, 12)),
        ("init { c!x y }", "syntax error, saw 'y'", Place(1, 12)),
        ("#define A x = = 1\n\ninit { A }", "syntax error, saw '='", Place(3, 8)),
        ("}", "syntax error, saw '}'", Place(1, 1)),
        (")]", "syntax error, saw ')'", Place(1, 1)),
    ],
)
def test_errors(source: str, message: str, place: Place | None) -> None:
    with pytest.raises(InputError) as caught:
        parse(source)
    assert message in caught.value.message
    assert caught.value.place == place


def test_hints() -> None:
    assert error("init { x = 1 y = 2 }").hint == "is a `;` missing before it?"
    assert error("init { f(1) }").hint == "no inline `f` is known here"
    assert error("init { (x = 1) }").hint == "a comparison is `==`"
    assert error("init { {} }").hint == "a block needs a statement, such as `skip`"
    assert error("init { skip").hint == "is a `}` missing?"


def test_depth() -> None:
    for text in ("x = " + "1 + " * 999 + "y", "! " * 999 + "x", "x = " + "a[" * 999 + "1" + "]" * 999):
        assert "expression nested more than" in error(f"init {{ {text} }}").message
    for text in (
        "{ " * 999 + "skip" + " }" * 999,
        "if :: " * 999 + "skip" + " fi" * 999,
        "L: " * 999 + "skip",
    ):
        assert "statement nested more than" in error(f"init {{ {text} }}").message
    assert body("(" * 999 + "x" + ")" * 999) == "x"


# Models as people write them

PETERSON = """
/* Peterson's solution to the mutual exclusion problem */
#define want(i)  (flag[i] == true)
bool turn, flag[2];
byte ncrit;

active [2] proctype user()
{
    assert(_pid == 0 || _pid == 1);
again:
    flag[_pid] = 1;
    turn = _pid;
    (!want(1 - _pid) || turn == 1 - _pid);
    ncrit++;
cs: assert(ncrit == 1);    /* critical section */
    ncrit--;
    flag[_pid] = 0;
    goto again
}

ltl safe { [] !(user[0]@cs && user[1]@cs) }
"""

LEADER = """
/* Dolev, Klawe and Rodeh's leader election in a ring of one direction */
#define N 5
#define I 3
#define L 10    /* size of buffer, >= 2*N */
mtype = { one, two, winner };
chan q[N] = [L] of { mtype, byte };
byte nr_leaders = 0;

inline forward(kind, value) {
    out!kind(value)
}

proctype node (chan inp, out; byte mynumber)
{   bit Active = 1, know_winner = 0;
    byte nr, maximum = mynumber, neighbourR;
    xr inp;
    xs out;

    printf("MSC: %d\\n", mynumber);
    forward(one, mynumber);
end: do
    :: inp?one(nr) ->
        if
        :: Active ->
            if
            :: nr != maximum ->
                forward(two, nr);
                neighbourR = nr
            :: else ->
                know_winner = 1;
                out!winner,nr;
            fi
        :: else ->
            forward(one, nr)
        fi
    :: inp?two(nr) ->
        if
        :: Active ->
            if
            :: neighbourR > nr && neighbourR > maximum ->
                maximum = neighbourR;
                forward(one, neighbourR)
            :: else ->
                Active = 0
            fi
        :: else ->
            forward(two, nr)
        fi
    :: inp?winner,nr ->
        if
        :: nr != mynumber -> printf("LOST\\n");
        :: else -> printf("LEADER\\n"); nr_leaders++; assert(nr_leaders == 1)
        fi;
        if
        :: know_winner
        :: else -> out!winner,nr
        fi;
        break
    od
}

init {
    byte proc;
    atomic {
        proc = 1;
        do
        :: proc <= N ->
            run node (q[proc-1], q[proc%N], (N+I-proc)%N+1);
            proc++
        :: proc > N ->
            break
        od
    }
}
"""

WINDOW = """
#ifndef WINDOW
#define WINDOW 2
#endif
#define SEQ (2 * WINDOW)
#define next(x) ((x + 1) % SEQ)
mtype = { data, ack };
typedef Frame { mtype kind; byte seq; bit body }
typedef Station { byte low, high; Frame kept[SEQ]; chan line }
Station sender, receiver;
chan forth = [WINDOW] of { Frame };
chan back = [WINDOW] of { mtype, byte };

inline fill(f, n) {
    d_step { f.kind = data; f.seq = n; select (b : 0 .. 1); f.body = b }
}

active proctype S()
{
    byte b, i, n;
    sender.line = forth;
    for (i : 0 .. SEQ - 1) { sender.kept[i].seq = i }
    do
    :: (sender.high + SEQ - sender.low) % SEQ < WINDOW ->
        fill(sender.kept[sender.high], sender.high);
        sender.line!sender.kept[sender.high];
        sender.high = next(sender.high)
    :: atomic { back?[ack, _] -> back?ack(n) } -> sender.low = next(n)
    :: nempty(back) && timeout -> back??ack, eval(sender.low); sender.low = next(sender.low)
    :: timeout -> sender.high = sender.low
    od
}

active proctype R()
{
    Frame f;
progress:
    do
    :: forth?f ->
        if
        :: f.seq == receiver.low -> receiver.low = next(receiver.low); back!ack(f.seq)
        :: else -> skip
        fi
    :: len(forth) == 0 && full(back) -> goto done
    od;
done: skip
}
"""


@pytest.mark.parametrize(
    ("source", "names", "statements"),
    [(PETERSON, ["user"], 9), (LEADER, ["node", "init"], 7), (WINDOW, ["S", "R"], 4)],
)
def test_models(source: str, names: list[str], statements: int) -> None:
    program = parse(source)
    assert [p.name for p in program.proctypes] == names
    assert len(program.proctypes[0].body.statements) == statements
