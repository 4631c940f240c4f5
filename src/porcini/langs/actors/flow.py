"""Which methods may let go before they end, and where bodies return: asked of statements before lowering."""

from __future__ import annotations

from collections.abc import Iterator

from porcini.langs.actors import syntax as ast
from porcini.langs.actors.names import World


def releasing(world: World) -> frozenset[tuple[str, str]]:
    """The methods that may let go of their object before they end."""
    found: set[tuple[str, str]] = set()
    calls: dict[tuple[str, str], set[str]] = {}
    for class_ in world.classes.values():
        for method in class_.methods:
            here = calls[class_.name, method.name] = set()
            for effect in _effects(method.body):
                match effect:
                    case ast.Call(receiver=ast.This(), method=name):
                        here.add(name)
                    case ast.New() | ast.Send():
                        pass
                    case _:
                        found.add((class_.name, method.name))
    while True:
        more = {(c, m) for (c, m), callees in calls.items() if any((c, callee) in found for callee in callees)}
        if more <= found:
            return frozenset(found)
        found |= more


def _effects(node: ast.Statement) -> Iterator[ast.Statement | ast.Effect]:
    """Everything in a statement that sends, makes, calls or waits."""
    match node:
        case ast.Declare(value=value) | ast.Assign(value=value) | ast.Return(value=value):
            if isinstance(value, ast.Effect):
                yield value
        case ast.Do(effect=effect):
            yield effect
        case ast.Await() | ast.Suspend():
            yield node
        case ast.If(then=then, other=other):
            yield from _effects(then)
            yield from _effects(other)
        case ast.While(body=body) | ast.Foreach(body=body):
            yield from _effects(body)
        case ast.Switch(arms=arms):
            for _, arm in arms:
                yield from _effects(arm)
        case ast.Block(body=statements):
            for statement in statements:
                yield from _effects(statement)


def returns(node: ast.Statement) -> bool:
    """Does every way through a statement that ends end in `return`?"""
    match node:
        case ast.Return():
            return True
        case ast.Block(body=body):
            return any(map(returns, body))
        case ast.If(then=then, other=other):
            return returns(then) and returns(other)
        case ast.Switch(arms=arms):
            return bool(arms) and all(returns(arm) for _, arm in arms)
        case ast.While(test=ast.Construct(name="True")):
            return True
    return False


def returning_last(block: ast.Block) -> ast.Block:
    """The same block with what follows an `if` that may return moved into its branches that do not."""
    for k, node in enumerate(block.body):
        if isinstance(node, ast.If) and (returns(node.then) or returns(node.other)):
            rest = block.body[k + 1 :]
            branches = [
                returning_last(branch if returns(branch) else ast.Block(branch.place, branch.body + rest))
                for branch in (node.then, node.other)
            ]
            return ast.Block(block.place, (*block.body[:k], ast.If(node.place, node.test, *branches)))
    return block


def check_returns(node: ast.Statement, world: World, last: bool = True) -> None:
    """In a body that is put in place of a call, `return` may only stand at the end."""
    match node:
        case ast.Return() if not last:
            world.error(
                "a method that may wait and is called synchronously can return only at its end", node.place
            )
        case ast.Block(body=body):
            for k, statement in enumerate(body):
                check_returns(statement, world, last and k == len(body) - 1)
        case ast.If(then=then, other=other):
            check_returns(then, world, last)
            check_returns(other, world, last)
        case ast.While(body=body_) | ast.Foreach(body=body_):
            check_returns(body_, world, False)
        case ast.Switch(arms=arms):
            for _, arm in arms:
                check_returns(arm, world, last)
