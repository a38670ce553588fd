"""Parts of a task set."""

import pytest
from sample_rows import task

from tasks.errors import InputError
from tasks.select import select
from tasks.task import TaskSet

TASKS = TaskSet("spoons", tuple(task(number) for number in (3, 1, 12, 2)), left_out=("row 5: bad",))


def ids(tasks: TaskSet) -> list[str]:
    return [one.instance_id.removeprefix("octo__spoon-") for one in tasks]


def test_nothing_asked_for_is_everything() -> None:
    """Without a wish the set stays as it is."""
    assert select(TASKS) == TASKS


def test_named_instances_come_in_the_order_of_the_set() -> None:
    """The order of the set is the order of a run, however the instances were named."""
    assert ids(select(TASKS, instances=["octo__spoon-2", "octo__spoon-3", "octo__spoon-2"])) == ["3", "2"]


def test_a_pattern_is_searched_in_the_instance_id() -> None:
    """A regular expression chooses by any part of the id."""
    assert ids(select(TASKS, pattern=r"-1")) == ["1", "12"]
    assert ids(select(TASKS, pattern=r"-1$")) == ["1"]


def test_the_limit_counts_what_the_other_wishes_left() -> None:
    """The first tasks that fit are taken."""
    assert ids(select(TASKS, pattern="2", limit=1)) == ["12"]
    assert ids(select(TASKS, limit=99)) == ["3", "1", "12", "2"]


def test_a_selection_remembers_its_set() -> None:
    """Name and refused rows stay with the part; its content has a digest of its own."""
    part = select(TASKS, limit=1)
    assert (part.name, part.left_out) == (TASKS.name, TASKS.left_out)
    assert part.digest != TASKS.digest


def test_unknown_instances_are_all_named_with_the_closest_known_ones() -> None:
    """A mistyped id is an error, never a smaller run."""
    with pytest.raises(InputError) as caught:
        select(TASKS, instances=["octo__spoon-1", "octo_spoon-12", "\x1b[2J"])
    assert "octo_spoon-12 (closest: octo__spoon-12" in caught.value.message
    assert "'\\x1b[2J'" in caught.value.message
    assert "octo__spoon-1\n" not in caught.value.message


@pytest.mark.parametrize("wish", [{"pattern": "fork"}, {"pattern": "("}, {"limit": 0}, {"limit": -1}])
def test_wishes_that_leave_nothing_are_refused(wish: dict[str, object]) -> None:
    """A run of no task would end at once and look finished."""
    with pytest.raises(InputError):
        select(TASKS, **wish)  # type: ignore[arg-type]


def test_the_wrong_set_is_not_answered_with_every_id() -> None:
    """A few of the unknown ids tell as much as all of them."""
    with pytest.raises(InputError) as caught:
        select(TASKS, [f"unknown-{number}" for number in range(500)])
    assert "… and 490 more" in caught.value.message and "--dataset" in caught.value.remedy
