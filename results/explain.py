"""The numbers of a summary in words: what each is, and one sentence on what it means."""

from dataclasses import dataclass

from results.money import Bill, dollars
from results.record import Official, Verdict
from results.summary import Summary


@dataclass(frozen=True)
class Fact:
    """`name` and `value` fit a line; `meaning` is one sentence for whoever sees it the first time."""

    name: str
    value: str
    meaning: str


MEANINGS = {
    Verdict.RESOLVED: "every required test passes",
    Verdict.NOT_RESOLVED: "the patch applies, but required tests fail or never ran",
    Verdict.INVALID_PATCH: "no patch, or one that cannot be applied; counts as a failure",
    Verdict.TAMPERED: "the patch reached for the grading instead of the bug; counts as a failure",
    Verdict.SUSPECT: "the tests pass in a way that cannot be trusted; counts as a failure",
    Verdict.INFRA_ERROR: "lost to the machine, not to the patch; owed again and in no rate",
    Verdict.TASK_QUARANTINED: "the task cannot tell a good patch from a bad one here; in no rate",
}


def facts(summary: Summary) -> tuple[Fact, ...]:
    """Everything a summary says in numbers, the most wanted first."""
    return (_resolved(summary), _official(summary), _progress(summary), *_money(summary), *_times(summary))


def cautions(summary: Summary) -> tuple[str, ...]:
    """What a reader must know before quoting any number of it."""
    found = []
    if summary.model.startswith("assay-demo"):
        found.append("Demo model: reference fixes, spoiled on purpose. This says nothing about any model.")
    if summary.oracle:
        found.append("Oracle context: the model was shown the files the reference fix changes.")
    if summary.done < summary.total:
        found.append(
            f"Unfinished: {count(summary.to_solve, 'attempt')} to solve, {summary.to_grade:,} more to grade."
        )
    if summary.infra:
        found.append(f"{count(len(summary.infra), 'attempt')} lost to infrastructure and owed again.")
    if summary.quarantined:
        found.append(f"{count(len(summary.quarantined), 'attempt')} at quarantined tasks, not scored.")
    if summary.bill.unpriced:
        found.append(f"Costs are a lower bound: {_missing(summary.bill)}.")
    return tuple(found)


def duration(seconds: float) -> str:
    """`0.42 s`, `12.5 s`, `3 min 20 s`, `2 h 5 min`."""
    if seconds < 59.95:
        return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def count(number: int, noun: str) -> str:
    """`1 task`, `2,000 tasks`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _resolved(summary: Summary) -> Fact:
    rate = summary.rate
    if rate.value is None:
        return Fact("resolve rate", "unknown", "Nothing was scored yet.")
    meaning = (
        f"{rate.resolved:,} of {rate.scored:,} scored attempts passed every required test; "
        f"{count(rate.tasks, 'task')} like these leave any true rate in the interval plausible "
        f"(95 %, {rate.method})."
    )
    return Fact("resolve rate", f"{rate}, {rate.resolved:,} of {rate.scored:,}", meaning)


def _official(summary: Summary) -> Fact:
    rate = summary.official_rate
    if rate.value is None:
        return Fact(
            "official-compatible", "unknown", "No attempt has a verdict of the SWE-bench harness's kind."
        )
    unknown = rate.scored - sum(n for verdict, n in summary.official.items() if verdict.known)
    ungraded = summary.official[Official.NOT_GRADED]
    notes = [f"{count(len(summary.disputes), 'attempt')} judged otherwise than above"]
    notes += [f"{ungraded:,} without a log it would grade, counted as failures"] if ungraded else []
    notes += [f"{unknown:,} refused before a run, counted as failures"] if unknown else []
    return Fact(
        "official-compatible",
        f"{rate}, {rate.resolved:,} of {rate.scored:,}",
        "What the SWE-bench harness says of the same runs: comparable with public numbers, but it believes "
        f"whatever the tested code prints ({'; '.join(notes)}).",
    )


def _progress(summary: Summary) -> Fact:
    owed = summary.total - summary.done
    return Fact(
        "attempts judged",
        f"{summary.done:,} of {summary.total:,}" + (f", {owed:,} owed" if owed else ""),
        f"{count(summary.tasks, 'task')}, {count(summary.samples, 'sample')} each; "
        "an attempt is judged when its verdict is one that lasts.",
    )


def _money(summary: Summary) -> tuple[Fact, ...]:
    if not summary.bill.asked:
        return (Fact("cost", str(summary.cost), "The solver asks none, so there is nothing to pay for."),)
    missing = f"; {_missing(summary.bill)}" if summary.bill.unpriced else ""
    return (
        Fact(
            "cost",
            str(summary.bill),
            f"Every request that reached the provider, wasted ones too, and the costs of the run{missing}.",
        ),
        *(
            Fact(f"  of it {cost.kind}", dollars(cost.amount), f"Paid by the run as a whole: {cost.detail}.")
            for cost in summary.costs
        ),
        Fact(
            "cost per resolved bug",
            str(summary.cost_per_resolved),
            "The whole cost over the bugs resolved, so failed attempts are paid for by the successful ones.",
        ),
        Fact("cost per attempt", str(summary.cost_per_attempt), "The whole cost over the attempts made."),
        _tokens(summary),
        _requests(summary),
    )


def _times(summary: Summary) -> tuple[Fact, ...]:
    totals = ", ".join(f"{stage.name} {duration(stage.total_s)}" for stage in summary.stages)
    medians = ", ".join(f"{stage.name} {duration(stage.median_s)}" for stage in summary.stages)
    return (
        Fact(
            "time",
            totals,
            f"By all attempts together, which overlap and may exceed the clock. Medians: {medians}.",
        ),
        Fact(
            "wall clock",
            duration(summary.wall_s),
            f"From taking the run to the last thing recorded, over {count(summary.sessions, 'session')}.",
        ),
    )


def _tokens(summary: Summary) -> Fact:
    tokens = summary.tokens
    value = f"{tokens.input:,} in, {tokens.cached:,} cached, {tokens.output:,} out"
    value += f" ({tokens.reasoning:,} reasoning)" if tokens.reasoning else ""
    missing = f"; {count(tokens.unreported, 'request')} reported none" if tokens.unreported else ""
    return Fact(
        "tokens",
        value if summary.requests else "none",
        "As the provider counted them, cached input apart from fresh, reasoning as part of the output"
        + missing
        + ".",
    )


def _requests(summary: Summary) -> Fact:
    counts = [f"{count:,} {outcome}" for outcome, count in summary.requests.items()]
    return Fact(
        "requests",
        ", ".join(counts) or "none",
        "Calls to the model by how they ended; one `in flight` was lost with its process, its price unknown.",
    )


def _missing(bill: Bill) -> str:
    return f"left out for want of a price: {count(bill.unpriced, 'request')}, {bill.unpriced_tokens:,} tokens"
