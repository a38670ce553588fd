import json
from datetime import UTC, datetime
from decimal import Decimal

from result_factories import a_config, a_ledger, a_request, a_row

from results.explain import cautions, facts
from results.record import Cost, Official, Spent, Verdict
from results.summary import Summary, repository, summarise


def one_of_each():
    verdicts = tuple(Verdict)
    config = a_config(len(verdicts) + 2)
    records = tuple(
        a_row(instance, verdict=verdict, flags=("fuzzy_apply",), spent=Spent(queue=1.0, tests=float(number)))
        for number, (instance, verdict) in enumerate(zip(config.instances, verdicts, strict=False))
    )
    return config, records


def named(summary: Summary) -> dict[str, str]:
    return {fact.name: fact.value for fact in facts(summary)}


def test_every_verdict_is_counted_and_only_scored_ones_rated():
    """Failures of any kind stay in the denominator; our faults and quarantined tasks leave it, by name."""
    config, records = one_of_each()
    summary = summarise(a_ledger(config, records))
    assert summary.verdicts == dict.fromkeys(Verdict, 1)
    assert (summary.rate.resolved, summary.rate.scored) == (1, 5)
    assert [one.instance_id for one in summary.infra] == ["psf__requests-5"]
    assert [one.instance_id for one in summary.quarantined] == ["psf__requests-6"]
    assert (summary.total, summary.done, summary.to_solve, summary.to_grade) == (9, 6, 2, 1)
    assert summary.flags == {"fuzzy_apply": 7}
    assert sum(reason.count for reason in summary.reasons) == 7


def test_verdicts_nobody_got_are_shown_as_zero():
    """A verdict that did not occur is listed with a zero, so its absence can be seen."""
    summary = summarise(a_ledger(records=(a_row("psf__requests-0"),)))
    assert set(summary.verdicts) == set(Verdict)
    assert summary.verdicts[Verdict.TAMPERED] == 0


def test_money_counts_every_attempt():
    """Dollars per resolved bug are all dollars, wasted requests and costs of the run included, over them."""
    records = (a_row("psf__requests-0"), a_row("psf__requests-1", verdict=Verdict.NOT_RESOLVED))
    requests = (
        a_request("psf__requests-0", cost=Decimal("0.20")),
        a_request("psf__requests-0", cost=Decimal("0.10"), outcome="HTTP 500"),
        a_request("psf__requests-1", cost=Decimal("0.30")),
    )
    summary = summarise(
        a_ledger(records=records, requests=requests, costs=(Cost("judge", Decimal("0.40"), ""),))
    )
    assert (str(summary.cost), str(summary.cost_per_resolved), str(summary.cost_per_attempt)) == (
        "$1.00",
        "$1.00",
        "$0.50",
    )
    assert summary.requests == {"ok": 2, "HTTP 500": 1}


def test_gpu_hours_are_part_of_the_bill():
    """A self-hosted run pays for its GPUs though each request costs nothing."""
    config = a_config(solver_options={"model": "m", "gpu_hour": "3600", "gpus": 2})
    requests = (a_request(cost=Decimal(0), seconds=10.0),)
    summary = summarise(a_ledger(config, (a_row("psf__requests-0"),), requests))
    assert str(summary.cost_per_resolved) == "$20.00"
    assert [cost.kind for cost in summary.costs] == ["gpu_held"]


def test_a_run_without_a_model_says_so():
    """Reference fixes cost nothing because nobody was asked, which is not a price of zero."""
    config = a_config(1, solver="gold", solver_options={})
    summary = summarise(a_ledger(config, (a_row("psf__requests-0"),)))
    assert named(summary)["cost"] == str(summary.cost_per_resolved) == "no model was asked"
    assert "cost per resolved bug" not in named(summary)
    assert summary.model == ""
    assert cautions(summary) == ()


def test_tokens_and_time_are_summed():
    """Tokens add up over all requests, and each stage has its sum and its middle."""
    config, records = one_of_each()
    requests = (a_request(seconds=1.0), a_request(seconds=5.0), a_request(seconds=3.0, usage=None, cost=None))
    summary = summarise(a_ledger(config, records, requests))
    assert summary.tokens.model_dump() == {
        "input": 2000,
        "cached": 400,
        "output": 600,
        "reasoning": 200,
        "unreported": 1,
    }
    stages = {stage.name: (stage.total_s, stage.median_s) for stage in summary.stages}
    assert stages == {
        "model": (9.0, 3.0),
        "build": (0.0, 0.0),
        "queue": (7.0, 1.0),
        "sandbox": (0.0, 0.0),
        "tests": (21.0, 3.0),
    }
    assert summary.wall_s == 90


def test_what_must_be_known_before_quoting_is_said():
    """Oracle context, unfinished work, faults, quarantine and missing prices are each a caution."""
    config, records = one_of_each()
    config = config.model_copy(update={"solver_options": {"model": "m", "context": "oracle"}})
    summary = summarise(a_ledger(config, records, (a_request(cost=None),)))
    text = "\n".join(cautions(summary))
    assert summary.oracle
    for word in (
        "Oracle",
        "Unfinished: 2 attempts to solve, 1 more",
        "1 attempt lost",
        "quarantined",
        "lower bound",
    ):
        assert word in text


def test_a_run_that_owes_is_not_finished():
    """An end noted earlier does not hold once something is owed again."""
    ledger = a_ledger(a_config(1), (a_row("psf__requests-0", verdict=Verdict.INFRA_ERROR),))
    finished = type(ledger.run)(**{**vars(ledger.run), "finished_at": datetime.now(UTC)})
    assert summarise(type(ledger)(**{**vars(ledger), "run": finished})).finished_at is None


def test_projects_are_told_apart():
    """Each repository has its own counts, interval and bill."""
    config = a_config(instances=("psf__requests-1", "psf__requests-2", "pallets__flask-1"))
    records = tuple(a_row(instance) for instance in config.instances)
    summary = summarise(a_ledger(config, records, (a_request("pallets__flask-1"),)))
    first, second = summary.repositories
    assert (first.name, first.done, first.rate.resolved, str(first.cost)) == (
        "psf/requests",
        2,
        2,
        "no model was asked",
    )
    assert (second.name, second.done, str(second.cost)) == ("pallets/flask", 1, "$0.0022")


def test_repositories_are_read_off_instance_ids():
    """SWE-bench ids name owner and project; other ids group by what comes before the last hyphen."""
    assert repository("scikit-learn__scikit-learn-25570") == "scikit-learn/scikit-learn"
    assert repository("jinja2-3.1.3") == "jinja2"
    assert repository("lonely") == "lonely"


def test_a_summary_survives_json():
    """What `--json` prints holds everything and reads back equal, money exact."""
    config, records = one_of_each()
    summary = summarise(a_ledger(config, records, (a_request(), a_request(cost=None))))
    text = json.dumps(summary.model_dump(mode="json"))
    assert Summary.model_validate_json(text) == summary
    assert json.loads(text)["bill"]["known"] == "0.00222"


def test_every_number_is_explained():
    """Each number has a name, a value and one plain sentence."""
    config, records = one_of_each()
    found = facts(summarise(a_ledger(config, records, (a_request(),))))
    assert len({fact.name for fact in found}) == len(found)
    for fact in found:
        assert fact.value
        assert fact.meaning.endswith(".")


def test_an_empty_run_has_a_summary():
    """A run that was only just begun says unknown, not zero, and divides by nothing."""
    summary = summarise(a_ledger())
    assert named(summary)["resolve rate"] == "unknown"
    assert summary.to_solve == summary.total == 3


def disputed_ledger():
    """One attempt the harness believes, one it refuses, one it agrees on, one it was never asked about."""
    config = a_config(4)
    first, second, third, fourth = config.instances
    return a_ledger(
        config,
        (
            a_row(first, verdict=Verdict.TAMPERED, official=Official.RESOLVED, official_reason="resolved"),
            a_row(second, official=Official.NOT_GRADED, official_reason="exit_status"),
            a_row(third),
            a_row(fourth, verdict=Verdict.INVALID_PATCH, official=Official.NONE, official_reason=""),
        ),
    )


def test_both_rates_stand_side_by_side():
    """Each with its interval, over the same attempts: what the harness was not asked is a failure in both."""
    summary = summarise(disputed_ledger())
    assert (summary.rate.resolved, summary.rate.scored) == (2, 4)
    assert (summary.official_rate.resolved, summary.official_rate.scored) == (2, 4)
    assert named(summary)["resolve rate"].endswith("2 of 4")
    assert named(summary)["official-compatible"].endswith("2 of 4")
    assert summary.official == {"resolved": 2, "not_resolved": 0, "not_graded": 1, "": 1}
    assert summary.repositories[0].official_rate == summary.official_rate
    for words in ("2 attempts judged otherwise", "1 without a log", "1 refused before a run"):
        assert words in facts(summary)[1].meaning


def test_disagreements_are_listed_with_both_reasons():
    """By instance; an attempt without an official-compatible verdict disagrees with none."""
    disputes = summarise(disputed_ledger()).disputes
    assert [(one.instance_id, one.verdict, one.reason, one.official_reason) for one in disputes] == [
        ("psf__requests-0", Verdict.TAMPERED, "tampered", "resolved"),
        ("psf__requests-1", Verdict.RESOLVED, "resolved", "exit_status"),
    ]


def test_runs_from_before_the_second_verdict_say_unknown():
    """Not zero."""
    row = a_row("psf__requests-0", official=Official.NONE, official_reason="")
    summary = summarise(a_ledger(a_config(1), (row,)))
    assert named(summary)["official-compatible"] == "unknown"
    assert summary.disputes == ()
