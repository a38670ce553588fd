"""Who fixes the bug: `gold`, `noop`, `replay` and `oneshot`, built by name.

The first three ask no model. They are how a task set, a sandbox and the grader itself are checked.
"""

from evaluator.solvers.base import Solver
from evaluator.solvers.gold import Gold
from evaluator.solvers.make import NAMES, make
from evaluator.solvers.noop import Noop
from evaluator.solvers.replay import Replay

__all__ = ["NAMES", "Gold", "Noop", "Replay", "Solver", "make"]
