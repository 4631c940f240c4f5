"""Simplification: constants folded, sums and comparisons in linear normal form, negations pushed inwards,
conjuncts used to simplify their neighbours.

It is what makes the path conditions of P0's Examples 7 and 11 come out as `flag` and `flag and x == -2`.
The result has the same value as the input in every store, under the total meaning of `evaluate`.
"""

from __future__ import annotations

from math import gcd

from porcini.ir.evaluation import OPERATIONS
from porcini.ir.expr import (
    COMPARISONS,
    FALSE,
    TRUE,
    ArrayType,
    Binary,
    BinaryOp,
    Checked,
    Const,
    Expr,
    Ite,
    Junction,
    Neg,
    Not,
    Select,
    Store,
    binary,
    conj,
    const,
    disj,
    ite,
    nodes,
    not_,
    order,
    rebuild,
    select,
)

Linear = tuple[int, dict[Expr, int]]
"""A constant, and terms with their non-zero coefficients."""

_known: dict[Expr, Expr] = {}
_negations: dict[Expr, Expr] = {}
_MOST_KNOWN = 1 << 17


def simplify(expr: Expr) -> Expr:
    """An equal expression, usually smaller.

    >>> from porcini.ir.expr import var
    >>> from porcini.ir.text import show
    >>> x = var("x", "int")
    >>> show(simplify(not_(binary("!=", binary("+", x, const(2)), const(0)))))
    'x == -2'
    """
    if expr in _known:
        return _known[expr]
    if len(_known) > _MOST_KNOWN:
        _known.clear()
        _negations.clear()
    for node in nodes(expr):
        if node not in _known:
            children = tuple(_known[child] for child in node.children)
            new = node if children == node.children else rebuild(node, children)
            _known[node] = _step(new)
    result = _known[expr]
    _known.setdefault(result, result)
    return result


def _step(node: Expr) -> Expr:
    """Simplify a node whose children are simplified."""
    match node:
        case Not(arg=arg):
            return _negate(arg)
        case Neg() | Binary(op="+" | "-" | "*"):
            return _sum(_linear(node))
        case Binary(op=op, left=left, right=right) if op in COMPARISONS:
            return _compare(op, left, right)
        case Binary():
            return _fold(node)
        case Junction(op=op, args=args):
            return _join(op, args)
        case Select(array=array, index=index):
            return _select(array, index)
        case Ite(test=test, then=then, other=other):
            return _ite(test, then, other)
        case Checked(index=Const(value=value), bound=bound) if 0 <= value < bound:
            return node.index
        case _:
            return node


# Arithmetic


def _linear(node: Expr) -> Linear:
    """`node` as a linear form; its children are in normal form already."""
    match node:
        case Const(value=value):
            return int(value), {}
        case Neg(arg=arg):
            return _scale(_linear(arg), -1)
        case Binary(op="+", left=left, right=right):
            return _plus(_linear(left), _linear(right))
        case Binary(op="-", left=left, right=right):
            return _plus(_linear(left), _scale(_linear(right), -1))
        case Binary(op="*", left=Const(value=k), right=other) | Binary(op="*", left=other, right=Const(value=k)):
            return _scale(_linear(other), int(k))
        case Binary(op="*", left=left, right=right):
            a, b = sorted((left, right), key=order)
            return 0, {binary("*", a, b): 1}
        case _:
            return 0, {node: 1}


def _plus(a: Linear, b: Linear) -> Linear:
    terms = dict(a[1])
    for term, k in b[1].items():
        terms[term] = terms.get(term, 0) + k
    return a[0] + b[0], {term: k for term, k in terms.items() if k}


def _scale(a: Linear, factor: int) -> Linear:
    return a[0] * factor, {term: k * factor for term, k in a[1].items() if factor}


def _sum(form: Linear) -> Expr:
    """A linear form as an expression, positive terms first, in alphabetical order."""
    constant, terms = form
    total: Expr | None = None
    for term, k in sorted(terms.items(), key=lambda item: (item[1] < 0, order(item[0]))):
        product = term if abs(k) == 1 else binary("*", const(abs(k)), term)
        if total is None:
            total = product if k > 0 else binary("*", const(k), term)
        else:
            total = binary("+" if k > 0 else "-", total, product)
    if total is None:
        return const(constant)
    if constant:
        total = binary("+" if constant > 0 else "-", total, const(abs(constant)))
    return total


def _fold(node: Binary) -> Expr:
    """Division, remainders, shifts and operations on bits."""
    match node.left, node.right:
        case Const(value=a), Const(value=b):
            return const(OPERATIONS[node.op](a, b))
        case _, Const(value=1) if node.op in ("/", "quot"):
            return node.left
        case _, Const(value=1) if node.op in ("%", "rem"):
            return const(0)
        case left, Const(value=b) if node.op == "%" and b > 0:
            return _modulo(left, int(b))
    return node


def _modulo(left: Expr, modulus: int) -> Expr:
    """`(x % 8 + y) % 4` is `(x + y) % 4`: a remainder inside another one can be dropped."""
    constant, terms = _linear(left)
    form: Linear = constant, {}
    for term, k in terms.items():
        match term:
            case Binary(op="%", left=inner, right=Const(value=m)) if m > 0 and m % modulus == 0:
                form = _plus(form, _scale(_linear(inner), k))
            case _:
                form = _plus(form, (0, {term: k}))
    constant, terms = form[0] % modulus if form[1] else form[0], form[1]
    if not terms:
        return const(constant % modulus)
    return binary("%", _sum((constant, terms)), const(modulus))


def _compare(op: BinaryOp, left: Expr, right: Expr) -> Expr:
    if left.type == "bool":
        return _compare_bool(op, left, right)
    match left, right:  # a truth value as a number: (b ? 1 : 0) != 0 is b
        case Ite(test=test, then=Const(value=a), other=Const(value=b)), Const(value=c):
            return _ite(test, const(OPERATIONS[op](a, c)), const(OPERATIONS[op](b, c)))
        case Const(value=c), Ite(test=test, then=Const(value=a), other=Const(value=b)):
            return _ite(test, const(OPERATIONS[op](c, a)), const(OPERATIONS[op](c, b)))
    constant, terms = _plus(_linear(left), _scale(_linear(right), -1))
    if not terms:
        return const(OPERATIONS[op](constant, 0))
    if op in (">", ">="):
        constant, terms, op = -constant, {t: -k for t, k in terms.items()}, "<" if op == ">" else "<="
    if op == "<":
        constant, op = constant + 1, "<="
    divisor = gcd(*terms.values())
    if op != "<=":
        if constant % divisor:
            return const(op == "!=")
        if terms[min(terms, key=order)] < 0:
            divisor = -divisor
    # terms + constant <= 0, over integers: divide and round the constant up
    bound = -(-constant // divisor) if op == "<=" else constant // divisor
    return _two_sides(op, bound, {term: k // divisor for term, k in terms.items()})


def _two_sides(op: BinaryOp, constant: int, terms: dict[Expr, int]) -> Expr:
    """`terms + constant op 0` with positive terms on the left and the rest on the right."""
    left = {term: k for term, k in terms.items() if k > 0}
    right = {term: -k for term, k in terms.items() if k < 0}
    if not left:  # -x <= c reads better as x >= -c
        return binary(">=" if op == "<=" else op, _sum((0, right)), const(constant))
    return binary(op, _sum((0, left)), _sum((-constant, right)))


def _compare_bool(op: BinaryOp, left: Expr, right: Expr) -> Expr:
    if op == "!=":
        right = _negate(right)
    if left is right:
        return TRUE
    if left is _negate(right):
        return FALSE
    if isinstance(right, Const) or (not isinstance(left, Const) and order(right) < order(left)):
        left, right = right, left
    if isinstance(left, Const):
        return right if left.value else _negate(right)
    return binary("==", left, right)


# Logic

_OPPOSITE: dict[str, BinaryOp] = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def _negate(arg: Expr) -> Expr:
    """The negation of a simplified expression, simplified. It is cached: nested `and` and `or` need it
    repeatedly."""
    found = _negations.get(arg)
    if found is None:
        found = _negations[arg] = _negation(arg)
    return found


def _negation(arg: Expr) -> Expr:
    match arg:
        case Const(value=value):
            return const(not value)
        case Not(arg=inner):
            return inner
        case Binary(op=op, left=left, right=right) if op in _OPPOSITE and left.type == "int":
            return _compare(_OPPOSITE[op], left, right)
        case Junction(op=op, args=args):
            return _join("or" if op == "and" else "and", tuple(map(_negate, args)))
        case _:
            return not_(arg)


def _join(op: str, args: tuple[Expr, ...]) -> Expr:
    """`and` and `or` are dual: `stop` is the absorbing element, `unit` the neutral one."""
    stop, unit, make, dual = (FALSE, TRUE, conj, disj) if op == "and" else (TRUE, FALSE, disj, conj)
    parts = dict.fromkeys(_flatten(op, args))
    while True:
        literals = {part for part in parts if not isinstance(part, Junction)}
        if stop in literals or any(_negate(part) in literals for part in literals):
            return stop
        new: dict[Expr, None] = {}
        for part in parts:
            if isinstance(part, Junction):
                # What the other parts imply is absorbed, or shortened by unit propagation.
                if not literals.isdisjoint(part.args):
                    continue
                part = dual(*(a for a in part.args if isinstance(a, Junction) or _negate(a) not in literals))
            new.update(dict.fromkeys(_flatten(op, (part,))))
        new.pop(unit, None)
        if new == parts:
            return _factor(op, tuple(parts)) or make(*parts)
        parts = new


def _factor(op: str, parts: tuple[Expr, ...]) -> Expr | None:
    """`a and b or a and c` is `a and (b or c)`, and the dual."""
    dual = "or" if op == "and" else "and"
    sides = [_flatten(dual, (part,)) for part in parts]
    shared = [arg for arg in sides[0] if all(arg in side for side in sides[1:])] if len(sides) > 1 else []
    if not shared:
        return None
    unmake = disj if op == "and" else conj
    rest = tuple(unmake(*(arg for arg in side if arg not in shared)) for side in sides)
    return _join(dual, (*shared, _join(op, rest)))


def _flatten(op: str, args: tuple[Expr, ...]) -> list[Expr]:
    flat: list[Expr] = []
    for arg in args:
        flat += arg.args if isinstance(arg, Junction) and arg.op == op else (arg,)
    return flat


def _ite(test: Expr, then: Expr, other: Expr) -> Expr:
    if isinstance(test, Const):
        return then if test.value else other
    if then is other:
        return then
    if then.type == "bool":
        return _join("or", (_join("and", (test, then)), _join("and", (_negate(test), other))))
    return ite(test, then, other)


def _select(array: Expr, index: Expr) -> Expr:
    """A cell of an array that was written to: look through the writes, newest first."""
    seen: list[tuple[Expr, Expr]] = []
    while isinstance(array, Store):
        # A write outside the array changes nothing, so it must hit to count.
        hit = _join("and", (_compare("==", index, array.index), *_bounds(array, index)))
        if hit is not FALSE:
            seen.append((hit, array.value))
        if hit is TRUE:
            break
        array = array.array
    result: Expr = select(array, index)
    for hit, value in reversed(seen):
        result = _ite(hit, value, result)
    return result


def _bounds(array: Expr, index: Expr) -> tuple[Expr, Expr]:
    assert isinstance(array.type, ArrayType)
    return _compare(">=", index, const(0)), _compare("<", index, const(array.type.size))
