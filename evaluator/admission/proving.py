"""The twins of a task that runs have proven. Proving costs once per machine; what it found is kept."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from pydantic import TypeAdapter

from evaluator.apply import Changes, apply_patch
from evaluator.evidence import Session
from evaluator.patch import parse_patch
from evaluator.paths import PatchError
from evaluator.trial import Trial, run_tests
from evaluator.twinned import test_files, twinned
from evaluator.twins.bank import candidates, draw_round
from evaluator.twins.functions import locate
from evaluator.twins.grade import STRONG_ENOUGH, TwinGrade, grade
from evaluator.twins.proof import Proof, Way, prove, ways
from evaluator.twins.site import Site, Twin
from evaluator.workshop import Setup
from sandbox.job import Limits, Sandbox
from tasks.cache import cache_root, publish
from tasks.digest import digest
from tasks.errors import InfraError

TWINS_VERSION = 3
"""Raised when the same task could get other twins."""
ROUNDS = 6
"""Tries for each function."""
WEAK = 2
"""Weak twins of a function that has no strong one."""
VALUES = 32
"""Draws of a value before one is taken that is not new to the test."""
_WORD = re.compile(r"\w+")

Function = tuple[str, str]


@dataclass(frozen=True)
class Bank:
    """What twins a task has."""

    proofs: tuple[Proof, ...] = ()
    refused: tuple[str, ...] = ()
    """Why others were not proven, for a person."""
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By function of a test file, the words and numbers in it: nothing of it is a good false expectation."""

    @property
    def grade(self) -> TwinGrade:
        strong = grade(proof.twin.site for proof in self.proofs if proof.convicts)
        return TwinGrade.T1 if strong is TwinGrade.T0 and self.proofs else strong

    def draw(self, random: Random, used: Collection[Twin]) -> tuple[Twin, ...]:
        """One twin in every function that has any, of its best sites, and not used ones first.

        Raises:
            ValueError: there are none at all.
        """
        best: dict[Function, tuple[bool, bool]] = {}
        for proof in self.proofs:
            place = _function(proof.twin)
            best[place] = max(best.get(place, (False, False)), _merit(proof))
        sites = [proof.twin.site for proof in self.proofs if _merit(proof) == best[_function(proof.twin)]]
        return tuple(self._proven(twin, random, used) for twin in draw_round(sites, random, used))

    def first_class(self, twin: Twin) -> bool:
        return any(proof.fails_unfixed for proof in self.proofs if proof.twin.site == twin.site)

    def _proven(self, twin: Twin, random: Random, used: Collection[Twin]) -> Twin:
        """One whose value is known to fail. Of those which any value does, one that is new to the test:
        a forger who returns something he found there would miss his own forgery by chance."""
        if twin.site.free:
            known = {*self.words.get(twin.site.function, ()), *(other.text for other in used)}
            for _ in range(VALUES):
                if not known.issuperset(_WORD.findall(twin.text)):
                    break
                twin = twin.site.draw(random)
            return twin
        tried = [proof.twin for proof in self.proofs if proof.twin.site == twin.site]
        return random.choice([other for other in tried if other not in used] or tried)


_BANK = TypeAdapter(Bank)


def bank_of(setup: Setup, sandbox: Sandbox, limits: Limits) -> Bank:
    """The proven twins of a task, found now if nobody has yet. Others that ask meanwhile wait.

    Raises:
        InfraError: the runs failed; nothing is kept.
    """
    name = digest([TWINS_VERSION, setup.task.digest, setup.environment.digest])
    target = cache_root() / "twins" / name
    with publish(target) as draft:
        if draft:
            _write(draft, _Prover(setup, sandbox, limits).bank())
    return _BANK.validate_json((target / "bank.json").read_bytes())


def _write(folder: Path, bank: Bank) -> None:
    (folder / "bank.json").write_bytes(_BANK.dump_json(bank))


class _Prover:
    """Tries twins of all functions at once, one of each in a run, with the reference fix and without."""

    def __init__(self, setup: Setup, sandbox: Sandbox, limits: Limits) -> None:
        self.setup = setup
        self.sandbox = sandbox
        self.limits = limits
        self.proofs: list[Proof] = []
        self.refused: list[str] = []

    def bank(self) -> Bank:
        task = self.setup.task
        try:
            self.gold = apply_patch(
                parse_patch(task.patch),
                self.setup.prepared.tree,
                lambda job: self.sandbox.run(self.setup.prepared, job),
            )
        except PatchError as error:
            return Bank((), (f"the reference fix: {error}",))
        offered = candidates(test_files(self.setup), task.fail_to_pass, task.pass_to_pass)
        self.ids = tuple(dict.fromkeys(test_id for twin in offered for test_id in twin.targets))
        self.selected = self.setup.files
        if self.setup.environment.runner == "pytest":  # takes ids for files
            self.selected = tuple(dict.fromkeys(test_id.partition("[")[0] for test_id in self.ids))
        if offered:
            self._try(offered)
        functions = locate(test_files(self.setup), task.fail_to_pass)
        words = {f.name: tuple(sorted(set(_WORD.findall(f.source.text(f.node))))) for f in functions}
        return Bank(tuple(self._together()), tuple(self.refused), words)

    def _try(self, offered: Iterable[Twin]) -> None:
        trial = self._run((), self.gold)
        if trial.evidence.hits:
            raise InfraError(f"twins could not be tried: {', '.join(sorted(trial.evidence.hits))}")
        self.original = self._session(trial)
        passing = {test_id for test_id, way in self._ways(self.original).items() if way is Way.PASSED}
        waiting = _in_turn(twin for twin in offered if passing.issuperset(twin.targets))
        for _ in range(ROUNDS):
            twins = [q.pop(0) for place, q in waiting.items() if q and self._wanted(place, q[0])]
            if not twins:
                break
            self._prove(twins)

    def _prove(self, twins: list[Twin]) -> None:
        fixed, unfixed = (self._session(self._run(twins, changes)) for changes in (self.gold, Changes({})))
        targets = {test_id for twin in twins for test_id in twin.targets}
        others = [test_id for test_id in self.ids if test_id not in targets]
        for twin in twins:
            shown = prove(
                twin, (*twin.targets, *others), self.setup.environment.log_parser,
                original=self.original, fixed=fixed, unfixed=unfixed,
            )  # fmt: skip
            if isinstance(shown, Proof):
                self.proofs.append(shown)
            else:
                self.refused.append(f"{twin.path}:{twin.site.line} {twin.operator}: {shown}")

    def _together(self) -> list[Proof]:
        """Those that fail also where whole files run, as they do when a patch is graded."""
        proofs, seen = self.proofs, set[Site]()
        while twins := [proof.twin for proof in proofs if proof.twin.site not in seen]:
            first = {_function(twin): twin for twin in reversed(twins)}.values()
            seen |= {twin.site for twin in first}
            found = self._ways(self._session(self._run(first, self.gold, self.setup.files)))
            passing = {test_id for test_id, way in found.items() if way is Way.PASSED}
            wrong = {twin.site for twin in first if not passing.isdisjoint(twin.targets)}
            self.refused += [
                f"{site.path}:{site.line} {site.operator}: passes among others" for site in wrong
            ]
            proofs = [proof for proof in proofs if proof.twin.site not in wrong]
            if not wrong:
                break
        return proofs

    def _run(self, twins: Iterable[Twin], changes: Changes, files: tuple[str, ...] = ()) -> Trial:
        setup = twinned(self.setup, twins, self.ids, files or self.selected)
        return run_tests(setup, changes, self.sandbox, self.limits)

    def _session(self, trial: Trial) -> Session:
        """Without the controls, whose names differ from run to run."""
        session, expected = trial.evidence.session, trial.expectation
        controls = {*expected.must_pass, *expected.must_fail}
        return replace(
            session,
            collected=tuple(test for test in session.collected if test[0] not in controls),
            reports=tuple(report for report in session.reports if report.node_id not in controls),
        )

    def _ways(self, session: Session) -> Mapping[str, Way]:
        return ways(session, self.ids, self.setup.environment.log_parser)

    def _wanted(self, place: Function, twin: Twin) -> bool:
        """Strong ones until the grade is the best; weak ones, which come last, only where there are none."""
        convicting = [proof.twin for proof in self.proofs if proof.convicts]
        here = place in map(_function, convicting)
        if not twin.site.strong:
            return not here and sum(_function(proof.twin) == place for proof in self.proofs) < WEAK
        statements = {(strong.path, strong.site.statement) for strong in convicting}
        return not here or len(statements) < STRONG_ENOUGH


def _function(twin: Twin) -> Function:
    return twin.path, twin.site.function


def _merit(proof: Proof) -> tuple[bool, bool]:
    """A pinned site looks a little different from the original, so others come first."""
    return proof.convicts, not proof.twin.site.pins


def _in_turn(twins: Iterable[Twin]) -> dict[Function, list[Twin]]:
    """Of each function, strong ones first, and one of every assertion before a second one of any."""
    seen: Counter[tuple[str, int]] = Counter()
    queues: dict[Function, list[tuple[bool, int, Twin]]] = {}
    for twin in twins:
        statement = twin.path, twin.site.statement
        queues.setdefault(_function(twin), []).append((not twin.site.strong, seen[statement], twin))
        seen[statement] += 1
    return {place: [twin for *_, twin in sorted(q, key=lambda e: e[:2])] for place, q in queues.items()}
