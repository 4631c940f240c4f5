"""Steps that `optimal` recalls from earlier runs must be what running them shows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from unittest.mock import patch

from conformance.laws import Broken
from porcini.core.events import Event
from porcini.engines.foreseeing import Foresight
from porcini.engines.races import Race

EVERY = 8
"""Of so many recalled steps, one is run."""


@contextmanager
def recalled_as_run() -> Iterator[None]:
    recall, numbers = Foresight._recall, itertools.count()

    def checked(self: Foresight, race: Race, between: Sequence[int]) -> Event | None:
        found = recall(self, race, between)
        if found is None or next(numbers) % EVERY:
            return found
        events = self._execution.events
        real = self._replay(race.at, [events[k].move for k in (*between, race.step)])
        same = (real.footprint, real.label, real.spawned, set(real.woke)) == (
            found.footprint,
            found.label,
            found.spawned,
            set(found.woke),
        )
        if not same:
            raise Broken(f"optimal: {real.label} was taken for {found.label}")
        return found

    with patch.object(Foresight, "_recall", checked):
        yield
