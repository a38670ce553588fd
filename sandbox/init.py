"""First program of every sandbox, on every backend: lays out the files, then runs the job's command.

Started as `<python> -I -S -B init.py` by any CPython 3.6 to 3.13, with nothing but its standard library. Its
three streams are pipes held by the host:

stdin   A decimal length and a newline; a header of that many bytes; the contents of the files, one after the
        other. What follows belongs to the command, as its standard input.
stdout  The result channel, called *frames*. This program's own words on it are lines that start with the
        header's random `boundary`, so that the host can tell them from what the command writes:

            <boundary> started                  the command is about to be executed; all before went well
            <boundary> failed <reason>          the sandbox could not be made; the command never ran
            <boundary> file <index> <size>      after the command ended: contents of `collect[index]` follow
            <boundary> counter <index> <size>   after the command ended: contents of `counters[index]` follow
            <boundary> end <status>             the last word: exit status of the command, as a shell tells it

        No `started` means the host failed the job; no `end` that something ended the sandbox from outside.
        The command reaches the channel by the file descriptor whose number replaces `{frames}` in its
        arguments; without that word it has no such descriptor.
stderr  What people read: standard output and standard error of the command both lead here.

The header is a sequence of fields, each `name`, `number of values` and the values, every one of them ended by
a NUL byte: arguments, paths and variables cannot hold one, so nothing needs quoting or an encoding.

    boundary       1   random text, for the lines above
    cwd            1   absolute directory the paths below are relative to, and the command starts in
    command        n   argument vector; a program that is not there ends with 127, an unusable one with 126
    variables      n   `NAME=value`: the whole environment of the command
    limits         2n  name of a RLIMIT_ constant (without the prefix) and its value
    remove         n   files to remove, with the directories this leaves empty
    write          3n  path, octal mode, size: files to write, replacing what is there
    link           2n  path, target: symbolic links to make, replacing what is there
    collect        n   files to send back; what is no regular file below `cwd` is left out
    collect_limit  1   bytes; larger files are left out
    counters       n   files of the kernel's to send back, such as a control group's, if they are there
    identity       2   uid and gid to take in a user namespace of its own (absent: keep the present ones).
                       Needs to be uid 0 of a user namespace with CAP_NET_ADMIN, CAP_SETFCAP and
                       CAP_SYS_RESOURCE; the command gets no capability.
    user           2   uid and gid to become, where no user namespace can be made. Needs to be uid 0 with
                       CAP_NET_ADMIN, CAP_SETUID, CAP_SETGID and CAP_SETPCAP; the command gets no capability.

With `identity` or `user`, addresses outside the network namespace become *silent* first: packets for them
vanish, so a connection attempt times out, as on the open internet, where "network unreachable" would answer
at once.

It should be process 1: then no signal from inside ends it. It stays as the command's parent, out of its
reach, and kills whatever the command left running before it reads the files. Its exit status is the
command's.
"""

# The public modules `socket` and `signal` build enumerations at import: 10 ms of every start.
import _signal  # type: ignore[import-not-found]
import _socket
import ctypes
import errno
import fcntl
import os
import resource
import stat
import struct

CLONE_NEWUSER = 0x10000000
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
HIGH_DESCRIPTOR = 200
CHUNK = 1 << 20
LISTS = ("limits", "remove", "write", "link", "collect", "counters")


def main() -> None:
    header = read_header()
    boundary = header["boundary"][0]
    frames = os.dup(1)
    try:
        if "identity" in header:
            silence_outside()
            become(*[int(number) for number in header["identity"]])
        if "user" in header:
            silence_outside()
            step_down(*[int(number) for number in header["user"]])
        os.chdir(header["cwd"][0])
        for path in header["remove"]:
            remove(path)
        for path, mode, size in triples(header["write"]):
            write(path, int(mode, 8), int(size))
        for path, target in pairs(header["link"]):
            link(path, target)
    except Exception as error:
        send(frames, boundary + b" failed " + repr(error).encode("utf-8", "backslashreplace") + b"\n")
        os._exit(125)
    send(frames, boundary + b" started\n")
    # The command has our uid: without this it could open our memory and our descriptors.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    child = os.fork()
    if child == 0:
        execute(header, frames)
    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)  # the only one Python has a handler for
    os.close(0)
    status = wait_for(child)
    kill_all_others()
    for index, path in enumerate(header["collect"]):
        content = read_collected(path, int(header["collect_limit"][0]))
        if content is not None:
            send(frames, b"%s file %d %d\n" % (boundary, index, len(content)) + content)
    for index, path in enumerate(header["counters"]):
        content = read_counter(path)
        if content:
            send(frames, b"%s counter %d %d\n" % (boundary, index, len(content)) + content)
    send(frames, b"%s end %d\n" % (boundary, status))
    os._exit(status)


def read_header() -> "dict[str, list[bytes]]":
    length = b""
    while not length.endswith(b"\n"):
        length += read_exactly(1)
    values = iter(read_exactly(int(length)).split(b"\0"))
    header = {name: [] for name in LISTS}  # type: dict[str, list[bytes]]
    for name in values:
        if name:
            header[name.decode()] = [next(values) for _ in range(int(next(values)))]
    return header


def read_exactly(size: int) -> bytes:
    """Unbuffered: not one byte of the command's own input may be taken."""
    parts = []
    while size:
        part = os.read(0, min(size, CHUNK))
        if not part:
            raise EOFError("the host closed the input early")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def send(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def pairs(values: "list[bytes]") -> "list[tuple[bytes, bytes]]":
    return list(zip(values[::2], values[1::2]))


def triples(values: "list[bytes]") -> "list[tuple[bytes, bytes, bytes]]":
    return list(zip(values[::3], values[1::3], values[2::3]))


def silence_outside() -> None:
    """Routes every outside address to the loopback device, which drops packets for it without an answer."""
    loopback = _socket.if_nametoindex("lo")
    channel = _socket.socket(_socket.AF_NETLINK, _socket.SOCK_RAW, 0)
    for family in (_socket.AF_INET, _socket.AF_INET6):
        # struct nlmsghdr (RTM_NEWROUTE, REQUEST|ACK|CREATE|EXCL), struct rtmsg (main table, boot protocol,
        # link scope, unicast), attribute RTA_OIF
        route = struct.pack("=BBBBBBBBI", family, 0, 0, 0, 254, 3, 253, 1, 0) + struct.pack(
            "=HHi", 8, 4, loopback
        )
        channel.send(struct.pack("=IHHII", 16 + len(route), 24, 0x605, 1, 0) + route)
        failure = -struct.unpack_from("=i", channel.recv(4096), 16)[0]
        # A kernel without IPv6 has no address to silence.
        if failure and family == _socket.AF_INET:
            raise OSError(failure, "no default route: " + os.strerror(failure))
    channel.close()


def become(uid: int, gid: int) -> None:
    """Enters a user namespace where we are `uid`, and where no further namespace can be made."""
    libc = ctypes.CDLL(None, use_errno=True)
    outer_uid, outer_gid = os.getuid(), os.getgid()
    write_setting("/proc/sys/user/max_user_namespaces", "1")  # of those inside the present one
    if libc.unshare(CLONE_NEWUSER):
        raise OSError(ctypes.get_errno(), "user namespace: " + os.strerror(ctypes.get_errno()))
    write_setting("/proc/self/setgroups", "deny")
    write_setting("/proc/self/uid_map", "%d %d 1" % (uid, outer_uid))
    write_setting("/proc/self/gid_map", "%d %d 1" % (gid, outer_gid))


def step_down(uid: int, gid: int) -> None:
    """Leaves every capability, those that a later program could regain included, and then root itself."""
    libc = ctypes.CDLL(None)
    capability = 0
    while libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
        capability += 1
    if capability == 0:
        raise PermissionError("capabilities cannot be dropped")
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def write_setting(path: str, value: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    os.write(descriptor, value.encode())
    os.close(descriptor)


def enter(directories: "list[bytes]", create: bool) -> int:
    """Opens a directory below the current one without ever passing through a symbolic link."""
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    for name in directories:
        if name in (b"", b".", b".."):
            raise ValueError("path leaves the repository")
        if create:
            try:
                os.mkdir(name, 0o755, dir_fd=here)
            except FileExistsError:
                pass
        below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
        os.close(here)
        here = below
    return here


def clear_place(path: bytes) -> "tuple[int, bytes]":
    """Directory descriptor and name for a new entry at `path`, with nothing there any more."""
    parts = path.split(b"/")
    directory, name = enter(parts[:-1], create=True), parts[-1]
    try:
        os.unlink(name, dir_fd=directory)
    except FileNotFoundError:
        pass
    except IsADirectoryError:
        remove_bytecode(path)
        os.rmdir(name, dir_fd=directory)
    return directory, name


def write(path: bytes, mode: int, size: int) -> None:
    directory, name = clear_place(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(name, flags, 0o600, dir_fd=directory)
    os.close(directory)
    while size:
        part = read_exactly(min(size, CHUNK))
        send(descriptor, part)
        size -= len(part)
    os.fchmod(descriptor, mode)
    os.close(descriptor)


def link(path: bytes, target: bytes) -> None:
    directory, name = clear_place(path)
    os.symlink(target, name, dir_fd=directory)
    os.close(directory)


def remove(path: bytes) -> None:
    parts = path.split(b"/")
    try:
        directory = enter(parts[:-1], create=False)
        os.unlink(parts[-1], dir_fd=directory)
        os.close(directory)
    except (FileNotFoundError, NotADirectoryError):
        return
    for depth in range(len(parts) - 1, 0, -1):
        parent = b"/".join(parts[:depth])
        try:
            if os.listdir(parent) == [b"__pycache__"]:
                remove_bytecode(parent)
            os.rmdir(parent)
        except OSError:
            return


def remove_bytecode(directory: bytes) -> None:
    """A package whose sources are gone is gone: its cached bytecode must not keep the directory."""
    cache = directory + b"/__pycache__"
    if os.path.isdir(cache) and not os.path.islink(cache):
        for name in os.listdir(cache):
            os.unlink(cache + b"/" + name)
        os.rmdir(cache)


def execute(header: "dict[str, list[bytes]]", frames: int) -> None:
    arguments = header["command"]
    if any(b"{frames}" in argument for argument in arguments):
        channel = fcntl.fcntl(frames, fcntl.F_DUPFD, HIGH_DESCRIPTOR)
        os.set_inheritable(channel, True)
        arguments = [argument.replace(b"{frames}", b"%d" % channel) for argument in arguments]
    os.dup2(2, 1)
    os.close(frames)
    variables = {name: value for name, _, value in (line.partition(b"=") for line in header["variables"])}
    for name, value in pairs(header["limits"]):
        kind = getattr(resource, "RLIMIT_" + name.decode())
        ceiling = resource.getrlimit(kind)[1]
        bound = int(value) if ceiling == resource.RLIM_INFINITY else min(int(value), ceiling)
        resource.setrlimit(kind, (bound, bound))
    for signal in (_signal.SIGPIPE, _signal.SIGXFSZ):  # ignored by Python itself, and inherited when ignored
        _signal.signal(signal, _signal.SIG_DFL)
    try:
        os.execvpe(arguments[0], arguments, variables)
    except OSError as error:
        os.write(2, arguments[0] + b": " + str(error.strerror).encode() + b"\n")
        os._exit(127 if error.errno in (errno.ENOENT, errno.ENOTDIR) else 126)


def wait_for(child: int) -> int:
    """Status of `child` as a shell reports it, reaping whatever else ends meanwhile."""
    while True:
        pid, status = os.wait()
        if pid == child:
            return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def kill_all_others() -> None:
    """Ends every process we may signal; again and again, since one may fork while the others are shot."""
    while True:
        try:
            os.kill(-1, _signal.SIGKILL)
        except ProcessLookupError:
            return
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            os.sched_yield()


def read_counter(path: bytes) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    content = os.read(descriptor, 4096)
    os.close(descriptor)
    return content


def read_collected(path: bytes, limit: int) -> "bytes | None":
    parts = path.split(b"/")
    try:
        directory = enter(parts[:-1], create=False)
        descriptor = os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory)
    except OSError:
        return None
    state = os.fstat(descriptor)
    if not stat.S_ISREG(state.st_mode) or state.st_size > limit:
        return None
    content = b""
    while len(content) < state.st_size:
        part = os.read(descriptor, CHUNK)
        if not part:
            break
        content += part
    os.close(descriptor)
    return content


if __name__ == "__main__":
    main()
