"""What a tree of processes uses, read from `/proc` of the host."""

import os
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")


def children(pid: int) -> list[int]:
    """Live children of every thread of `pid`; none when it is gone."""
    found: list[int] = []
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (thread / "children").read_text().split())
    except (FileNotFoundError, ProcessLookupError):
        pass
    return found


def descendants(pid: int) -> list[int]:
    """`pid` and all below it. Orphans stay in: the first process of their namespace adopts them."""
    found = [pid]
    for parent in found:  # grows while it is read
        found += children(parent)
    return found


def resident_bytes(pids: list[int]) -> int:
    """Sum of what each has in memory; shared pages count once per process."""
    total = 0
    for pid in pids:
        try:
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
        except (OSError, IndexError):
            continue
    return total


def proportional_bytes(pids: list[int]) -> int:
    """The same with shared pages divided among those who share them: exact, and slower to ask for."""
    total = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) << 10
    return total


def stored_bytes(pid: int, places: tuple[str, ...]) -> int:
    """What the file systems at `places`, as `pid` sees them, hold."""
    total = 0
    for place in places:
        try:
            state = os.statvfs(f"/proc/{pid}/root{place}")
        except OSError:
            continue
        total += (state.f_blocks - state.f_bfree) * state.f_frsize
    return total


def killed_for_memory() -> int:
    """How many processes the kernel of this host has killed because memory ran out."""
    for line in Path("/proc/vmstat").read_text().splitlines():
        name, _, count = line.partition(" ")
        if name == "oom_kill":
            return int(count)
    return 0
