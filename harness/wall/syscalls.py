"""A filter of system calls: what no method needs, and through which other programs of the machine could be reached.

A disk that can be read only keeps nobody from the sockets that lie on it, nor a namespace from the kernel's keyrings. A
process behind the filter makes no socket that could be named in the file system, connects to nothing, and traces,
mounts and loads nothing. Files that all cells see are no letter box: it locks none, and neither drops what the machine
keeps of them in memory nor asks what that is. No timer and no parent's death wakes it where it was stopped. The program
is classic BPF over (number, architecture, arguments):

    load a word; jump if it equals; return allow, or the error "not permitted".
"""

from __future__ import annotations

import ctypes
import platform
import struct
from collections.abc import Iterator, Sequence

LOAD, EQUAL, AT_LEAST, AND, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050001  # the second with the error EPERM
NUMBER, ARCHITECTURE, FIRST, SECOND = 0, 4, 16, 24  # where these words are
SET_SECCOMP, FILTER = 22, 2
UNIX, STREAM, TYPE = 1, 1, 0xF
OTHER_NUMBERING = 0x40000000  # from here on x86 has a second table
REFUSED = (  # x86_64, aarch64
    *(("ptrace", 101, 117), ("mount", 165, 40), ("umount2", 166, 39), ("kexec_load", 246, 104), ("add_key", 248, 217)),
    *(("request_key", 249, 218), ("keyctl", 250, 219), ("unshare", 272, 97), ("perf_event_open", 298, 241)),
    *(("setns", 308, 268), ("process_vm_readv", 310, 270), ("process_vm_writev", 311, 271), ("bpf", 321, 280)),
    *(("userfaultfd", 323, 282), ("io_uring_setup", 425, 425), ("open_tree", 428, 428), ("move_mount", 429, 429)),
    *(("fsopen", 430, 430), ("pidfd_getfd", 438, 438), ("mount_setattr", 442, 442), ("setpriority", 141, 140)),
    *(("ioprio_set", 251, 30), ("migrate_pages", 256, 238), ("move_pages", 279, 239)),
    *(
        ("flock", 73, 32),
        ("fadvise64", 221, 223),
        ("readahead", 187, 213),
        ("mincore", 27, 232),
        ("cachestat", 451, 451),
    ),
    *(("preadv2", 327, 286), ("pwritev2", 328, 287), ("inotify_init", 253, 26), ("inotify_init1", 294, 26)),
    *(("inotify_add_watch", 254, 27), ("fanotify_init", 300, 262)),
    *(("timer_create", 222, 107), ("mq_open", 240, 180), ("mq_notify", 244, 184)),
)
OF_OTHERS = (  # refused where the first process of the namespace is meant, which is the method's keeper
    *(("prlimit64", 302, 261), ("sched_setaffinity", 203, 122), ("sched_setscheduler", 144, 119)),
    *(("sched_setparam", 142, 118), ("sched_setattr", 314, 274)),
)
LOCKS, LEASES, SIGNALS, DEATH = (5, 6, 7, 36, 37, 38), (1024, 1026), (8, 10, 15), (1,)
BY_WORD = (  # refused where an argument is one of these words: x86_64, aarch64
    ((72, 25), SECOND, (*LOCKS, *LEASES, *SIGNALS)),  # fcntl
    ((157, 167), FIRST, DEATH),  # prctl
)
ASKED = (("socket", 41, 198), ("connect", 42, 203), ("socketpair", 53, 199))  # refused in part
KEEPER = 1
MACHINES = {"x86_64": (0xC000003E, 1), "aarch64": (0xC00000B7, 2)}  # what the kernel calls it, and the column above


def filtered(*, network: bool) -> bool:
    """Put the filter up, for this process and all that come of it; whether it stands. A network may be connected to."""
    known = MACHINES.get(platform.machine())
    if known is None:
        return False
    architecture, column = known
    refused, of_others, (socket, connect, socketpair) = (
        [int(row[column]) for row in rows] for rows in (REFUSED, OF_OTHERS, ASKED)
    )
    refused += [] if network else [connect]
    words = [(numbers[column - 1], argument, unwanted) for numbers, argument, unwanted in BY_WORD]
    program = b"".join(_program(architecture, refused, of_others, words, socket, socketpair))
    memory = ctypes.create_string_buffer(program)
    head = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.prctl(SET_SECCOMP, FILTER, ctypes.c_char_p(head), 0, 0) == 0


def _program(
    architecture: int,
    refused: list[int],
    of_others: list[int],
    by_word: Sequence[tuple[int, int, tuple[int, ...]]],
    socket: int,
    socketpair: int,
) -> Iterator[bytes]:
    """Each rule jumps over its refusal where it does not apply."""
    yield _step(LOAD, ARCHITECTURE)
    yield _step(EQUAL, architecture, 1, 0)
    yield _step(RETURN, REFUSE)
    yield _step(LOAD, NUMBER)
    yield _step(AT_LEAST, OTHER_NUMBERING, 0, 1)
    yield _step(RETURN, REFUSE)
    for number in refused:
        yield _step(EQUAL, number, 0, 1)
        yield _step(RETURN, REFUSE)
    for number in of_others:
        yield _step(EQUAL, number, 0, 4)
        yield _step(LOAD, FIRST)
        yield _step(EQUAL, KEEPER, 0, 1)
        yield _step(RETURN, REFUSE)
        yield _step(RETURN, ALLOW)
    for number, argument, words in by_word:
        yield _step(EQUAL, number, 0, 2 * len(words) + 2)
        yield _step(LOAD, argument)
        for word in words:
            yield _step(EQUAL, word, 0, 1)
            yield _step(RETURN, REFUSE)
        yield _step(RETURN, ALLOW)
    yield _step(EQUAL, socket, 0, 4)  # of the file system's family
    yield _step(LOAD, FIRST)
    yield _step(EQUAL, UNIX, 0, 1)
    yield _step(RETURN, REFUSE)
    yield _step(RETURN, ALLOW)
    yield _step(EQUAL, socketpair, 0, 4)  # one that could be turned to another address
    yield _step(LOAD, SECOND)
    yield _step(AND, TYPE)
    yield _step(EQUAL, STREAM, 1, 0)
    yield _step(RETURN, REFUSE)
    yield _step(RETURN, ALLOW)


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)
