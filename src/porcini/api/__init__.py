"""What a library user calls: `run`, `explore`, `check`, `symbolic`, `permute`, `replay`.

Each takes a model, or the path of one, and answers with a `Report`.
"""

from porcini.api.checks import check, transform, verify_reduction
from porcini.api.exploring import INDEPENDENCES, Disagreement, compare, explore, permute, replay, run
from porcini.api.inputs import cases_report, replay_cases, symbolic
from porcini.api.programs import Coroutine, function_of

__all__ = [
    "INDEPENDENCES",
    "Coroutine",
    "Disagreement",
    "cases_report",
    "check",
    "compare",
    "explore",
    "function_of",
    "permute",
    "replay",
    "replay_cases",
    "run",
    "symbolic",
    "transform",
    "verify_reduction",
]
