"""False pass of other tools, 5d: a dataclass, replaced as a whole through `dataclasses.replace`.

Goes wrong when one task copies the record between the other's copy and assignment: its change is lost.
"""

import asyncio
from dataclasses import dataclass, replace

EXPECTED = {"buggy": "assertion", "correct": "holds"}


@dataclass(frozen=True)
class Record:
    left: int = 0
    right: int = 0


class Cell:
    def __init__(self):
        self.record = Record()


async def buggy():
    cell = Cell()

    async def change(late, **what):
        if late:
            await asyncio.sleep(0)
        changed = replace(cell.record, **what)
        await asyncio.sleep(0)
        cell.record = changed

    await asyncio.gather(change(False, left=1), change(True, right=1))
    assert cell.record == Record(1, 1), cell.record
    return cell.record


async def correct():
    cell = Cell()

    async def change(late, **what):
        if late:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        cell.record = replace(cell.record, **what)

    await asyncio.gather(change(False, left=1), change(True, right=1))
    assert cell.record == Record(1, 1), cell.record
    return cell.record
