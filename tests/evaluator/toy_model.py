"""The demo model behind a server that keeps a list of what it was asked."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rude_server import Reply, Rude, reply, rude_server

from evaluator.demo import serve
from evaluator.demo.answers import find
from tasks.task import Task


@contextmanager
def toy_model(
    tasks: Sequence[Task], *first: Reply | str, wait: Callable[[], object] = lambda: None
) -> Iterator[Rude]:
    """Gives the replies `first`, then answers as the demo model does, each time after `wait`."""
    with serve(tasks) as demo:

        def forward(handler: Any) -> None:
            wait()
            request = urllib.request.Request(
                f"{demo.base_url}/chat/completions", json.dumps(handler.asked).encode()
            )
            try:
                with urllib.request.urlopen(request) as answer:
                    reply(json.load(answer))(handler)
            except urllib.error.HTTPError as error:
                reply(json.load(error), error.code)(handler)

        with rude_server(*first, forward) as rude:
            yield rude


def asked(rude: Rude, tasks: Sequence[Task]) -> list[tuple[str, int]]:
    """Instance and seed of every request, in order."""
    questions = [(find(tasks, body["messages"][-1]["content"]), body["seed"]) for body in rude.asked]
    return [(task.instance_id, seed) for task, seed in questions if task]
