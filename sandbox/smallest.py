"""The smallest image there is: one program of a few instructions. It shows whether containers run at all."""

import io
import struct
import tarfile

from sandbox.engine import Engine, engine_faults
from sandbox.images import building
from tasks.errors import SandboxUnavailable

STATUS = 42
CODE = {
    # mov edi, 42; mov eax, 60 (exit); syscall
    "amd64": (62, struct.pack("<BIBI2B", 0xBF, STATUS, 0xB8, 60, 0x0F, 0x05)),
    # mov x0, 42; mov x8, 93 (exit); svc 0
    "arm64": (183, struct.pack("<3I", 0xD2800000 | STATUS << 5, 0xD2800000 | 93 << 5 | 8, 0xD4000001)),
}
"""ELF machine number and instructions, by the engine's name of the processor."""
LOADED_AT = 0x400000


def smallest_image(engine: Engine) -> str:
    """Tag of an image whose `/exit` ends with `STATUS`.

    Raises:
        SandboxUnavailable: not a processor Assay knows.
    """
    with engine_faults():
        processor = engine.client.version()["Arch"]
    if processor not in CODE:
        raise SandboxUnavailable(f"the Docker engine runs on {processor}, not on {' or '.join(CODE)}")
    tag = f"assay/smallest:{processor}"
    with building(engine, tag) as missing, engine_faults():
        if missing:
            engine.client.api.import_image_from_data(
                _archive(_program(*CODE[processor])), "assay/smallest", processor
            )
    return tag


def _program(machine: int, code: bytes) -> bytes:
    headers = 64 + 56
    identity = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    start = LOADED_AT + headers
    elf = struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, start, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    size = headers + len(code)
    loaded = struct.pack("<IIQQQQQQ", 1, 5, 0, LOADED_AT, LOADED_AT, size, size, 0x1000)
    return identity + elf + loaded + code


def _archive(program: bytes) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        member = tarfile.TarInfo("exit")
        member.size, member.mode = len(program), 0o755
        archive.addfile(member, io.BytesIO(program))
    return stream.getvalue()
