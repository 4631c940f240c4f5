"""Terms and statements of a Maude module as data, read from the meta-level."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    sort: str


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator and its arguments; a constant has none, and says its sort."""

    op: str
    args: tuple[Node, ...] = ()
    sort: str = ""


Node = Variable | Apply
Fragment = tuple[Literal["=", ":=", ":", "=>"], Node, Node]
"""A part of a condition; the right-hand side of `:` is a constant that names a sort."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A membership, an equation or a rule."""

    left: Node
    right: Node
    condition: tuple[Fragment, ...] = ()
    label: str = ""
    owise: bool = False
    nonexec: bool = False
    membership: bool = False


@dataclass(frozen=True, slots=True)
class Attributes:
    flags: tuple[str, ...] = ()
    """`assoc`, `comm`, `ctor`, `memo` ... as they are written."""
    identity: Node | None = None
    identity_side: str = ""
    precedence: int | None = None
    gather: str = ""
    special: bool = False


@dataclass(frozen=True, slots=True)
class Operator:
    name: str
    domain: tuple[str, ...]
    range: str
    attributes: Attributes

    @property
    def commutes(self) -> bool:
        return "comm" in self.attributes.flags

    @property
    def flat(self) -> bool:
        return "assoc" in self.attributes.flags

    @property
    def constructor(self) -> bool:
        return "ctor" in self.attributes.flags


@dataclass(frozen=True, slots=True)
class MetaModule:
    """A module as it was written."""

    name: str
    imports: tuple[tuple[str, str], ...]
    """How (`protecting`, `including` ...) and what."""
    sorts: tuple[str, ...]
    subsorts: tuple[tuple[str, str], ...]
    operators: tuple[Operator, ...]
    memberships: tuple[Statement, ...]
    equations: tuple[Statement, ...]
    rules: tuple[Statement, ...]


def read_module(term: Any) -> MetaModule:
    """A module from its meta-representation."""
    parts = list(term.arguments())
    rules = parts[7] if len(parts) > 7 and str(term.symbol()).startswith("mod_") else None
    name = parts[0]
    return MetaModule(
        _unquoted(str(name)),
        tuple((str(each.symbol()).removesuffix("_."), _expression(_args(each)[0])) for each in _list(parts[1])),
        tuple(_sort(str(each)) for each in _set(parts[2])),
        tuple((_sort(str(a)), _sort(str(b))) for a, b in map(_args, _list(parts[3]))),
        tuple(_operator(each) for each in _list(parts[4])),
        tuple(_statement(each) for each in _list(parts[5])),
        tuple(_statement(each) for each in _list(parts[6])),
        tuple(_statement(each) for each in _list(rules)) if rules is not None else (),
    )


def subterms(node: Node) -> Iterator[Node]:
    """A term and all that is below it."""
    yield node
    if isinstance(node, Apply):
        for arg in node.args:
            yield from subterms(arg)


def variables(*nodes: Node) -> set[Variable]:
    return {each for node in nodes for each in subterms(node) if isinstance(each, Variable)}


def condition_variables(condition: tuple[Fragment, ...]) -> set[Variable]:
    return {each for _, left, right in condition for each in variables(left, right)}


def flattened(node: Node, op: str) -> list[Node]:
    """The arguments of an associative operator, however they are nested."""
    if isinstance(node, Apply) and node.op == op and len(node.args) > 1:
        return [part for arg in node.args for part in flattened(arg, op)]
    return [node]


def _args(term: Any) -> list[Any]:
    return list(term.arguments())


def _list(term: Any) -> list[Any]:
    """The elements of a list or set with an empty one called `none` or `nil`."""
    symbol = str(term.symbol())
    if symbol in ("none", "nil"):
        return []
    return _args(term) if symbol == "__" else [term]


def _set(term: Any) -> list[Any]:
    symbol = str(term.symbol())
    if symbol == "none":
        return []
    return _args(term) if symbol == "_;_" else [term]


def _unquoted(text: str) -> str:
    """A quoted identifier of the meta-level as it is written: without its quote and its backquotes."""
    return text[1:]


def _sort(text: str) -> str:
    """A sort, or a kind such as `[Nat]`."""
    return text[1:].replace("`", "")


def _expression(term: Any) -> str:
    """A module expression as it is written."""
    return re.sub(r"'(?=[^\s'])", "", str(term)).replace("`", "")


def _operator(term: Any) -> Operator:
    name, domain, range_, attributes = _args(term)
    return Operator(
        _unquoted(str(name)),
        tuple(_sort(str(each)) for each in _list(domain)),
        _sort(str(range_)),
        _attributes(_list(attributes)),
    )


def _attributes(terms: list[Any]) -> Attributes:
    found = Attributes()
    for term in terms:
        kind = str(term.symbol())
        args = _args(term)
        if not args:
            found = replace(found, flags=(*found.flags, kind))
        elif kind in ("id", "left-id", "right-id"):
            side = {"id": "id", "left-id": "left id", "right-id": "right id"}[kind]
            found = replace(found, identity=read_term(args[0]), identity_side=side)
        elif kind == "prec":
            found = replace(found, precedence=int(str(args[0])))
        elif kind == "gather":
            found = replace(found, gather=" ".join(str(each)[1:] for each in _list(args[0])))
        elif kind in ("frozen", "strat"):
            numbers = " ".join(str(each) for each in _numbers(args[0]))
            found = replace(found, flags=(*found.flags, f"{kind} ({numbers})"))
        elif kind in ("special", "poly"):
            found = replace(found, special=True)
        # format, metadata, latex: nothing that matters for what a module means
    return found


def _numbers(term: Any) -> list[Any]:
    return _args(term) if str(term.symbol()) == "__" else [term]


def _statement(term: Any) -> Statement:
    kind = str(term.symbol())
    args = _args(term)
    left = read_term(args[0])
    membership = kind.startswith(("mb", "cmb"))
    right = Apply(_sort(str(args[1]))) if membership else read_term(args[1])
    condition = tuple(_fragment(each) for each in _conjuncts(args[2])) if "_if_" in kind else ()
    label, flags = "", []
    for each in _list(args[-1]):
        name = str(each.symbol())
        if name == "label":
            label = _unquoted(str(_args(each)[0]))
        else:
            flags.append(name)
    return Statement(left, right, condition, label, "owise" in flags, "nonexec" in flags, membership)


def _conjuncts(term: Any) -> list[Any]:
    symbol = str(term.symbol())
    if symbol == "nil":
        return []
    return _args(term) if symbol == r"_/\_" else [term]


def _fragment(term: Any) -> Fragment:
    left, right = _args(term)
    match str(term.symbol()):
        case "_:_":
            return ":", read_term(left), Apply(_sort(str(right)))
        case "_:=_":
            return ":=", read_term(left), read_term(right)
        case "_=>_":
            return "=>", read_term(left), read_term(right)
    return "=", read_term(left), read_term(right)


_ITERATED = re.compile(r"(.*)\^(\d+)\Z")


def read_term(term: Any) -> Node:
    """A term from its meta-representation: `'f['X:S, 'c.S]`."""
    if str(term.symbol()) == "_`[_`]":
        op, args = _args(term)
        name = _unquoted(str(op))
        each = _args(args) if str(args.symbol()) == "_`,_" else [args]
        iterated = _ITERATED.match(name)
        nodes = tuple(map(read_term, each))
        count = 1
        if iterated and iterated[1].count("_") == 1:
            name, count = iterated[1], int(iterated[2])
        if name == "s_" and isinstance(nodes[0], Apply) and nodes[0].op.isdigit():
            return Apply(str(int(nodes[0].op) + count), (), "NzNat")
        node = Apply(name, nodes)
        for _ in range(count - 1):
            node = Apply(name, (node,))
        return node
    text = str(term)[1:]
    colon, dot = text.rfind(":"), text.rfind(".")
    if colon > dot:
        return Variable(text[:colon], text[colon + 1 :].replace("`", ""))
    return Apply(text[:dot], (), text[dot + 1 :].replace("`", ""))
