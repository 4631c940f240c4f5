"""The law of traces with guards: what is read from a file is what was run."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import porcini
from porcini.formats.json_report import to_json

LIMITS = porcini.Limits(max_executions=200, max_depth=60)
SAME = ("engine", "property", "verdict", "stopped", "outcomes", "counterexample", "traces", "seeds")


def permuted_alike(model: porcini.Model, seed: int, inputs: dict | None = None) -> bool:
    """`permute --trace` says of a recorded run what `permute` says of the program. False for a run too long."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "run.jsonl"
        run = porcini.run(model, seed=seed, inputs=inputs, limits=LIMITS, trace=file)
        if not run.outcomes:
            return False
        schedule = run.outcomes[0].schedule
        of_trace = porcini.permute_trace(file, seeds=True, limits=LIMITS)
        again = Path(folder) / "again.jsonl"
        porcini.run(model, schedule=schedule, inputs=inputs, limits=LIMITS, trace=again)
        assert again.read_text() == file.read_text()
    of_program = porcini.permute(model, schedule=schedule, inputs=inputs, seeds=True, limits=LIMITS)
    assert of_trace.trace.exact
    one, two = to_json(of_trace), to_json(of_program)
    assert {key: one[key] for key in SAME} == {key: two[key] for key in SAME}
    assert one["counts"]["classes"] == two["counts"]["classes"]
    return True
