"""The command line as its users meet it: results, complaints, interruptions, and terminals to protect."""

import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
from rude_server import Rude, reply, rude_server
from toy_model import asked, toy_model
from toy_set import ENVIRONMENT, ToySet, write

from evaluator.cli.app import app, main
from results.store import Store

ASSAY = Path(sys.executable).with_name("assay")
PATIENCE_S = 300
HOSTILE = "\x1b[31mred\x1b]0;owned\x07 [bold]loud[/bold] \u202eback"


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Assay = Callable[..., Done]


@pytest.fixture
def assay(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Assay:
    """Runs the command in this process, in an empty directory, with no endpoint known."""
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "ASSAY_OUTPUT"):
        monkeypatch.delenv(name, raising=False)

    def run(*words: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["assay", *map(str, words)])
        capsys.readouterr()
        status: Any = 0
        try:
            main()
        except SystemExit as end:
            status = end.code or 0
        return Done(status, *capsys.readouterr())

    return run


def installed(*words: object) -> Done:
    """Runs the installed command."""
    done = subprocess.run([ASSAY, *map(str, words)], capture_output=True, text=True, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def on_terminal(*words: object) -> str:
    """What a terminal gets to see of the installed command."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [ASSAY, *map(str, words)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm"},
    )
    os.close(theirs)
    seen = b""
    try:
        while part := os.read(ours, 1 << 16):
            seen += part
    except OSError:  # how a pseudo-terminal says that the other side is gone
        pass
    os.close(ours)
    assert process.wait() == 0, seen
    return seen.decode()


def of(toys: ToySet) -> tuple[object, ...]:
    return "-d", toys.file, "--repo-url", toys.repo_url, "--sandbox", "bubblewrap"


@pytest.fixture(scope="module")
def kept(toys: ToySet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a run of gold, over two tasks."""
    folder = tmp_path_factory.mktemp("kept") / "runs"
    done = installed("run", "--solver", "gold", "--limit", 2, *of(toys), "-o", folder)
    assert done.status == 0, done.err
    return folder


def commands() -> Iterator[tuple[str, ...]]:
    """Every command there is, as one types it."""

    def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, (*path, name))
        if not hasattr(command, "commands"):
            yield path

    return walk(typer.main.get_command(app), ())


@pytest.mark.parametrize("path", list(commands()), ids=" ".join)
def test_help_shows_an_example(path: tuple[str, ...], assay: Assay) -> None:
    """Every command can be copied from its own help."""
    done = assay(*path, "--help")
    typed = path[:-1] if path[-1] == "list" else path  # a bare noun lists
    assert done.status == 0
    assert f"\n  assay {' '.join(typed)}" in done.out


PRICED = "run -d SET -m x --base-url http://h/v1 --price-in 1"
BAD_ROW = '{"instance_id": "a b", "repo": "nothing"}\nnonsense\n'


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("run --solver gold -d nosuch", "nosuch is no set of tasks"),
        ("run --solver gold -d bad.jsonl", "bad.jsonl line 2: row: not JSON"),
        ("run --solver gold -d SET -i toy__shape-1", "closest: toy__shapes-1"),
        ("run --solver gold -d SET --filter zzz", "matches zzz"),
        ("run --solver gold -d SET --filter [", "no regular expression"),
        ("run --solver gold -d SET --sandbox chroot", "--sandbox"),
        ("run --solver gold -d SET -m gpt", "--model says nothing to it"),
        ("run --solver gold -d SET --repo-url file:///{x}", "placeholders are {owner}"),
        ("run --solver gold -d SET -o bad.jsonl", "is a file"),
        ("run --solver agent -d SET", "'oneshot', 'gold', 'noop', 'replay'"),
        ("run --solver replay -d SET", "--predictions is missing"),
        ("run -d SET", "--model is missing"),
        ("run -d SET -m x", "Give --base-url"),
        ("run -d SET -m x --base-url ftp://x", "It starts with http"),
        (PRICED, "Give --price-in and --price-out"),
        (f"{PRICED} --price-out 1 --gpu-price 2", "would pay twice"),
        (f"{PRICED} --price-out cheap", "--price-out cheap"),
        ("run --resume latest", "no runs are kept in assay-results"),
        ("grade nofile.jsonl -d SET", "No such file"),
        ("grade bad.jsonl -d SET", "bad.jsonl line 2: row: not JSON"),
        ("runs show", "no runs are kept in assay-results"),
        ("runs export latest", "no runs are kept in assay-results"),
        ("tasks show nope -d SET", "nope"),
        ("frobnicate", "frobnicate"),
    ],
)
def test_a_mistake_gets_one_message_and_a_way_out(
    words: str, told: str, toys: ToySet, assay: Assay, tmp_path: Path
) -> None:
    """It names what is wrong and what to do, exits with 2, and leaves nothing behind."""
    (tmp_path / "bad.jsonl").write_text(BAD_ROW)
    done = assay(*(toys.file if word == "SET" else word for word in words.split()))
    complaint = done.err.strip().splitlines()
    assert (done.status, done.out) == (2, "")
    assert told in done.err
    assert sum(line.lower().startswith("error: ") for line in complaint) == 1
    assert len(complaint) > 1
    assert [path.name for path in tmp_path.iterdir()] == ["bad.jsonl"]


def test_the_installed_command_never_shows_a_traceback() -> None:
    """Nor anything but its complaint."""
    done = installed("run", "--solver", "gold", "-d", "nosuch")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("error: ") and "Traceback" not in done.err


def test_a_store_that_cannot_be_written_says_so(toys: ToySet, assay: Assay) -> None:
    """Before anything runs."""
    done = assay("run", "--solver", "gold", *of(toys), "-o", "/proc/nowhere")
    assert done.status == 7
    assert "/proc/nowhere" in done.err and "Traceback" not in done.err


def test_looking_for_runs_where_there_are_none_makes_none(assay: Assay, tmp_path: Path) -> None:
    """The list says how to make the first, its JSON is empty, and no directory appears."""
    assert "`assay run` makes the first one" in assay("runs").out
    assert assay("runs", "-o", "elsewhere", "--json").json == []
    assert not list(tmp_path.iterdir())


def test_a_run_says_what_it_uses_and_what_came_of_it(toys: ToySet, assay: Assay) -> None:
    """Tasks, solver and sandbox before it begins; plain lines and the whole summary, in JSON on request."""
    done = assay("run", "--solver", "noop", "--limit", 1, *of(toys), "--json")
    assert done.status == 0
    assert "1 task of " in done.err and "Solver noop; no model is asked" in done.err
    assert "Sandbox bubblewrap" in done.err and "1/1 done · 0 resolved" in done.err
    assert "\x1b" not in done.err
    assert (done.json["done"], done.json["rate"]["value"]) == (1, 0.0)


def test_oracle_context_is_marked_before_and_after(toys: ToySet, assay: Assay) -> None:
    """An advantage no user has stands above the numbers, and so does a model that is none."""
    with toy_model(toys.tasks) as model:
        words = ("-m", "assay-demo-90", "--base-url", model.base_url, "--context", "oracle", "--limit", 1)
        done = assay("run", *words, *of(toys))
    assert done.status == 0
    assert "Context ORACLE" in done.err and "! Oracle context" in done.out
    assert "! Demo model" in done.out


@pytest.mark.parametrize(
    "words",
    [
        ("runs", "-o", "KEPT", "--json"),
        ("runs", "show", "-o", "KEPT", "--json"),
        ("runs", "show", "latest", "-i", "toy__shapes-0", "-o", "KEPT", "--json"),
        ("runs", "attempts", "-o", "KEPT", "--json"),
        ("runs", "export", "latest", "-o", "KEPT", "--json"),
        ("run", "--resume", "latest", "-o", "KEPT", "--json"),
        ("tasks", "-d", "SET", "--json"),
        ("tasks", "show", "toy__shapes-0", "-d", "SET", "--json"),
        ("doctor", "--json"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_json_is_json_and_nothing_else(
    words: tuple[str, ...], toys: ToySet, kept: Path, assay: Assay
) -> None:
    """Standard output parses as a whole."""
    places = {"KEPT": kept, "SET": toys.file}
    done = assay(*(places.get(word, word) for word in words))
    assert done.status == 0, done.err
    assert done.json


def test_the_cache_is_listed_and_cleared_by_kind(
    assay: Assay, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One kind at a time, only what is there, and everything else stays."""
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    for kind in ("mirrors", "trees"):
        (tmp_path / "cache" / kind).mkdir(parents=True)
        (tmp_path / "cache" / kind / "file").write_bytes(b"x" * 100_000)
    listed = assay("cache", "--json").json
    assert listed["root"] == str(tmp_path / "cache") and listed["bytes"]["trees"] >= 100_000
    refused = assay("cache", "clear", "everything")
    assert refused.status == 2 and "It holds" in refused.err
    assert assay("cache", "clear", "trees").status == 0
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["mirrors"]


def test_the_patch_and_the_log_come_out_whole(toys: ToySet, kept: Path) -> None:
    """`--patch` prints what was submitted, byte for byte, and `--log` what the tests printed."""
    attempt = ("runs", "show", "latest", "-o", kept, "-i", toys.names[0])
    assert installed(*attempt, "--patch").out == toys.tasks[0].patch
    assert "test_area" in installed(*attempt, "--log").out


def test_an_attempt_is_shown_with_all_that_it_rests_on(toys: ToySet, kept: Path, assay: Assay) -> None:
    """Verdict, tests, patch and output, in plain lines."""
    done = assay("runs", "show", "latest", "-o", kept, "-i", toys.names[0])
    assert done.status == 0 and "\x1b" not in done.out
    for part in ("RESOLVED", "1 of 1 pass", "+    return width * height", "bubblewrap"):
        assert part in done.out


def test_rewards_come_with_the_policy_they_follow(toys: ToySet, kept: Path, assay: Assay) -> None:
    """Of a run as a table with the explanations, of each attempt as a number beside the version."""
    page = assay("runs", "show", "-o", kept, "--explain").out
    assert "what a verdict is worth, policy 1" in page
    assert any(row.split()[-1:] == ["none"] and "INFRA_ERROR" in row for row in page.splitlines())
    record = assay("runs", "show", "-o", kept, "-i", toys.names[0], "--json").json
    assert (record["reward"], record["policy"], record["official"]) == (1.0, "1", "resolved")


def test_an_attempt_shows_every_check_of_the_judge(toys: ToySet, kept: Path, assay: Assay) -> None:
    """All of them were met by a resolved one; the control tests are among them."""
    page = assay("runs", "show", "-o", kept, "-i", toys.names[0]).out
    checks = page.partition("checks\n")[2].partition("evidence\n")[0].strip().splitlines()
    assert len(checks) >= 12
    assert all(row.split()[0] == "yes" for row in checks)
    assert any("control test" in row for row in checks)


def test_attempts_are_listed_by_verdict(toys: ToySet, kept: Path, assay: Assay) -> None:
    """One line each, with what was asked of it and what it did."""
    listed = assay("runs", "attempts", "-o", kept).out.splitlines()
    assert [row.split()[:6] for row in listed[1:]] == [
        [name, "RESOLVED", "resolved", "resolved", "1/1", "1/1"] for name in toys.names[:2]
    ]
    assert len(assay("runs", "attempts", "-o", kept, "--verdict", "TAMPERED").out.splitlines()) == 1


@pytest.mark.parametrize("kind", ["predictions", "report", "logs", "attempts"])
def test_every_export_is_written_and_none_replaced(
    kind: str, kept: Path, assay: Assay, tmp_path: Path
) -> None:
    """What is there already stays, unless asked otherwise."""
    words = ("runs", "export", "latest", "-k", kind, "-f", tmp_path / "export", "-o", kept)
    assert assay(*words).status == 0
    assert (tmp_path / "export").exists()
    refused = assay(*words)
    assert refused.status == 2 and "--force" in refused.err
    assert assay(*words, "--force").status == 0


def test_exported_predictions_grade_as_before(toys: ToySet, kept: Path, assay: Assay, tmp_path: Path) -> None:
    """What `runs export` writes, `grade` reads, and the verdicts are the same."""
    assert assay("runs", "export", "latest", "-f", tmp_path / "preds.jsonl", "-o", kept).status == 0
    done = assay("grade", tmp_path / "preds.jsonl", *of(toys), "--json")
    assert done.status == 0, done.err
    assert (done.json["solver"], done.json["total"], done.json["verdicts"]["RESOLVED"]) == ("replay", 2, 2)


def test_several_predictions_for_a_task_are_its_samples(toys: ToySet, assay: Assay, tmp_path: Path) -> None:
    """Each is graded, not just the first."""
    rows = [
        {"instance_id": toys.names[0], "model_patch": patch} for patch in (toys.tasks[0].patch, "nonsense")
    ]
    (tmp_path / "preds.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = assay("grade", tmp_path / "preds.jsonl", *of(toys), "--json")
    assert done.status == 0, done.err
    assert (done.json["verdicts"]["RESOLVED"], done.json["verdicts"]["INVALID_PATCH"]) == (1, 1)


def test_lines_for_programs_are_never_broken(toys: ToySet, assay: Assay, tmp_path: Path) -> None:
    """A row is a line, however long, where the output is no terminal."""
    version = "v" * 150
    dataset = write(tmp_path / "long.jsonl", toys.tasks[0], version=version)
    assert any(
        toys.names[0] in row and version in row for row in assay("tasks", "-d", dataset).out.splitlines()
    )


def hostile(toys: ToySet, folder: Path) -> Path:
    """A task whose every text is an attack on the terminal; its own fix carries one too."""
    (task, *_) = toys.tasks
    patch = task.patch.replace("+    return width * height", f"+    return width * height  # {HOSTILE}")
    return write(folder / "hostile.jsonl", task, problem_statement=HOSTILE, patch=patch, version=HOSTILE)


def test_foreign_text_never_steers_a_terminal(toys: ToySet, tmp_path: Path) -> None:
    """Issue, version and patch show their escape codes and markup as text, the live line is ours alone."""
    dataset, runs = hostile(toys, tmp_path), tmp_path / "runs"
    task = ("-d", dataset, "--repo-url", toys.repo_url)
    attempt = ("runs", "show", "-o", runs, "-i", toys.names[0])
    seen = [
        on_terminal("run", "--solver", "gold", "--sandbox", "bubblewrap", *task, "-o", runs),
        on_terminal("tasks", "show", toys.names[0], "-d", dataset),
        on_terminal(*attempt),
        on_terminal(*attempt, "--patch"),
    ]
    for screen in seen:
        assert "\x1b]0" not in screen and "\x1b[31mred" not in screen and "\u202e" not in screen
    for screen in seen[1:]:
        assert "[bold]loud[/bold]" in screen and "\\x1b]0;owned" in screen
    assert "\x1b[?25h" in seen[0] and "0/1 done" in seen[0]


def test_a_wrong_key_is_one_line_and_exit_code_6(
    toys: ToySet, assay: Assay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key is not in it, and what to do then is: everything is kept."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    wrong = reply({"error": {"message": "Incorrect API key: sk-very-secret"}}, 401)
    with rude_server(wrong) as model:
        words = ("-m", "m", "--base-url", model.base_url, "--concurrency", 1)
        done = assay("run", *words, *of(toys), "--context", "oracle")
        assert len(model.asked) == 1
    assert (done.status, done.out) == (6, "")
    assert done.err.count("error: ") == 1 and "HTTP 401" in done.err and "OPENAI_API_KEY" in done.err
    assert "sk-very-secret" not in done.err
    assert "assay run --resume " in done.err


def test_attempts_lost_to_the_machine_are_an_exit_code_of_their_own(
    toys: ToySet, assay: Assay, tmp_path: Path
) -> None:
    """The summary is printed, and then that it is not the whole."""
    broken = toys.tasks[0].model_copy(
        update={"environment": ENVIRONMENT.model_copy(update={"install": "exit 8"})}
    )
    words = ("-d", write(tmp_path / "broken.jsonl", broken), "--repo-url", toys.repo_url)
    done = assay("run", "--solver", "gold", *words, "--sandbox", "bubblewrap", "-o", "runs")
    assert done.status == 5
    assert "INFRA_ERROR" in done.out and "assay run --resume " in done.err


def test_resuming_a_finished_run_only_prints_its_summary(toys: ToySet, kept: Path, assay: Assay) -> None:
    """Nothing is begun, not even a session."""
    done = assay("run", "--resume", "latest", "-o", kept)
    assert (done.status, done.err) == (0, "")
    assert "2 of 2" in done.out
    with Store.open(kept) as store:
        assert len(store.sessions(store.run("latest").id)) == 1


def test_a_resumed_run_keeps_its_settings(kept: Path, assay: Assay) -> None:
    """Whatever changes a number is refused by the flag that was typed."""
    done = assay("run", "--resume", "latest", "-o", kept, "-n", 3, "--seed", 5, "-j", 1)
    assert done.status == 2
    assert "drop --samples, --seed" in done.err and "--workers" not in done.err


def test_a_run_whose_tasks_changed_is_not_resumed(toys: ToySet, assay: Assay, tmp_path: Path) -> None:
    """Attempts judged differently do not mix."""
    dataset = write(tmp_path / "set.jsonl", *toys.tasks[:2])
    words = ("-d", dataset, "--repo-url", toys.repo_url, "--sandbox", "bubblewrap", "-o", "runs")
    wrong = reply({"error": {"message": "no"}}, 401)
    with rude_server(wrong) as model:
        assert (
            assay("run", "-m", "m", "--base-url", model.base_url, "--context", "oracle", *words).status == 6
        )
    write(tmp_path / "set.jsonl", *toys.tasks[:2], problem_statement="something else")
    done = assay("run", "--resume", "latest", "-o", "runs")
    assert done.status == 2 and "taskset_digest" in done.err


def interrupted(model: Rude, toys: ToySet, folder: Path) -> subprocess.Popen[str]:
    """A run that got a Ctrl-C while its first two requests were under way, and has heard it."""
    words = ("run", "-m", "assay-demo-90", "--base-url", model.base_url, "--concurrency", 2)
    process = subprocess.Popen(
        [ASSAY, *map(str, (*words, *of(toys), "--context", "oracle", "-o", folder))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + PATIENCE_S
    while len(model.asked) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.stderr
    while "Waiting for 2 answers" not in (line := process.stderr.readline()):
        assert line, "it ended without a word"
    assert "Ctrl-C now leaves" in line
    return process


def test_ctrl_c_finishes_what_is_paid_for_and_says_how_to_go_on(
    toys: ToySet, assay: Assay, tmp_path: Path
) -> None:
    """No request is lost, nothing new is asked, and the resumed run asks only for what is missing."""
    answering = threading.Event()
    with toy_model(toys.tasks, wait=answering.wait) as model:
        with interrupted(model, toys, tmp_path / "runs") as process:
            answering.set()
            _, told = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130, told
        assert "Traceback" not in told and "assay run --resume " in told
        with Store.open(tmp_path / "runs") as store:
            run = store.run("latest")
            assert {attempt.instance_id for attempt in store.attempts(run.id)} == set(toys.names[:2])
            assert [request.outcome for request in store.requests(run.id)] == ["ok", "ok"]
            assert not store.records(run.id)
        done = assay("run", "--resume", "latest", "-o", tmp_path / "runs", "--json")
        assert (done.status, done.json["done"]) == (0, len(toys.tasks)), done.err
        assert sorted(asked(model, toys.tasks)) == [(name, 0) for name in toys.names]


def test_a_second_ctrl_c_leaves_at_once(toys: ToySet, tmp_path: Path) -> None:
    """Requests nobody waits for any more are on record as such."""
    with rude_server("hang") as model, interrupted(model, toys, tmp_path / "runs") as process:
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130
        assert "assay run --resume " in told
        with Store.open(tmp_path / "runs") as store:
            requests = store.requests(store.run("latest").id)
            assert [request.outcome for request in requests] == ["in flight"] * 2
