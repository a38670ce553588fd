"""Runs pytest, any from 3.0 on, and reports what happens. Comes after its siblings, see `channel.py`."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sys

    import pytest

    from evaluator.runner.beacons import Beacons
    from evaluator.runner.channel import Channel, begin, end, excerpt
    from evaluator.runner.identity import origin, parts_of_the_runner, replaced

MARKS = ("skip", "skipif", "xfail")


class Reporter:
    """A pytest plugin: tells the channel what pytest tells its terminal reporter."""

    plugins = ()  # type: tuple[object, ...]
    """Those that were there when the session began."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel

    def pytest_sessionstart(self, session: "pytest.Session") -> None:
        config = self.config = session.config
        self.plugins = tuple(config.pluginmanager.get_plugins())
        modules = {name: sys.modules.get(name) for name in RUNNER_MODULES}
        plugins = [
            [str(name), str(getattr(plugin, "__file__", None) or type(plugin).__module__)]
            for name, plugin in config.pluginmanager.list_name_plugin()
            if plugin is not None
        ]
        self.channel.send(
            "start",
            python=sys.version.split()[0],
            pytest=pytest.__version__,
            files={name: str(getattr(module, "__file__", None)) for name, module in modules.items()},
            rootdir=str(getattr(config, "rootdir", "")),
            inifile=str(getattr(config, "inipath", None) or getattr(config, "inifile", None) or ""),
            plugins=plugins,
        )

    def pytest_collectreport(self, report: "pytest.CollectReport") -> None:
        if report.outcome != "passed":
            self.channel.send(
                "broken",
                id=self.name(report.nodeid),
                outcome=report.outcome,
                excerpt=excerpt(report.longrepr),
            )

    def pytest_collection_finish(self, session: "pytest.Session") -> None:
        tests = [[self.name(item.nodeid), marks(item)] for item in session.items]
        self.channel.send("collected", tests=tests)

    def pytest_runtest_logreport(self, report: "pytest.TestReport") -> None:
        facts = {"seconds": round(float(getattr(report, "duration", 0.0)), 4)}  # type: dict[str, object]
        if hasattr(report, "wasxfail"):
            facts["xfail"] = True
        if report.outcome != "passed":
            facts["excerpt"] = excerpt(report.longrepr)
        name = self.name(report.nodeid)
        self.channel.send("test", id=name, when=str(report.when), outcome=str(report.outcome), **facts)

    def name(self, node_id: str) -> str:
        """The id as pytest prints it: relative to where it was started, not to its root directory."""
        return str(self.config.cwd_relative_nodeid(node_id))  # type: ignore[arg-type]

    def late_hooks(self) -> "list[list[str]]":
        """Hooks of plugins that came after the session had begun, with the files of their code."""
        present = self.config.pluginmanager.get_plugins() if self.plugins else ()
        return [
            [name, origin(getattr(plugin, name))]
            for plugin in present
            if not any(plugin is known for known in self.plugins)
            for name in dir(plugin)
            if name.startswith("pytest_") and callable(getattr(plugin, name, None))
        ]


RUNNER_MODULES = ("pytest", "_pytest", "_pytest.main", "_pytest.runner", "_pytest.reports", "pluggy")


def marks(item: "pytest.Item") -> "list[str]":
    """Those that excuse the test from passing."""
    found = [mark for mark in MARKS if mark in item.keywords]
    if getattr(getattr(item, "obj", None), "__unittest_expecting_failure__", False):
        found.append("xfail")
    return found


channel, plan = begin()
sys.argv = ["pytest", *plan["args"]]
import pytest  # noqa: E402

Beacons(channel, plan["files"]).install()
reporter, before = Reporter(channel), parts_of_the_runner()
status = int(pytest.main(plan["args"], plugins=[reporter]))
end(channel, status, replaced=[*replaced(before), *reporter.late_hooks()])
