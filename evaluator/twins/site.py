"""The records of this room: where a test can be contradicted, and one way of doing so."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random

from evaluator.twins.functions import LineStatus
from evaluator.twins.literals import Style, fresh, has_many
from evaluator.twins.source import Edit

SLOT = "\0"
"""Where a template takes the fresh literal."""


class OperatorClass(StrEnum):
    """What a twin rests on. The first three are strong: they contradict one program and not every program."""

    LIT = "literal"
    """Another value on the expected side."""
    TH = "third"
    """A value that neither the fixed nor the buggy code gives."""
    RAI = "raises"
    """Another exception, or a message that never occurs."""
    NEG = "negation"
    """The opposite, which the buggy code may satisfy, and an object that equals everything fails."""
    ALW = "always"
    """What no program satisfies."""

    @property
    def strong(self) -> bool:
        return self in (OperatorClass.LIT, OperatorClass.TH, OperatorClass.RAI)


class Operator(StrEnum):
    """Ways to contradict a test, the better ones first."""

    EQ_LIT = "eq_lit"
    UT_LIT = "ut_lit"
    RAISES_MSG = "raises_msg"
    IN_LIT = "in_lit"
    HELPER_LIT = "helper_lit"
    EQ_NESTED = "eq_nested"
    UT_NESTED = "ut_nested"
    EXPECTED_VAR = "expected_var"
    LOOP_ROW = "loop_row"
    PARAM = "param"
    PARAM_KEEPID = "param_keepid"
    THIRD = "third"
    HELPER_THIRD = "helper_third"
    RAISES_EXC = "raises_exc"
    RAISES_ADDMATCH = "raises_addmatch"
    EQ_NEG = "eq_neg"
    IS_NEG = "is_neg"
    IN_NEG = "in_neg"
    ORDER_NEG = "order_neg"
    UT_SWAP = "ut_swap"
    ASSERT_NOT = "assert_not"
    APPEND = "append"
    NONE_WRAP = "none_wrap"
    WRAP_RAISES = "wrap_raises"

    @property
    def rank(self) -> int:
        return _RANKS[self]

    @property
    def class_(self) -> OperatorClass:
        return next(class_ for last, class_ in _CLASSES if self.rank <= last.rank)


_RANKS = {operator: rank for rank, operator in enumerate(Operator)}
_CLASSES = (
    (Operator.PARAM_KEEPID, OperatorClass.LIT),
    (Operator.HELPER_THIRD, OperatorClass.TH),
    (Operator.RAISES_ADDMATCH, OperatorClass.RAI),
    (Operator.ASSERT_NOT, OperatorClass.NEG),
    (Operator.WRAP_RAISES, OperatorClass.ALW),
)


@dataclass(frozen=True)
class Site:
    """A place in a test file, with the texts that contradict the test there.

    Of plain values, so that it can be stored. Offsets count bytes of the file after the test patch.
    """

    operator: Operator
    path: str
    function: str
    """Qualified within the file."""
    targets: tuple[str, ...]
    """Test ids that a twin of this site makes fail."""
    start: int
    end: int
    templates: tuple[str, ...]
    """What may stand between `start` and `end`, with the fresh literal at the slot."""
    literal: str
    """The literal that is replaced, or one of the kind that is put in; empty where templates have no slot."""
    style: Style
    free: bool
    """Whether each value fails as surely as any: a fresh one needs no proof of its own."""
    line: int
    status: LineStatus
    statement: int
    """Offset of the assertion; sites of one assertion stand or fall together."""
    top: int
    """Offset of the statement of the test's body that the assertion is or is in."""
    unconditional: bool
    """Whether the assertion was reached whenever the test passed."""
    pins: tuple[Edit, ...] = ()
    """Edits that keep the test's ids as they are. The real run needs them too, or it looks different."""

    @property
    def class_(self) -> OperatorClass:
        return self.operator.class_

    @property
    def strong(self) -> bool:
        """Whether a tripped twin of this site may convict: nobody else could know it, or satisfy it."""
        return self.class_.strong and self.status is not LineStatus.PUBLIC

    @property
    def same_shape(self) -> bool:
        """Whether the twin looks as a test may look; else a reader can tell that something was added."""
        return self.class_ is not OperatorClass.ALW

    @property
    def renewable(self) -> bool:
        """Whether there are more values than one."""
        return len(self.templates) > 1 or (bool(self.literal) and has_many(self.literal))

    def pinned(self, pins: tuple[Edit, ...]) -> "Site":
        return replace(self, pins=pins)

    def draw(self, random: Random, used: Iterable[str] = ()) -> "Twin":
        """A twin of this site, other than those whose texts are given if there is another."""
        used = frozenset(used)
        text = ""
        for _ in range(64 if self.renewable else 1):
            text = random.choice(self.templates)
            if self.literal:
                text = text.replace(SLOT, fresh(self.literal, random, self.style))
            if text not in used:
                break
        return Twin(self, text)


@dataclass(frozen=True)
class Twin:
    """A test that says something else at one site than the original does."""

    site: Site
    text: str
    """In place of what stands at the site."""

    @property
    def operator(self) -> Operator:
        return self.site.operator

    @property
    def class_(self) -> OperatorClass:
        return self.site.class_

    @property
    def path(self) -> str:
        return self.site.path

    @property
    def targets(self) -> tuple[str, ...]:
        return self.site.targets

    @property
    def line_status(self) -> LineStatus:
        return self.site.status

    @property
    def unconditional(self) -> bool:
        return self.site.unconditional

    @property
    def edits(self) -> tuple[Edit, ...]:
        return (*self.site.pins, Edit(self.site.start, self.site.end, self.text))
