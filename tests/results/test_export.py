import json

import pytest
from result_factories import a_config, a_ledger, a_record, a_request, a_row, an_attempt

from results import swebench
from results.export import attempts, predictions, write_attempts, write_logs, write_predictions, write_report
from results.record import AttemptRow, Official, Verdict
from results.store import Store
from tasks.errors import InputError, StoreError

STATUS = {"FAIL_TO_PASS": {"success": ["t"], "failure": []}, "PASS_TO_PASS": {"success": [], "failure": []}}


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "store") as opened:
        yield opened


@pytest.fixture
def run(store):
    """Five tasks, one of each: resolved, not resolved, refused, empty, not attempted."""
    config = a_config(5, samples=2)
    run = store.create_run(config)
    first, second, third, fourth, _ = config.instances
    for instance, patch in ((first, "fix\r\n\u2028"), (second, "wrong"), (third, "no diff"), (fourth, " \n")):
        store.add_attempt(run.id, an_attempt(instance, patch=patch))
    store.add_attempt(run.id, an_attempt(first, 1, patch="second sample"))
    store.add_record(run.id, a_record(first, patch="fix\r\n\u2028", evidence={"tests_status": STATUS}))
    store.add_record(run.id, a_record(second, verdict=Verdict.NOT_RESOLVED, reason="f2p_fail", patch="wrong"))
    store.add_record(run.id, a_record(third, verdict=Verdict.INVALID_PATCH, reason="apply"))
    store.add_record(run.id, a_record(fourth, verdict=Verdict.INVALID_PATCH, reason="empty"))
    store.add_request(run.id, a_request(first))
    return run


def test_predictions_are_what_the_harness_reads(tmp_path, store, run):
    """One JSON object a line with just the harness's three keys, patches unchanged, one sample at a time."""
    file = tmp_path / "preds.jsonl"
    assert write_predictions(store, run, file) == 4
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [set(row) for row in rows] == [{"instance_id", "model_name_or_path", "model_patch"}] * 4
    assert rows[0] == {
        "instance_id": "psf__requests-0",
        "model_name_or_path": "acme/coder-7b",
        "model_patch": "fix\r\n\u2028",
    }
    assert [row["model_patch"] for row in predictions(store, run, 1)] == ["second sample"]


def test_the_report_has_the_harness_s_shape(tmp_path, store, run):
    """Every count and list of schema version 2 is there, and they agree with each other."""
    file = tmp_path / "report.json"
    write_report(store, run, file)
    report = json.loads(file.read_text())
    ids = ["psf__requests-0", "psf__requests-1", "psf__requests-2", "psf__requests-3", "psf__requests-4"]
    assert report == {
        "total_instances": 5,
        "submitted_instances": 4,
        "completed_instances": 2,
        "resolved_instances": 1,
        "unresolved_instances": 1,
        "infra_failure_instances": 0,
        "ambiguous_failure_instances": 0,
        "empty_patch_instances": 1,
        "error_instances": 1,
        "completed_ids": ids[:2],
        "incomplete_ids": [ids[4]],
        "empty_patch_ids": [ids[3]],
        "submitted_ids": ids[:4],
        "resolved_ids": [ids[0]],
        "unresolved_ids": [ids[1]],
        "infra_failure_ids": [],
        "ambiguous_failure_ids": [],
        "failure_reasons": {},
        "error_ids": [ids[2]],
        "schema_version": 2,
    }


def test_every_verdict_has_its_place_in_the_report():
    """Faults are errors marked as infrastructure, doubt as doubt, and the sums hold as in the harness."""
    verdicts = tuple(Verdict)
    config = a_config(len(verdicts) + 2)
    records = tuple(
        a_row(name, verdict=verdict) for name, verdict in zip(config.instances, verdicts, strict=False)
    )
    ungraded = config.instances[len(verdicts)]
    rows = tuple(AttemptRow(record.instance_id, 0, "", 1.0) for record in records)
    ledger = a_ledger(config, records, attempts=(*rows, AttemptRow(ungraded, 0, "", 1.0)))
    report = swebench.report(ledger, empty=(), by="trusted")
    assert report["infra_failure_ids"] == ["psf__requests-5"]
    assert report["ambiguous_failure_ids"] == ["psf__requests-4", "psf__requests-6", ungraded]
    assert report["failure_reasons"][ungraded] == "not graded yet"
    assert report["error_ids"] == ["psf__requests-2", "psf__requests-5", "psf__requests-6", ungraded]
    assert report["total_instances"] == report["submitted_instances"] + len(report["incomplete_ids"])
    assert report["submitted_instances"] == (
        report["completed_instances"] + report["empty_patch_instances"] + report["error_instances"]
    )
    assert report["completed_instances"] == report["resolved_instances"] + report["unresolved_instances"]
    failures = set(report["infra_failure_ids"]) | set(report["ambiguous_failure_ids"])
    assert failures <= set(report["unresolved_ids"]) | set(report["error_ids"])


@pytest.mark.parametrize(
    ("official", "reason", "places"),
    [
        (Official.RESOLVED, "resolved", {"completed", "resolved"}),
        (Official.NOT_RESOLVED, "tests_failed", {"completed", "unresolved"}),
        (Official.NOT_GRADED, "exit_status", {"completed", "unresolved"}),
        (Official.NOT_GRADED, "apply", {"error"}),
        (Official.NOT_GRADED, "limit", {"error"}),
        (Official.NONE, "", {"error", "ambiguous_failure"}),
    ],
)
def test_the_report_goes_by_the_official_compatible_verdict(official, reason, places):
    """So that its numbers are those of a leaderboard; asked to, it goes by the trusted one."""
    row = a_row("psf__requests-0", verdict=Verdict.TAMPERED, official=official, official_reason=reason)
    ledger = a_ledger(a_config(1), (row,))
    counted = {name for name, ids in swebench.report(ledger, ()).items() if ids == ["psf__requests-0"]}
    assert counted == {"submitted_ids", *(f"{place}_ids" for place in places)}
    assert swebench.report(ledger, (), by="trusted")["unresolved_ids"] == ["psf__requests-0"]


def test_logs_lie_where_the_harness_puts_them(tmp_path, store, run):
    """Each judged instance has its patch, its output and a report under the harness's path."""
    assert write_logs(store, run, tmp_path) == 2
    root = tmp_path / "logs" / "run_evaluation" / run.id / "acme__coder-7b"
    assert sorted(path.name for path in root.iterdir()) == ["psf__requests-0", "psf__requests-1"]
    assert (root / "psf__requests-0" / "patch.diff").read_bytes() == "fix\r\n\u2028".encode()
    assert (root / "psf__requests-0" / "test_output.txt").read_text() == "1 passed\n"
    report = json.loads((root / "psf__requests-0" / "report.json").read_text())
    assert report["psf__requests-0"]["resolved"] is True
    assert report["psf__requests-0"]["tests_status"] == STATUS
    with pytest.raises(InputError, match="exists"):
        write_logs(store, run, tmp_path)


def test_attempts_carry_verdict_and_bill(tmp_path, store, run):
    """Each attempt comes with its record, or null while it is owed, and with what it cost."""
    file = tmp_path / "attempts.jsonl"
    assert write_attempts(store, run, file) == 5
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert rows[0]["record"]["verdict"] == "RESOLVED"
    assert rows[0]["bill"]["known"] == "0.00222"
    assert rows[0]["record"]["spent"]["tests"] == 2.0
    assert (rows[4]["sample"], rows[4]["record"], rows[4]["patch"]) == (1, None, "second sample")
    assert [row["instance_id"] for row in attempts(store, run)] == [row["instance_id"] for row in rows]


def test_hostile_patches_stay_one_line(tmp_path, store):
    """Line separators, NUL and lone surrogates in a patch neither break a line nor the encoding."""
    run = store.create_run(a_config(1))
    patch = "\u2028\u0085\x00\ud800\n"
    store.add_attempt(run.id, an_attempt(patch=patch))
    write_predictions(store, run, tmp_path / "p.jsonl")
    content = (tmp_path / "p.jsonl").read_bytes()
    assert content.isascii()
    assert content.count(b"\n") == 1
    assert json.loads(content)["model_patch"] == patch


def test_files_are_replaced_only_on_request(tmp_path, store, run):
    """What is there stays unless its replacement is asked for."""
    file = tmp_path / "preds.jsonl"
    file.write_text("mine")
    with pytest.raises(InputError, match="exists"):
        write_predictions(store, run, file)
    assert file.read_text() == "mine"
    write_predictions(store, run, file, force=True)
    assert file.read_text() != "mine"
    with pytest.raises(InputError, match="directory"):
        write_report(store, run, tmp_path, force=True)


def test_a_failed_export_leaves_nothing(tmp_path, store, run):
    """An export that breaks half-way leaves the old file whole and no draft."""
    file = tmp_path / "out" / "preds.jsonl"
    write_predictions(store, run, file)
    before = file.read_bytes()
    for artefact in (path for path in store.artifacts.directory.rglob("*") if path.is_file()):
        artefact.unlink()
    with pytest.raises(StoreError):
        write_predictions(store, run, file, force=True)
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == ["preds.jsonl"]


def test_a_place_that_cannot_be_written_is_a_store_error(tmp_path, store, run):
    """A path that cannot become a file ends in a clear error."""
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot write an export"):
        write_predictions(store, run, tmp_path / "file" / "preds.jsonl")
