"""How an `Environment` is built: shell scripts, the same whatever holds the result.

They run with the interpreter at `/opt/python`, make the virtual environment `/opt/env`, install the
repository at `/testbed`, and find `uv` on `PATH`.
"""

import re
import shlex

from tasks.environment import Environment

PYTHON = "/opt/python"
ENV = "/opt/env"
TESTBED = "/testbed"

LEGACY = {"3.6", "3.7"}
"""Python versions too old for `uv`, with the last pip that serves them."""

BUILD_CONSTRAINTS = "setuptools<=75.1"
"""Projects that do not pin their build tools were released against older ones; this one still builds them and
knows editable installs."""

FIXED_TIME = 946684800
"""Modification time of all files of a prepared repository (2000-01-01): one written later always differs."""


def dependencies(environment: Environment) -> str:
    """Makes `/opt/env` with the packages."""
    flags = "--no-deps " if environment.frozen else ""
    if is_legacy(environment):
        make = [
            f"{PYTHON}/bin/python -m venv {ENV}",
            f"{ENV}/bin/python -m pip install 'pip==21.3.1' 'setuptools<60' 'wheel<0.38'",
        ]
        install = f"{ENV}/bin/python -m pip install {flags}-r /tmp/requirements.txt"
    else:
        make = [f"uv venv --allow-existing --python {PYTHON}/bin/python {ENV}"]
        install = constrained_first(f"{uv_install()} {flags}-r /tmp/requirements.txt")
    return script(
        *make,
        f"echo {shlex.quote(BUILD_CONSTRAINTS)} > /tmp/constraints.txt",
        f"printf '%s\\n' {shlex.join(environment.packages)} > /tmp/requirements.txt",
        *([install] if environment.packages else []),
        compile_all(f"{ENV}/lib"),
    )


def repository(environment: Environment) -> str:
    """Installs `/testbed` into `/opt/env` so that tests see its files in place, whatever is patched later.

    Then makes its files old and fills the caches of bytecode, pytest's own of rewritten assertions included.
    It is no failure if that meets files that do not compile, or tests that cannot be collected.
    """
    return script(
        f"cd {TESTBED}",
        f"echo {shlex.quote(BUILD_CONSTRAINTS)} > /tmp/constraints.txt",
        *environment.pre_install,
        *install_lines(environment),
        f"find {TESTBED} -exec touch --no-dereference --date=@{FIXED_TIME} {{}} +",
        compile_all(f"{TESTBED} {ENV}/lib"),
        *([collect_tests()] if environment.runner == "pytest" else []),
    )


def install_lines(environment: Environment) -> list[str]:
    """The install command, with editable installs in place of those that copy."""
    commands = re.split(r"&&|;", environment.install)
    try:
        return [line for command in commands if (line := install_line(command.strip(), environment))]
    except ValueError:  # a quoted separator: nothing an ordinary install has
        return [environment.install]


def install_line(command: str, environment: Environment) -> str:
    """The editable install that has the effect of `command`; other commands as they are."""
    words = shlex.split(command)
    if "develop" in words and not is_legacy(environment):
        return in_place(environment)
    if "setup.py" in words:
        return "" if "build" in words else editable(".", environment)
    if "pip" in words and "install" in words:
        target = next((word for word in words if re.fullmatch(r"\.(\[.*\])?", word)), None)
        if target:
            return editable(target, environment, isolated="--no-build-isolation" not in words)
    return command


def editable(target: str, environment: Environment, isolated: bool = True) -> str:
    """Tries, in this order: build tools of the past, those the project asks for, the environment's own."""
    flags = "--no-deps " if environment.frozen else ""
    legacy = f"{ENV}/bin/python -m pip install {flags}-e {shlex.quote(target)}"
    if is_legacy(environment):
        return legacy
    install = f"{uv_install()} {flags}{'' if isolated else '--no-build-isolation '}-e {shlex.quote(target)}"
    return f"{constrained_first(install)} || {{ {in_place(environment)}; }}"


def in_place(environment: Environment) -> str:
    """The editable install of old: it puts the repository itself on the path, which some tests look at."""
    flags = "--no-deps " if environment.frozen else ""
    develop = f"{ENV}/bin/python setup.py develop {flags}"
    without_script = f"{ENV}/bin/python -c 'import setuptools; setuptools.setup()' develop {flags}"
    return f"if [ -f setup.py ]; then {develop}; else {without_script}; fi"


def collect_tests() -> str:
    collect = f"timeout 300 {ENV}/bin/python -m pytest --collect-only -qq -p no:cacheprovider"
    return f"cd {TESTBED} && {collect} || true"


def constrained_first(install: str) -> str:
    return f"{install} --build-constraints /tmp/constraints.txt || {install}"


def uv_install() -> str:
    return f"uv pip install --python {ENV}/bin/python"


def compile_all(directories: str) -> str:
    """Bytecode of whatever compiles: test data may hold files that are no Python of this version."""
    return f"{ENV}/bin/python -m compileall -q {directories} > /dev/null || true"


def script(*lines: str) -> str:
    return "\n".join(("set -eu", *lines, ""))


def is_legacy(environment: Environment) -> bool:
    return ".".join(environment.python.split(".")[:2]) in LEGACY


def scm_version(described: str) -> str:
    """Version for what `git describe` says, by the rule of setuptools-scm: `1.2-4-gabc` is before 1.3."""
    match = re.fullmatch(r"(.+)-(\d+)-(g[0-9a-f]+)", described)
    tag, distance, commit = match.groups() if match else (described, "", "")
    tag = re.sub(r"^\D*(?=\d)", "", tag)
    if not match:
        return tag
    if re.search(r"\.dev\d*$", tag):
        upcoming = re.sub(r"\.dev\d*$", "", tag)
    else:
        upcoming = re.sub(r"\d+$", lambda number: str(int(number[0]) + 1), tag)
    return f"{upcoming}.dev{distance}+{commit}"
