"""The demo model over real HTTP."""

import asyncio
import json
import subprocess
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from bills import into

from evaluator.answer import extract
from evaluator.demo import MODELS, serve
from evaluator.demo.answers import Answer, answer
from evaluator.demo.spoil import break_header, spoil
from evaluator.patch import parse_patch
from evaluator.paths import PatchError
from evaluator.solvers import make
from results.record import Attempt, Request
from tasks.errors import InputError
from tasks.task import Task

BEFORE = "".join(f"line {number}\n" for number in range(40))
AFTER = BEFORE.replace("line 3\n", "line three\n").replace("line 30\n", "line thirty\nand more\nand more\n")


def diff(old: str, new: str, folder: Path) -> str:
    (folder / "old").write_text(old)
    (folder / "new").write_text(new)
    done = subprocess.run(
        ["git", "diff", "--no-index", "old", "new"], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.stdout.replace("a/old", "a/pkg/mod.py").replace("b/new", "b/pkg/mod.py")


@pytest.fixture
def tasks(tmp_path: Path) -> list[Task]:
    patch = diff(BEFORE, AFTER, tmp_path)
    return [
        Task(
            instance_id=f"a__b-{number}",
            repo="a/b",
            base_commit="0" * 40,
            problem_statement=f"Line {number} of the file is wrong" + "!" * number,
            patch=patch,
            test_patch="",
            fail_to_pass=("t",),
            pass_to_pass=(),
        )
        for number in range(40)
    ]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "repo" / "pkg").mkdir(parents=True)
    (tmp_path / "repo" / "pkg" / "mod.py").write_text(BEFORE)
    return tmp_path / "repo"


def post(url: str, body: Any) -> tuple[int, dict[str, Any], Any]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data)) as answer:
            return answer.status, json.load(answer), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, json.load(error), error.headers


def question(task: Task, seed: int = 0, model: str = "assay-demo") -> dict[str, Any]:
    return {
        "model": model,
        "seed": seed,
        "messages": [{"role": "user", "content": f"Fix:\n{task.problem_statement}\n"}],
    }


def scored(base_url: str, tasks: list[Task], tree: Path, model: str) -> tuple[list[Attempt], list[Request]]:
    bills: list[Request] = []

    async def run() -> list[Attempt]:
        solver = make("oneshot", {"model": model, "base_url": base_url, "price_in": "1", "price_out": "4"})
        try:
            return await asyncio.gather(*(solver.solve(task, 0, tree, into(bills)) for task in tasks))
        finally:
            await solver.close()

    return asyncio.run(run()), bills


def test_oneshot_scores_the_demo_model(tasks: list[Task], tree: Path) -> None:
    """Over HTTP answers of every kind come back, about as many right as the name says, all of them billed."""
    with serve(tasks) as demo:
        attempts, bills = scored(demo.base_url, tasks, tree, "assay-demo-60")
    right = sum(attempt.patch == tasks[0].patch for attempt in attempts)
    assert 14 <= right <= 34
    notes = Counter(attempt.note for attempt in attempts)
    assert notes["empty answer"] and notes["the answer was cut at the token limit"]
    assert len(bills) == 40
    assert all(bill.usage is not None and bill.cost for bill in bills)


def test_the_same_question_has_the_same_answer(tasks: list[Task], tree: Path) -> None:
    """Two servers with one seed agree on every answer; another seed does not."""

    def texts(seed: int) -> list[str]:
        with serve(tasks, seed=seed) as demo:
            return [
                post(f"{demo.base_url}/chat/completions", question(task))[1]["choices"][0]["message"][
                    "content"
                ]
                for task in tasks
            ]

    first = texts(1)
    assert first == texts(1)
    assert first != texts(2)


def test_samples_of_a_task_differ(tasks: list[Task]) -> None:
    """The request's seed draws anew, so that n samples are n answers."""
    kinds = {answer(tasks[0], "assay-demo", 0, seed).kind for seed in range(60)}
    assert kinds == {"good", "wrong", "malformed", "empty", "truncated"}


def test_skill_is_in_the_name(tasks: list[Task]) -> None:
    """A model is right about as often as its name promises."""
    for model, percent in MODELS.items():
        good = sum(answer(task, model, 0, seed).kind == "good" for task in tasks for seed in range(10))
        assert abs(good / 4 - percent) < 10


def test_it_says_what_it_is_everywhere(tasks: list[Task]) -> None:
    """Header, model card, fingerprint and every text tell that this is a demonstration."""
    with serve(tasks) as demo:
        _, body, headers = post(f"{demo.base_url}/chat/completions", question(tasks[0]))
        with urllib.request.urlopen(f"{demo.base_url}/models") as listed:
            cards = json.load(listed)["data"]
    assert "demo" in headers["Server"]
    assert "demo" in body["system_fingerprint"]
    assert {card["id"] for card in cards} == set(MODELS)
    assert all("demo" in card["id"] and "reference fixes" in card["owned_by"] for card in cards)
    given = [answer(tasks[0], "assay-demo", 0, seed) for seed in range(60)]
    assert all("demonstration" in each.text for each in given if each.kind != "empty")


def test_an_unknown_bug_is_not_answered(tasks: list[Task]) -> None:
    """Asked about anything else, it says that it does not know."""
    assert answer(None, "assay-demo", 0, 0).kind == "unknown"
    with serve(tasks) as demo:
        asked = {"model": "assay-demo", "messages": [{"role": "user", "content": "hello"}]}
        _, body, _ = post(f"{demo.base_url}/chat/completions", asked)
    assert "```" not in body["choices"][0]["message"]["content"]


def test_the_longest_statement_wins(tasks: list[Task]) -> None:
    """A statement that contains another one's is not mistaken for it."""
    texts = {task.instance_id: answer(task, "assay-demo-90", 0, 0).text for task in tasks}
    inner = tasks[0].model_copy(
        update={"instance_id": "in__ner-1", "problem_statement": "of the file is wrong"}
    )
    with serve([inner, *tasks]) as demo:
        _, body, _ = post(f"{demo.base_url}/chat/completions", question(tasks[5], model="assay-demo-90"))
    assert body["choices"][0]["message"]["content"] == texts["a__b-5"]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/chat/completions", b"not json", 400),
        ("/chat/completions", [], 400),
        ("/chat/completions", {"model": "assay-demo"}, 400),
        ("/chat/completions", {"model": "assay-demo", "messages": [{"content": None}]}, 400),
        ("/chat/completions", {"model": "gpt-4o", "messages": [{"content": "x"}]}, 404),
        ("/embeddings", {}, 404),
    ],
)
def test_a_bad_request_is_told_as_openai_would(path: str, body: Any, status: int, tasks: list[Task]) -> None:
    """Errors are JSON with a message, and the server lives on."""
    with serve(tasks) as demo:
        code, content, _ = post(demo.base_url + path, body)
        assert code == status and content["error"]["message"]
        assert post(f"{demo.base_url}/chat/completions", question(tasks[0]))[0] == 200


def test_a_port_in_use_is_the_users_mistake(tasks: list[Task]) -> None:
    """A second server on the same port is refused with a remedy."""
    with serve(tasks) as demo:
        port = int(demo.base_url.split(":")[2].split("/")[0])
        with pytest.raises(InputError, match=str(port)), serve(tasks, port=port):
            pass


def test_a_spoiled_patch_applies_and_lacks_the_largest_hunk(tasks: list[Task], tree: Path) -> None:
    """A wrong answer is a patch like any other, less the change that matters most."""
    subprocess.run(["git", "apply"], input=spoil(tasks[0].patch).encode(), cwd=tree, check=True)
    changed = (tree / "pkg" / "mod.py").read_text()
    assert "line three\n" in changed and "line thirty" not in changed


@pytest.mark.parametrize(("old", "new"), [(BEFORE, BEFORE + "end"), ("a", "b"), ("a\n", ""), ("", "a\n")])
def test_a_patch_of_one_hunk_is_spoiled_into_a_comment(
    old: str, new: str, tree: Path, tmp_path: Path
) -> None:
    """With nothing to leave out, the wrong answer adds a comment and keeps every line."""
    (tree / "pkg" / "mod.py").write_text(old)
    subprocess.run(["git", "apply"], input=spoil(diff(old, new, tmp_path)).encode(), cwd=tree, check=True)
    lines = (tree / "pkg" / "mod.py").read_text().splitlines()
    assert [line for line in lines if not line.startswith("# ")] == old.splitlines()
    assert len(lines) == len(old.splitlines()) + 1


def test_a_broken_header_is_no_patch(tasks: list[Task]) -> None:
    """A malformed answer is one the intake refuses."""
    with pytest.raises(PatchError):
        parse_patch(break_header(tasks[0].patch))


def test_a_truncated_answer_ends_inside_its_diff(tasks: list[Task]) -> None:
    """What is cut is the diff, and the finish reason says that a limit did it."""
    cut: list[Answer] = [
        each for seed in range(60) if (each := answer(tasks[0], "assay-demo", 0, seed)).kind == "truncated"
    ]
    assert cut
    assert all(
        each.finish_reason == "length" and each.text.count("```") == 1 and "@@" in each.text for each in cut
    )


def test_a_good_answer_is_the_reference_fix_to_the_letter(tasks: list[Task], tmp_path: Path) -> None:
    """Not even a blank line of context at the end is lost on the way through an answer."""
    patch = diff("a\n\nb\n", "c\n\nb\n", tmp_path).rsplit(" b\n", 1)[0].replace("1,3", "1,2")
    task = tasks[0].model_copy(update={"patch": patch})
    given = next(each for seed in range(60) if (each := answer(task, "assay-demo", 0, seed)).kind == "good")
    assert patch.endswith("\n \n")
    assert extract(given.text, tmp_path).patch == patch
