"""The parser's tree to abstract syntax."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, TypeVar, get_args

from lark import Token, Transformer_NonRecursive, v_args
from lark.tree import Meta

from porcini.core.errors import InputError, Place
from porcini.langs.promela import syntax as ast
from porcini.langs.promela.preprocess import calculate

DEEPEST_EXPRESSION = 90
"""Python refuses source with 200 nested brackets, and an array index takes two."""
DEEPEST_STATEMENT = 100
LARGEST_NUMBER = 2**31
"""Promela's numbers have 32 bits; the one more is for `-2147483648`."""
_SUBSET = "outside the subset of Promela that Porcini runs"

T = TypeVar("T")


def _at(token: Token) -> Place:
    return Place(token.line or 1, token.column or 1)


def _start(meta: Meta) -> Place:
    return Place(meta.line, meta.column)


def _nodes(parts: Sequence[Any]) -> list[Any]:
    return [part for part in parts if not isinstance(part, Token)]


def _items(parts: Sequence[Any], kind: type[T]) -> tuple[T, ...]:
    return tuple(part for part in parts if isinstance(part, kind))


def _has(parts: Sequence[Any], kind: str) -> bool:
    return any(isinstance(part, Token) and part.type == kind for part in parts)


class _Type(str):
    """A type's name, told apart from its neighbours by its class."""


class _Index(tuple[ast.Expr]):
    """The number of instances of an active proctype."""


class _Provided(tuple[ast.Expr]):
    """What must hold for a process to do anything."""


class _Priority(tuple[int]):
    """How urgent a process is."""


@v_args(meta=True)
class Builder(Transformer_NonRecursive[Token, Any]):
    """One method per rule of the grammar."""

    def __default__(self, data: str, children: list[Any], meta: Meta) -> Any:
        raise AssertionError(f"no rule for {data}")

    # Programs

    def program(self, meta: Meta, parts: list[Any]) -> ast.Program:
        variables = tuple(v for group in _items(parts, ast.Declare) for v in group.variables)
        return ast.Program(
            _items(parts, ast.Mtypes),
            _items(parts, ast.Typedef),
            variables,
            _items(parts, ast.Proctype),
            nevers=_items(parts, ast.Never),
            traces=_items(parts, ast.EventTrace),
        )

    def expression(self, meta: Meta, parts: list[Any]) -> Any:
        return parts[0]

    def proctype(self, meta: Meta, parts: list[Any]) -> ast.Proctype:
        name = next(part for part in parts if isinstance(part, Token) and part.type == "NAME")
        count = _items(parts, _Index)
        body, end = parts[-1]
        provided = _items(parts, _Provided)
        priority = _items(parts, _Priority)
        parameters: list[ast.Variable] = []
        for type_, variable in (part for part in parts[:-1] if type(part) is tuple):
            if type_ is None and not parameters:
                raise InputError(f"the parameter `{variable.name}` has no type", place=variable.place)
            parameters.append(_typed(variable, type_ or parameters[-1].type))
        return ast.Proctype(
            _at(name),
            str(name),
            tuple(parameters),
            body,
            count[0][0] if count else None,
            end,
            provided[0][0] if provided else None,
            priority[0][0] if priority else None,
        )

    def provided(self, meta: Meta, parts: list[Any]) -> _Provided:
        return _Provided((parts[2],))

    def priority(self, meta: Meta, parts: list[Any]) -> _Priority:
        if not 1 <= _number(parts[1]) <= ast.MOST_PRIORITY:
            raise InputError(f"a priority is a number from 1 to {ast.MOST_PRIORITY}", place=_at(parts[1]))
        return _Priority((_number(parts[1]),))

    def active(self, meta: Meta, parts: list[Any]) -> _Index:
        return _Index((_nodes(parts) or [ast.Number(_start(meta), 1)])[:1])

    def init(self, meta: Meta, parts: list[Any]) -> ast.Proctype:
        body, end = parts[-1]
        priority = _items(parts, _Priority)
        one = ast.Number(_start(meta), 1)
        return ast.Proctype(
            _start(meta), "init", (), body, one, end, priority=priority[0][0] if priority else None
        )

    def never(self, meta: Meta, parts: list[Any]) -> ast.Never:
        return ast.Never(_start(meta), str(parts[1]) if len(parts) > 2 else None, parts[-1][0])

    def trace(self, meta: Meta, parts: list[Any]) -> ast.EventTrace:
        return ast.EventTrace(_start(meta), parts[0] == "notrace", parts[-1][0])

    def typedef(self, meta: Meta, parts: list[Any]) -> ast.Typedef:
        fields = tuple(v for group in _items(parts, ast.Declare) for v in group.variables)
        return ast.Typedef(_at(parts[1]), str(parts[1]), fields)

    def mtypes(self, meta: Meta, parts: list[Any]) -> ast.Mtypes:
        names = tuple(str(p) for p in parts if isinstance(p, Token) and p.type == "NAME")
        return ast.Mtypes(_start(meta), "".join(["mtype", *_nodes(parts)]), names)

    # Declarations

    def param(self, meta: Meta, parts: list[Any]) -> Any:
        return next(iter(_items(parts, _Type)), None), parts[-1]

    def decl(self, meta: Meta, parts: list[Any]) -> ast.Declare:
        type_ = _items(parts, _Type)[0]
        return ast.Declare(_start(meta), tuple(_typed(v, type_) for v in _items(parts, ast.Variable)))

    def type(self, meta: Meta, parts: list[Any]) -> _Type:
        if parts[0] in ("float", "double", "char", "long"):
            hint = "the types are bit, bool, byte, short, int, unsigned, mtype, chan, pid, and those of typedefs"
            raise InputError(f"the type `{parts[0]}` is {_SUBSET}", place=_start(meta), hint=hint)
        return _Type("".join(parts))

    def subtype(self, meta: Meta, parts: list[Any]) -> str:
        return f":{parts[1]}"

    def slot(self, meta: Meta, parts: list[Any]) -> ast.Variable:
        return ast.Variable(_start(meta), "", str(parts[0]))

    def wide(self, meta: Meta, parts: list[Any]) -> ast.Variable:
        return ast.Variable(_start(meta), "", str(parts[0]), width=_number(parts[2]))

    def array(self, meta: Meta, parts: list[Any]) -> ast.Variable:
        return ast.Variable(_start(meta), "", str(parts[0]), size=parts[2])

    def ivar(self, meta: Meta, parts: list[Any]) -> Any:
        return parts[0]

    def initialized(self, meta: Meta, parts: list[Any]) -> ast.Variable:
        return _initial(parts[0], parts[2])

    def channel(self, meta: Meta, parts: list[Any]) -> ast.Variable:
        capacity = _constant(parts[3])
        return _initial(parts[0], ast.ChannelInit(_at(parts[2]), capacity, tuple(map(str, _items(parts, _Type)))))

    def listed(self, meta: Meta, parts: list[Any]) -> ast.Variable:
        slot, *values = _nodes(parts)
        return _initial(slot, ast.Values(_at(parts[2]), tuple(values)))

    # Statements

    def block(self, meta: Meta, parts: list[Any]) -> Any:
        """The block, and the place of its closing brace, which a proctype wants."""
        return ast.Block(_start(meta), _statements(parts)), _at(parts[-1])

    def atomic(self, meta: Meta, parts: list[Any]) -> ast.Block:
        kind: Literal["atomic", "d_step"] = "atomic" if parts[0] == "atomic" else "d_step"
        return ast.Block(_start(meta), parts[1][0].statements, kind)

    d_step = atomic

    def option(self, meta: Meta, parts: list[Any]) -> ast.Block:
        return ast.Block(_start(meta), _statements(parts))

    def choose(self, meta: Meta, parts: list[Any]) -> ast.Choose:
        return ast.Choose(_start(meta), _items(parts, ast.Block), parts[0] == "do")

    def unless(self, meta: Meta, parts: list[Any]) -> ast.Unless:
        main, escape = _statements(parts)
        return ast.Unless(_start(meta), main, escape)

    def label_only(self, meta: Meta, parts: list[Any]) -> ast.Labelled:
        skip = ast.Condition(_start(meta), ast.Number(_start(meta), 1))
        return ast.Labelled(_start(meta), str(parts[0]), skip)

    def labelled(self, meta: Meta, parts: list[Any]) -> ast.Labelled:
        (body,) = _statements(parts[1:])
        if isinstance(body, ast.Declare | ast.Exclusive):
            raise InputError("label preceding declaration", place=_start(meta))
        return ast.Labelled(_start(meta), str(parts[0]), body)

    def declare(self, meta: Meta, parts: list[Any]) -> Any:
        return parts[0]

    def exclusive(self, meta: Meta, parts: list[Any]) -> ast.Exclusive:
        what: Literal["xr", "xs"] = "xr" if parts[0] == "xr" else "xs"
        return ast.Exclusive(_start(meta), what, _items(parts, ast.Ref))

    def assign(self, meta: Meta, parts: list[Any]) -> ast.Assign | ast.SetPriority:
        return _assigned(_start(meta), parts[0], parts[2])

    def count(self, meta: Meta, parts: list[Any]) -> ast.Assign | ast.SetPriority:
        place = _at(parts[1])
        value = ast.Binary(place, parts[1][0], parts[0], ast.Number(place, 1))
        return _assigned(_start(meta), parts[0], value)

    def send(self, meta: Meta, parts: list[Any]) -> ast.Send:
        channel, *args = _nodes(parts)
        return ast.Send(_start(meta), channel, tuple(args), parts[1] == "!!")

    def receive(self, meta: Meta, parts: list[Any]) -> ast.Receive:
        channel, *args = _nodes(parts)
        return ast.Receive(_start(meta), channel, tuple(args), parts[1] == "??", _has(parts, "LESS"))

    keep = receive

    def goto(self, meta: Meta, parts: list[Any]) -> ast.Goto:
        return ast.Goto(_start(meta), str(parts[1]))

    def break_(self, meta: Meta, parts: list[Any]) -> ast.Break:
        return ast.Break(_start(meta))

    def else_(self, meta: Meta, parts: list[Any]) -> ast.Else:
        return ast.Else(_start(meta))

    def assert_(self, meta: Meta, parts: list[Any]) -> ast.Assert:
        return ast.Assert(_start(meta), parts[1])

    def printf(self, meta: Meta, parts: list[Any]) -> ast.Print:
        return ast.Print(_start(meta), _unescaped(str(parts[2])[1:-1]), tuple(_nodes(parts)))

    def printm(self, meta: Meta, parts: list[Any]) -> ast.Print:
        return ast.Print(_start(meta), "%e", tuple(_nodes(parts)))

    def for_(self, meta: Meta, parts: list[Any]) -> ast.For:
        variable, low, high, (body, _) = _nodes(parts)
        return ast.For(_start(meta), variable, low, high, None, body)

    def for_in(self, meta: Meta, parts: list[Any]) -> ast.For:
        variable, array, (body, _) = _nodes(parts)
        return ast.For(_start(meta), variable, None, None, array, body)

    def select(self, meta: Meta, parts: list[Any]) -> ast.Select:
        return ast.Select(_start(meta), *_nodes(parts))

    def set_priority(self, meta: Meta, parts: list[Any]) -> ast.SetPriority:
        return ast.SetPriority(_start(meta), *_nodes(parts))

    def condition(self, meta: Meta, parts: list[Any]) -> ast.Condition:
        return ast.Condition(_start(meta), parts[0])

    # Expressions

    def rarg(self, meta: Meta, parts: list[Any]) -> Any:
        return parts[0]

    def below_zero(self, meta: Meta, parts: list[Any]) -> ast.Number:
        return ast.Number(_start(meta), -_number(parts[1]))

    def eval(self, meta: Meta, parts: list[Any]) -> ast.Eval:
        return ast.Eval(_start(meta), parts[2])

    def binary(self, meta: Meta, parts: list[Any]) -> ast.Binary:
        left, op, right = parts
        return ast.Binary(_at(op), str(op), left, right)

    def unary(self, meta: Meta, parts: list[Any]) -> ast.Unary | ast.Number:
        op, operand = parts
        if op == "-" and isinstance(operand, ast.Number):
            return ast.Number(_at(op), -operand.value)
        return ast.Unary(_at(op), op.value, operand)

    def parens(self, meta: Meta, parts: list[Any]) -> Any:
        return parts[1]

    def conditional(self, meta: Meta, parts: list[Any]) -> ast.Conditional:
        return ast.Conditional(_start(meta), *_nodes(parts))

    def asked(self, meta: Meta, parts: list[Any]) -> ast.Asked:
        return ast.Asked(_start(meta), parts[0].value, parts[2])

    def poll(self, meta: Meta, parts: list[Any]) -> ast.Poll:
        channel, *args = _nodes(parts)
        return ast.Poll(_start(meta), channel, tuple(args), parts[1] == "??")

    def run(self, meta: Meta, parts: list[Any]) -> ast.Run:
        priority = _items(parts, _Priority)
        args = tuple(part for part in _nodes(parts) if not isinstance(part, _Priority))
        return ast.Run(_start(meta), str(parts[1]), args, priority[0][0] if priority else None)

    def enabled(self, meta: Meta, parts: list[Any]) -> ast.Enabled:
        return ast.Enabled(_start(meta), parts[2])

    def get_priority(self, meta: Meta, parts: list[Any]) -> ast.Priority:
        return ast.Priority(_start(meta), parts[2])

    def np_(self, meta: Meta, parts: list[Any]) -> ast.NoProgress:
        return ast.NoProgress(_start(meta))

    def timeout(self, meta: Meta, parts: list[Any]) -> ast.Timeout:
        return ast.Timeout(_start(meta))

    def at_label(self, meta: Meta, parts: list[Any]) -> ast.AtLabel:
        index = _nodes(parts)
        return ast.AtLabel(_start(meta), str(parts[0]), index[0] if index else None, str(parts[-1]))

    def remote(self, meta: Meta, parts: list[Any]) -> ast.Remote:
        *index, variable = _nodes(parts)
        return ast.Remote(_start(meta), str(parts[0]), index[0] if index else None, variable)

    def constant(self, meta: Meta, parts: list[Token]) -> ast.Number:
        token = parts[0]
        if token.type == "CONST":
            return ast.Number(_at(token), int(token != "false"))
        if token.type == "CHAR":
            return ast.Number(_at(token), ord(_unescaped(token[1:-1])))
        return ast.Number(_at(token), _number(token))

    def ref(self, meta: Meta, parts: list[Any]) -> ast.Ref:
        index = parts[2] if len(parts) > 1 and parts[1] == "[" else None
        return ast.Ref(_start(meta), str(parts[0]), index, parts[-1] if _has(parts, "DOT") else None)


def _assigned(place: Place, target: ast.Ref, value: ast.Expr) -> ast.Assign | ast.SetPriority:
    if target.name == "_priority":
        return ast.SetPriority(place, None, value)
    return ast.Assign(place, target, value)


def _typed(variable: ast.Variable, type_: str) -> ast.Variable:
    if variable.width is not None and type_ != "unsigned":
        raise InputError(f"only `unsigned` has a width, `{type_}` has not", place=variable.place)
    return ast.Variable(variable.place, str(type_), variable.name, variable.size, variable.initial, variable.width)


def _initial(slot: ast.Variable, value: ast.Expr | ast.ChannelInit | ast.Values) -> ast.Variable:
    return ast.Variable(slot.place, "", slot.name, slot.size, value, slot.width)


def _statements(parts: Sequence[Any]) -> tuple[ast.Statement, ...]:
    """A block comes with the place of its end, which is of no use here."""
    return tuple(part[0] if type(part) is tuple else part for part in _nodes(parts))


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text)


def _number(token: Token) -> int:
    if len(token) > 18 or int(token) > LARGEST_NUMBER:
        raise InputError("the number is too large", place=_at(token), hint="numbers have 32 bits")
    return int(token)


def _constant(expr: ast.Expr, depth: int = 0) -> int:
    """The value of a channel's capacity."""
    if isinstance(expr, ast.Number):
        return expr.value
    if not isinstance(expr, ast.Binary) or depth > DEEPEST_EXPRESSION:
        raise InputError("a channel's capacity must be a constant", place=expr.place)
    value = calculate(expr.op, _constant(expr.left, depth + 1), _constant(expr.right, depth + 1))
    if value is None:
        raise InputError("a channel's capacity must have a value", place=expr.place)
    return value


_EXPRESSIONS = frozenset(get_args(ast.Expr))
_NESTING = frozenset({ast.Block, ast.Labelled, ast.Unless})


def check_depth(root: ast.Program | ast.Expr) -> None:
    """Whoever walks the syntax later does so by recursion, so this does not."""
    todo: list[tuple[Any, int, int]] = [(root, 0, 0)]
    while todo:
        node, deep, nested = todo.pop()
        if isinstance(node, tuple):
            todo += [(part, deep, nested) for part in node]
            continue
        kind = type(node)
        if kind in _EXPRESSIONS:
            deep += 1
            if deep > DEEPEST_EXPRESSION:
                raise InputError(f"expression nested more than {DEEPEST_EXPRESSION} deep", place=node.place)
        elif kind in _NESTING:
            nested += 1
            if nested > DEEPEST_STATEMENT:
                raise InputError(f"statement nested more than {DEEPEST_STATEMENT} deep", place=node.place)
        elif kind is str or not hasattr(kind, "__dataclass_fields__"):
            continue
        todo += [(getattr(node, name), deep, nested) for name in kind.__slots__ if name != "place"]
