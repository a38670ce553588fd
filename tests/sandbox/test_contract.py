"""What every backend promises of a run, whether Assay is root or an ordinary user."""

import os
import signal
import subprocess
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from sandbox_sights import processes_with

from sandbox.job import File, Job, Limits
from tasks.errors import InfraError


def test_exit_status_is_the_commands(sh):
    """A command's exit status is reported as it was."""
    assert sh("exit 7").exit_status == 7


def test_death_by_signal_is_reported_as_a_shell_does(sh):
    """A command killed by signal n ends with 128 + n."""
    assert sh("kill -SEGV $$").exit_status == 128 + signal.SIGSEGV


def test_a_missing_program_is_not_a_host_fault(box, prepared):
    """A program that is not there ends with 127, as in a shell."""
    execution = box.run(prepared, Job(("no-such-program",)))
    assert execution.exit_status == 127
    assert b"no-such-program" in execution.output


def test_an_unusable_program_is_not_a_host_fault(box, prepared):
    """A file that cannot be executed ends with 126, as in a shell."""
    assert box.run(prepared, Job(("./hello.py",))).exit_status == 126


def test_stdin_reaches_the_command(sh):
    """The job's input arrives whole and unchanged, however long."""
    content = os.urandom(3_000_000)
    execution = sh("sha256sum", stdin=content)
    digest = subprocess.run(["sha256sum"], input=content, capture_output=True, check=True).stdout
    assert execution.output == digest


def test_input_that_nobody_reads_blocks_nothing(sh):
    """A command may end without reading its input."""
    assert sh("exit 3", stdin=b"x" * 3_000_000).exit_status == 3


def test_output_and_errors_are_kept_byte_for_byte(sh):
    """Output is bytes: what is not UTF-8 arrives unchanged."""
    assert sh(r"printf '\377\000a'; printf '\376' >&2").output == b"\xff\x00a\xfe"


def test_frames_are_apart_from_output(box, prepared):
    """What is written to the descriptor named by {frames} is no output, and output is no frame."""
    program = "import os, sys; os.write(int(sys.argv[1]), b'verdict'); print('passed')"
    execution = box.run(prepared, Job(("python", "-c", program, "{frames}")))
    assert (execution.frames, execution.output) == (b"verdict", b"passed\n")


def test_without_asking_there_is_no_frames_channel(py):
    """A command that does not name {frames} has the three standard descriptors only."""
    execution = py("import os; print(sorted(os.listdir('/proc/self/fd')))")
    listing = b"['0', '1', '2', '3']\n"  # 3 is the listing itself
    assert (execution.output, execution.frames) == (listing, b"")


def test_files_are_written_before_the_command(sh):
    """Files arrive with their content and mode, in directories made for them."""
    files = {"new/deep/tool": File(b"#!/bin/sh\necho made\n", 0o755)}
    assert sh("new/deep/tool", files=files).output == b"made\n"


def test_links_are_made_as_links(sh):
    """A file with a target becomes a symbolic link."""
    assert sh("readlink here", files={"here": File(link="hello.py")}).output == b"hello.py\n"


def test_a_file_replaces_a_link_and_not_its_target(sh):
    """Writing to the place of a symbolic link leaves what it points to alone."""
    execution = sh("cat package/module.py; cat shortcut", files={"shortcut": File(b"mine\n")})
    assert execution.output == b"value = 1\nmine\n"


def test_nothing_is_written_through_a_linked_directory(sh):
    """A path that passes through a symbolic link is refused, not followed."""
    with pytest.raises(InfraError, match="did not start"):
        sh("true", files={"shortcut/module.py": File(b"")})


def test_removed_files_are_gone_with_their_package(sh):
    """A removal takes the directories it empties along, cached bytecode or not."""
    assert sh("ls old 2>/dev/null || echo gone", removals=("old/only.py",)).output == b"gone\n"


def test_a_directory_can_become_a_file(sh):
    """A patch may put a file where a directory was."""
    execution = sh("cat old", removals=("old/only.py",), files={"old": File(b"file\n")})
    assert execution.output == b"file\n"


def test_every_run_starts_from_the_same_tree(sh, prepared):
    """What one run writes, no other sees, and the prepared tree keeps its content."""
    sh("echo changed > package/module.py; rm hello.py; touch extra")
    listing = b"value = 1\n__pycache__\nhello.py\nold\npackage\nshortcut\n"
    assert sh("cat package/module.py; ls").output == listing
    assert (prepared.tree / "package/module.py").read_text() == "value = 1\n"


def test_collected_files_come_back(sh):
    """Files asked for are read after the command ended; absent ones are left out."""
    execution = sh("printf one > a; mkdir d; printf two > d/b", collect=("a", "d/b", "absent"))
    assert execution.collected == {"a": b"one", "d/b": b"two"}


def test_a_link_is_not_followed_when_collecting(sh):
    """A symbolic link in place of a collected file yields nothing."""
    assert sh("ln -s /etc/passwd a", collect=("a",)).collected == {}


def test_words_that_look_like_the_protocols_own_are_just_frames(box, prepared):
    """A command cannot end its run early, or hand in files, by writing what `init` writes."""
    forged = b"00 file 0 3\nabc00 end 0\n"
    program = f"import os, sys; os.write(int(sys.argv[1]), {forged!r}); sys.exit(9)"
    execution = box.run(prepared, Job(("python", "-c", program, "{frames}"), collect=("a",)))
    assert (execution.exit_status, execution.frames, execution.collected) == (9, forged, {})


def test_outside_addresses_are_silent(py):
    """A connection attempt to an outside address times out; it is not answered with 'unreachable'."""
    program = """
import socket
for family, address in ((socket.AF_INET, "10.255.255.1"), (socket.AF_INET6, "2001:db8::1")):
    attempt = socket.socket(family)
    attempt.settimeout(0.2)
    try:
        attempt.connect((address, 80))
    except socket.timeout:
        print("silent")
"""
    assert py(program).output == b"silent\nsilent\n"


def test_loopback_works(py):
    """A server and its client inside one job reach each other, by name too."""
    program = """
import socket
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(("localhost", server.getsockname()[1]))
server.accept()[0].sendall(b"hello")
print(client.recv(5))
"""
    assert py(program).output == b"b'hello'\n"


def test_the_hosts_own_ports_are_out_of_reach(py):
    """What listens on the host's loopback is not what listens on the job's."""
    with __import__("socket").create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        execution = py(f"import socket; print(socket.socket().connect_ex(('127.0.0.1', {port})) != 0)")
    assert execution.output == b"True\n"


def test_names_do_not_resolve(py):
    """A look-up fails by itself, long before a resolver would give up waiting."""
    execution = py(
        "import socket\ntry: socket.getaddrinfo('example.org', 80)\nexcept socket.gaierror: print('no')",
        limits=Limits(wall_s=9),
    )
    assert execution.output == b"no\n"


def test_the_command_is_nobody_special(sh):
    """The command is uid 1000 without any capability, and can gain none."""
    execution = sh("id -u; id -g; grep -E 'CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs' /proc/self/status")
    *ids, inheritable, permitted, effective, ambient, final = execution.output.split(b"\n")[:-1]
    assert ids == [b"1000", b"1000"]
    assert {line.split()[1] for line in (inheritable, permitted, effective, ambient)} == {b"0" * 16}
    assert final == b"NoNewPrivs:\t1"


def test_no_further_user_namespace_can_be_made(sh):
    """The usual way to capabilities, a namespace of one's own, is closed."""
    assert sh("unshare --user true 2>/dev/null || echo refused").output == b"refused\n"


@pytest.mark.parametrize("place", ["/", "/usr", "/etc", "/opt/env", "/opt/python", "/dev"])
def test_the_base_is_read_only(sh, place):
    """Nothing but the repository and the scratch places can be written."""
    assert sh(f"touch {place}/mark 2>/dev/null || echo refused").output == b"refused\n"


@pytest.mark.parametrize("place", ["/testbed", "/tmp", "/dev/shm", "/home/assay"])
def test_the_scratch_places_are_writable(sh, place):
    """Tests may write to the repository, /tmp, shared memory and their home."""
    assert sh(f"touch {place}/mark && echo written").output == b"written\n"


def test_the_hosts_processes_are_not_there(sh):
    """Only `init`, the command and its children have process numbers."""
    assert sh("ls -d /proc/[0-9]* | wc -l").output in (b"3\n", b"4\n")  # init, sh, ls, wc


def test_the_environment_is_an_allow_list(py, monkeypatch):
    """The command's variables are the known ones and the job's; none of the host's."""
    monkeypatch.setenv("ASSAY_TEST_SECRET", "secret")
    execution = py("import os; print(sorted(os.environ))", variables={"GIVEN": "1"})
    names = ["GIVEN", "HOME", "LANG", "PATH", "PYTHONDONTWRITEBYTECODE", "TERM", "TZ"]
    assert execution.output == f"{names}\n".encode()


def test_the_command_cannot_end_init(sh):
    """Signals of the command do not reach the process that watches it."""
    execution = sh("kill -INT 1; kill -TERM 1; kill -KILL 1; exit 5")
    assert execution.exit_status == 5


def test_the_command_cannot_look_into_init(sh):
    """The memory and the descriptors of the process that knows the protocol's secret are closed."""
    execution = sh("cat /proc/1/environ /proc/1/maps; readlink /proc/1/fd/*; echo x > /proc/1/fd/3")
    assert execution.output.count(b"Permission denied") == 3
    assert execution.frames == b""


def test_daemons_of_the_command_are_ended(sh):
    """A process that left its session and its parent is gone when the run is."""
    mark = f"{uuid.uuid4().int % 10**9}.5"
    assert sh(f"setsid sleep {mark} >/dev/null 2>&1 & sleep 0.2").exit_status == 0
    assert processes_with(mark) == []


def test_the_wall_clock_limit_ends_a_run(sh):
    """A run over its time is ended with all it started; its output so far is kept."""
    mark = f"{uuid.uuid4().int % 10**9}.5"
    execution = sh(f"echo begun; setsid sleep {mark} & wait", limits=Limits(wall_s=0.7))
    assert (execution.exit_status, execution.hits) == (None, {"wall"})
    assert execution.output == b"begun\n"
    assert processes_with(mark) == []


def test_memory_is_limited_for_the_tree_as_a_whole(py):
    """Processes that are small one by one, but not together, are ended."""
    program = """
import os, time
for _ in range(6):
    if os.fork() == 0:
        block = bytearray(os.urandom(1024)) * 1024 * 40
        time.sleep(60)
time.sleep(60)
"""
    execution = py(program, limits=Limits(wall_s=60, memory_mb=128))
    assert (execution.exit_status, execution.hits) == (None, {"memory"})
    assert execution.memory_peak_mb >= 128


@pytest.mark.parametrize("place", ["/testbed", "/tmp", "/dev/shm"])
def test_scratch_files_are_memory(sh, place):
    """Files that live in memory count against its limit, or meet a full file system at it."""
    line = f"for i in 1 2 3; do head -c 60000000 /dev/zero > {place}/$i || exit 1; done; sleep 60"
    execution = sh(line, limits=Limits(wall_s=60, memory_mb=100))
    assert execution.hits == {"memory"} or execution.exit_status == 1


def test_one_process_cannot_map_far_beyond_the_limit(py):
    """A single huge allocation fails inside, before the host feels it."""
    execution = py("bytearray(10**9)", limits=Limits(wall_s=60, memory_mb=200))
    assert execution.exit_status == 1
    assert b"MemoryError" in execution.output


def test_processes_are_limited(py):
    """Forks beyond the limit fail."""
    program = """
import os, time
made = 0
try:
    while made < 100:
        if os.fork() == 0:
            time.sleep(60)
        made += 1
except BlockingIOError:
    pass
print(made)
"""
    execution = py(program, limits=Limits(wall_s=60, processes=20))
    assert 10 <= int(execution.output) < 20


def test_the_size_of_a_file_is_limited(sh):
    """A file stops growing at the limit."""
    execution = sh("head -c 3000000 /dev/zero > big; stat -c %s big", limits=Limits(wall_s=60, file_mb=1))
    assert execution.output.endswith(b"1048576\n")


def test_long_output_keeps_its_ends(sh):
    """Of output beyond the limit, the beginning and the end are kept, and the loss is named."""
    line = "echo first; head -c 30000 /dev/zero | tr '\\0' x; echo last"
    execution = sh(line, limits=Limits(wall_s=60, output_kb=8))
    assert execution.exit_status == 0
    assert execution.output.startswith(b"first\n") and execution.output.endswith(b"last\n")
    assert b"bytes dropped" in execution.output and len(execution.output) < 8300


def test_endless_output_ends_the_run(sh):
    """Output ten times beyond the limit is not waited for."""
    execution = sh("yes", limits=Limits(wall_s=60, output_kb=8))
    assert (execution.exit_status, execution.hits) == (None, {"output"})
    assert len(execution.output) < 8300


def test_processor_time_is_that_of_the_whole_tree(sh):
    """Time spent in children counts."""
    line = "python -c 'import time\nwhile time.process_time() < 0.5: pass'"
    assert sh(line).cpu_s >= 0.5


def test_parallel_runs_do_not_disturb_each_other(sh):
    """Eight jobs at once each get their own files, output and status."""

    def one(number):
        return sh(f"echo {number} > mine; sleep 0.3; cat mine; exit {number}")

    with ThreadPoolExecutor(8) as pool:
        executions = list(pool.map(one, range(8)))
    assert [(e.exit_status, e.output) for e in executions] == [(n, b"%d\n" % n) for n in range(8)]
