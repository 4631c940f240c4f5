"""A search that hit a limit said no more than that: not how much was left, what was dear, or what to do."""

import asyncio
import json
import os

import pytest

from porcini import Limits, explore
from porcini.core.reports import FORMATS


class Account:
    balance = 0


async def many():
    account = Account()

    async def pay():
        balance = account.balance
        await asyncio.sleep(0)
        account.balance = balance + 1

    await asyncio.gather(*(pay() for _ in range(5)))


def test_what_schedules_were_for():
    report = explore(many, limits=Limits(max_executions=500))
    unfinished = report.coverage.unfinished
    (dearest, *_) = unfinished.locations
    assert dearest == ("Account.balance", 499)  # each run but the first is for another order of two accesses to it
    assert unfinished.opaque == ()
    assert unfinished.estimate > 500
    assert unfinished.tasks >= 2
    assert "smaller" in unfinished.advice or "longer" in unfinished.advice
    assert unfinished.advice[-1] == "sample"
    assert any("most schedules were for other orders at Account.balance" in note for note in report.notes)
    told = json.loads(FORMATS["json"](report))["unfinished"]
    assert told["locations"][0] == {"location": "Account.balance", "schedules": 499}
    assert told["estimate"] == unfinished.estimate


def test_an_estimate_within_reach():
    """There are (4!)² = 576 schedules: an estimate that was made when most of them were seen is not far off."""
    report = explore(_four, limits=Limits(max_executions=400))
    assert 400 < report.coverage.unfinished.estimate < 2000
    assert "longer" in report.coverage.unfinished.advice


async def _four():
    account = Account()

    async def pay():
        balance = account.balance
        await asyncio.sleep(0)
        account.balance = balance + 1

    await asyncio.gather(*(pay() for _ in range(4)))


async def opaque():
    async def work():
        await asyncio.sleep(0)
        os.getloadavg()

    await asyncio.gather(*(work() for _ in range(5)))


def test_opaque_calls_are_charged():
    report = explore(opaque, limits=Limits(max_executions=20))
    (text, schedules), *_ = report.coverage.unfinished.opaque
    assert "getloadavg" in text
    assert schedules == 19
    assert report.coverage.unfinished.locations == ()


def test_a_finished_search_needs_no_advice():
    report = explore(_four)
    assert report.coverage.unfinished is None
    assert "unfinished" not in json.loads(FORMATS["json"](report))


def test_sampling_has_no_end_to_estimate():
    report = explore(many, engine="pct", limits=Limits(max_executions=50))
    assert report.coverage.unfinished is None


@pytest.mark.parametrize("limits", [Limits(max_executions=1), Limits(max_depth=3)])
def test_next_to_nothing_is_known(limits):
    report = explore(many, limits=limits)
    assert report.verdict == "unknown"
    assert report.coverage.unfinished.advice[-1] == "sample"
