from hypothesis import given
from hypothesis import strategies as st
from result_factories import a_config, a_row

from results.owed import difference, keys, owed
from results.record import AttemptRow, Verdict

STATES = st.sampled_from(["nothing", "attempt", "quarantined unasked", *Verdict])
SIZES = st.tuples(st.integers(1, 5), st.integers(1, 4))


@st.composite
def histories(draw):
    """A run and, for each of its attempts, how far it came."""
    tasks, samples = draw(SIZES)
    config = a_config(tasks, samples=samples)
    return config, {key: draw(STATES) for key in keys(config)}


def ledger(states):
    unasked = ("nothing", "quarantined unasked")
    attempts = [AttemptRow(*key, "", 0.0) for key, state in states.items() if state not in unasked]
    records = [a_row(*key, verdict=state) for key, state in states.items() if isinstance(state, Verdict)]
    records += [
        a_row(*key, verdict=Verdict.TASK_QUARANTINED)
        for key, state in states.items()
        if state == "quarantined unasked"
    ]
    return attempts, records


@given(histories())
def test_what_is_owed_is_what_has_no_lasting_verdict(history):
    """Solving is owed where no attempt is, grading where an attempt has no verdict or lost it to a fault."""
    config, states = history
    due = owed(config, *ledger(states))
    assert due.solve == tuple(key for key, state in states.items() if state == "nothing")
    assert due.grade == tuple(
        key for key, state in states.items() if state in ("attempt", Verdict.INFRA_ERROR)
    )
    assert len(due) == len(due.solve) + len(due.grade)


@given(histories(), st.randoms())
def test_working_off_what_is_owed_ends_it(history, random):
    """However often a run is cut short, doing what is owed, once each, leaves nothing owed."""
    config, states = history
    while due := owed(config, *ledger(states)):
        for key in random.sample(due.solve, k=-(-len(due.solve) // 2)):
            states[key] = "attempt"
        for key in due.grade:
            states[key] = Verdict.NOT_RESOLVED
    assert set(states) == set(keys(config))


@given(histories())
def test_rows_of_other_runs_change_nothing(history):
    """Attempts and records outside the run's tasks and samples neither pay off nor add to what is owed."""
    config, states = history
    attempts, records = ledger(states)
    stray = [("somewhere__else-1", 0), (config.instances[0], config.samples)]
    more = attempts + [AttemptRow(*key, "", 0.0) for key in stray]
    assert owed(config, more, records + [a_row(*key) for key in stray]) == owed(config, attempts, records)


def test_differences_are_named():
    """Configurations that differ say where, down to the option."""
    ours = a_config(solver_options={"model": "a", "temperature": 0.2}, limits={"wall_s": 60.0})
    theirs = a_config(solver_options={"model": "b", "temperature": 0.2}, limits={}, samples=4)
    assert difference(ours, theirs) == ("limits", "limits.wall_s", "samples", "solver_options.model")
    assert difference(ours, ours.model_copy()) == ()


def test_a_configuration_read_back_is_the_same():
    """Types that JSON does not know make no difference after a configuration went through the store."""
    config = a_config(limits={"wall_s": 1800})
    assert difference(config, type(config).model_validate_json(config.model_dump_json())) == ()
