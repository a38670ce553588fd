"""Summaries and records as a terminal shows them. Foreign text is made plain and never read as markup."""

import io
from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from results.explain import MEANINGS, cautions, count, duration, facts
from results.money import Bill
from results.record import Record, Request, Verdict
from results.summary import Dispute, Named, Summary
from results.text import excerpt, line, plain

NAMES_SHOWN = 20
STYLES = {
    Verdict.RESOLVED: "green",
    Verdict.NOT_RESOLVED: "red",
    Verdict.INVALID_PATCH: "red",
    Verdict.TAMPERED: "magenta",
    Verdict.SUSPECT: "magenta",
    Verdict.INFRA_ERROR: "yellow",
    Verdict.TASK_QUARANTINED: "yellow",
}


def render(summary: Summary, *, explain: bool = False) -> RenderableType:
    """The whole summary.

    Args:
        summary: of a run, finished or not.
        explain: also say what each number means.
    """
    parts: list[RenderableType] = [_head(summary)]
    parts += [Text(f"! {plain(caution)}", "yellow") for caution in cautions(summary)]
    parts += [Text(), _facts(summary, explain), Text(), _verdicts(summary, explain)]
    if len(summary.repositories) > 1:
        parts += [Text(), _repositories(summary)]
    if summary.flags:
        seen = ", ".join(f"{plain(flag)} {number:,}" for flag, number in summary.flags.items())
        parts += [Text(), Text(f"flags: {seen}")]
    several = summary.samples > 1
    parts += _disputes(summary.disputes, several)
    parts += _names("not scored, task quarantined", summary.quarantined, several)
    parts += _names("not scored, owed again", summary.infra, several)
    return Group(*parts)


def render_attempt(record: Record, requests: Iterable[Request] = (), *, lines: int = 60) -> RenderableType:
    """One verdict with what it rests on.

    Args:
        record: the verdict.
        requests: of this task and sample.
        lines: how many lines of patch and of test output to show at most, each.
    """
    asked = list(requests)
    spent = record.spent
    stages = (
        ("build", spent.build),
        ("queue", spent.queue),
        ("sandbox", spent.sandbox),
        ("tests", spent.tests),
    )
    table = _plain_table()
    for name, value in (
        ("reason", record.reason),
        ("explanation", record.explanation),
        ("official", _official(record)),
        ("fail-to-pass", f"{record.f2p_passed} of {record.f2p_total} pass"),
        ("pass-to-pass", f"{record.p2p_passed} of {record.p2p_total} pass"),
        ("flags", ", ".join(record.flags) or "none"),
        ("cost", f"{Bill.of(asked)} for {count(len(asked), 'request')}" if asked else str(Bill.of(()))),
        ("time", ", ".join(f"{name} {duration(seconds)}" for name, seconds in stages)),
        ("tries", str(record.tries)),
        ("sandbox", f"{record.backend}, environment {record.environment_digest[:12]}"),
        ("grader", record.grader_version),
    ):
        table.add_row(Text(name, "dim"), Text(line(value, 2000)))
    title = Text.assemble(
        (record.verdict.value, f"bold {STYLES[record.verdict]}"),
        f"  {line(record.instance_id)}, sample {record.sample}",
    )
    parts: list[RenderableType] = [title, table]
    parts += _section("required tests that did not pass", [line(test, 400) for test in record.failed])
    evidence = dict(record.evidence)
    parts += _checks(evidence.pop("checks", None))
    parts += _section("evidence", [f"{line(str(key))}: {_short(value)}" for key, value in evidence.items()])
    parts += _section("patch", [excerpt(record.patch, lines)] if record.patch else ["(none)"])
    output = record.output.decode("utf-8", "replace")
    parts += _section("test output", [excerpt(output, lines)] if output else [])
    return Group(*parts)


def _official(record: Record) -> str:
    if not record.official.known:
        return "unknown"
    said = record.evidence.get("official")
    sentence = said.get("explanation", "") if isinstance(said, dict) else ""
    return f"{record.official.value} ({record.official_reason}): {sentence}"


def _checks(made: object) -> list[RenderableType]:
    """The judge's checks in their order: those that were met, and the one that was not."""
    if not isinstance(made, list) or not made:
        return []
    table = _plain_table()
    for asked, shown, finding in made:
        mark = Text("no", "red") if finding else Text("yes", "green")
        ending = f"  → {line(str(finding))}" if finding else ""
        table.add_row(mark, Text(line(str(asked))), Text(line(str(shown), 400) + ending, "dim"))
    return [Text(), Text("checks", "bold"), Padding(table, (0, 0, 0, 2), expand=False)]


def to_text(renderable: RenderableType, width: int = 100) -> str:
    """What a terminal of that width without colours would show; ends in a line break."""
    out = io.StringIO()
    Console(file=out, width=width, color_system=None, force_terminal=False, highlight=False).print(renderable)
    return "\n".join(row.rstrip() for row in out.getvalue().splitlines()) + "\n"


def _head(summary: Summary) -> RenderableType:
    who = f"{summary.solver} · {summary.model}" if summary.model else summary.solver
    where = f"{summary.dataset}, {summary.tasks:,} tasks, set {summary.taskset_digest[:12]}"
    head = Text.assemble((line(summary.run_id), "bold"))
    head.append(f"\n{line(who)} on {line(where)}, sandbox {line(summary.backend)}")
    return head


def _facts(summary: Summary, explain: bool) -> RenderableType:
    table = _plain_table()
    for fact in facts(summary):
        table.add_row(Text(plain(fact.name), "dim"), Text(plain(fact.value)))
        if explain:
            table.add_row(Text(), Text(plain(fact.meaning), "italic"))
    return table


def _verdicts(summary: Summary, explain: bool) -> RenderableType:
    table = _plain_table("verdict", "attempts", "reasons")
    table.columns[1].justify = "right"
    for verdict, number in summary.verdicts.items():
        reasons = [
            f"{line(reason.reason)} {reason.count:,}"
            for reason in summary.reasons
            if reason.verdict is verdict
        ]
        row = Text(verdict.value, STYLES[verdict] if number else "dim")
        table.add_row(row, f"{number:,}", Text(", ".join(reasons)))
        if explain:
            table.add_row("", "", Text(MEANINGS[verdict], "italic"))
    return table


def _repositories(summary: Summary) -> RenderableType:
    table = _plain_table("repository", "judged", "resolved", "trusted (95 %)", "official (95 %)")
    # What the run paid as a whole belongs to no project: a column without it would mislead.
    priced = bool(summary.bill.asked and not summary.costs)
    if priced:
        table.add_column("cost")
    for column in table.columns:
        column.justify = "right"
        # Where a page is narrow the two rates break before their intervals.
        column.no_wrap = column.header not in ("trusted (95 %)", "official (95 %)")
    table.columns[0].justify = "left"
    for part in summary.repositories:
        row = [f"{part.done:,}", f"{part.rate.resolved:,} of {part.rate.scored:,}", str(part.rate)]
        row.append(str(part.official_rate))
        table.add_row(Text(line(part.name)), *row, *([str(part.cost.total)] if priced else []))
    return table


def _disputes(disputes: tuple[Dispute, ...], several: bool) -> list[RenderableType]:
    rows = [
        f"{line(one.instance_id)}{f', sample {one.sample}' if several else ''}: {one.verdict.value} "
        f"({line(one.reason)}), officially {one.official.value} ({line(one.official_reason)})"
        for one in disputes[:NAMES_SHOWN]
    ]
    return _section("trusted and official-compatible verdict disagree", _cut(rows, len(disputes)))


def _names(title: str, named: tuple[Named, ...], several: bool) -> list[RenderableType]:
    rows = [
        line(one.instance_id)
        + (f", sample {one.sample}: " if several else ": ")
        + line(one.explanation or one.reason)
        for one in named[:NAMES_SHOWN]
    ]
    return _section(title, _cut(rows, len(named)))


def _cut(rows: list[str], number: int) -> list[str]:
    """The rows, and how many of `number` they leave out."""
    return [*rows, f"… and {number - len(rows):,} more"] if number > len(rows) else rows


def _section(title: str, rows: list[str]) -> list[RenderableType]:
    if not rows:
        return []
    return [Text(), Text(title, "bold"), Padding(Text("\n".join(rows)), (0, 0, 0, 2), expand=False)]


def _plain_table(*headers: str) -> Table:
    return Table(*headers, box=None, show_header=bool(headers), pad_edge=False, header_style="dim")


def _short(value: object) -> str:
    """A value of the evidence in a few words; the whole of it is in its artefact and in the export."""
    if isinstance(value, dict | list) and len(str(value)) > 120:
        return f"{len(value):,} entries"
    return line(str(value))
