"""The programs of tests/aio/corpus, which people got wrong and right, changed here and there.

Statements are written twice, left out or swapped, pauses are put between them, and numbers are changed.
Assignments to variables stay, so that whether a variable is bound does not depend on the order (`states` leaves
that out).
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

CORPUS = Path(__file__).parents[2] / "aio" / "corpus"
PAUSE = ast.parse("await asyncio.sleep(0)").body[0]
UNFIT = (ast.While, ast.Global, ast.AsyncFor, ast.Yield)
"""Loops that may never end once they are changed; what lives longer than a run, or ends when it is collected."""

Block = list[ast.stmt]


@dataclass(frozen=True, slots=True)
class Edited:
    """A module, and which of its functions to run."""

    tree: ast.Module
    entry: str

    def text(self) -> str:
        main = f"async def main():\n    return repr(await {self.entry}())\n"
        return f"{ast.unparse(ast.fix_missing_locations(self.tree))}\n\n\n{main}"

    def smaller(self) -> Iterator[Edited]:
        """With one statement less."""
        for place in range(len(_places(self.tree))):
            tree = copy.deepcopy(self.tree)
            block, at = _places(tree)[place]
            if not isinstance(block[at], ast.Pass):
                block[at : at + 1] = [] if len(block) > 1 else [ast.Pass()]
                yield Edited(tree, self.entry)


@cache
def bases() -> list[Edited]:
    trees = [ast.parse(path.read_text("utf-8")) for path in sorted(CORPUS.glob("*.py"))]
    return [Edited(tree, entry) for tree in trees if _is_fit(tree) for entry in ("buggy", "correct")]


def _is_fit(tree: ast.Module) -> bool:
    """Does it import asyncio only, and keep nothing from run to run?"""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) or (isinstance(node, ast.Import) and node.names[0].name != "asyncio"):
            return False
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) != "EXPECTED":
            return False
    entries = {node.name for node in tree.body if isinstance(node, ast.AsyncFunctionDef) and not node.args.args}
    return {"buggy", "correct"} <= entries and not any(isinstance(node, UNFIT) for node in ast.walk(tree))


def mutate(random: Random, program: Edited) -> Edited:
    """A program changed in one to three places."""
    tree = copy.deepcopy(program.tree)
    for _ in range(random.randint(1, 3)):
        random.choice(EDITS)(random, tree)
    return Edited(tree, program.entry)


def _twice(random: Random, tree: ast.Module) -> None:
    block, at = random.choice(_places(tree))
    if not isinstance(block[at], ast.Return):
        block.insert(at, copy.deepcopy(block[at]))


def _gone(random: Random, tree: ast.Module) -> None:
    block, at = random.choice(_places(tree))
    if not isinstance(block[at], ast.Assign) or not isinstance(block[at].targets[0], ast.Name):
        block[at : at + 1] = [] if len(block) > 1 else [ast.Pass()]


def _swapped(random: Random, tree: ast.Module) -> None:
    block, at = random.choice(_places(tree))
    if not any(
        isinstance(each, ast.Assign | ast.FunctionDef | ast.AsyncFunctionDef) for each in block[at : at + 2]
    ):
        block[at : at + 2] = reversed(block[at : at + 2])


def _paused(random: Random, tree: ast.Module) -> None:
    blocks = [block for function in _functions(tree) for block in _own_blocks(function)]
    if blocks:
        block = random.choice(blocks)
        block.insert(random.randrange(len(block)), copy.deepcopy(PAUSE))


def _renumbered(random: Random, tree: ast.Module) -> None:
    numbers = [
        node
        for function in _functions(tree)
        for node in ast.walk(function)
        if isinstance(node, ast.Constant) and type(node.value) is int
    ]
    if numbers:
        random.choice(numbers).value = random.randint(0, 3)


EDITS: list[Callable[[Random, ast.Module], None]] = [
    _twice,
    _twice,
    _gone,
    _swapped,
    _paused,
    _paused,
    _renumbered,
]


def _functions(tree: ast.AST) -> list[ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef)]


def _own_blocks(node: ast.AST) -> list[Block]:
    """The blocks of a function, without those of functions and classes in it."""
    found: list[Block] = []
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block:
            found.append(block)
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    for child in ast.iter_child_nodes(node):
        found += [] if isinstance(child, inner) else _own_blocks(child)
    return found


def _places(tree: ast.AST) -> list[tuple[Block, int]]:
    """The statements inside of functions, by the blocks that they are in."""
    found: list[tuple[Block, int]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.Lambda):
            continue
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            found += [(block, at) for at in range(len(block))] if isinstance(block, list) else []
    return found
