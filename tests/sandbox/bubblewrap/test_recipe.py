"""How installs are spelled."""

import pytest

from sandbox import recipe
from tasks.environment import Environment


def installing(command, **more):
    return recipe.install_lines(Environment(python="3.9", install=command, **more))


@pytest.mark.parametrize(
    "command",
    [
        "python -m pip install -e .",
        "python -m pip install .",
        "pip install --verbose .",
        "python setup.py install",
        "python setup.py build; python setup.py install",
    ],
)
def test_every_install_is_in_place(command):
    """However a project is installed, a patch of its files must count without installing again."""
    (line,) = installing(command)
    assert line.startswith("uv pip install --python /opt/env/bin/python --no-deps -e . ")


def test_an_install_of_the_repository_itself_is_one():
    """Some projects look for themselves on the path, where newer ways put a finder of modules only."""
    (line,) = installing("python setup.py develop")
    assert line.startswith("if [ -f setup.py ]; then /opt/env/bin/python setup.py develop --no-deps ")


def test_extras_are_kept():
    """Extras are part of what is installed, also where they are quoted."""
    (line,) = installing('pip install -e ".[dev,test]"', frozen=False)
    assert "--no-deps" not in line
    assert "-e '.[dev,test]'" in line


def test_a_wish_for_no_build_isolation_is_kept():
    """Projects that build against the environment's own packages say so."""
    (line,) = installing("python -m pip install -v --no-use-pep517 --no-build-isolation -e .")
    assert "--no-build-isolation -e ." in line


def test_other_commands_are_left_alone():
    """What is no install of the repository runs as it is."""
    assert installing("make world && echo 'a; b'") == ["make world && echo 'a; b'"]
    assert installing("make world && pip install wheel") == ["make world", "pip install wheel"]


def test_nothing_to_install_is_nothing():
    """An environment may have no install command."""
    assert installing("") == []


@pytest.mark.parametrize(
    ("described", "version"),
    [
        ("v2.27.0", "2.27.0"),
        ("2.2.3-71-g7ee9ceb7", "2.2.4.dev71+g7ee9ceb7"),
        ("6.2.0.dev0-154-ga7e38c5c6", "6.2.0.dev154+ga7e38c5c6"),
        ("release-1.9-3-gabc", "1.10.dev3+gabc"),
        ("1.0rc1-2-gabc", "1.0rc2.dev2+gabc"),
    ],
)
def test_versions_of_commits_between_releases(described, version):
    """What `git describe` says becomes a version that packaging tools accept."""
    assert recipe.scm_version(described) == version
