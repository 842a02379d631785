"""Give up, in a process that is about to run untrusted code, everything that no answer needs.

This text runs first in that process, in the same Python, and imports no module of the course.  It
works only on Linux, and returns what worked.

NOTE [Landlock]
    Landlock lets a process give up all files except those below some paths, for itself and all its
    children, without being root (https://docs.kernel.org/userspace-api/landlock.html).  Since its
    sixth version it can also give up signals to other processes and abstract sockets.

NOTE [System calls]
    A seccomp filter refuses the calls that reach out of the process: the network, other processes,
    namespaces, and memory that is not attributed to any process (System V, memfd, shared mappings,
    keys).  Locks and watches on files are refused too, because two submissions that can read the
    same file could pass messages with them.  No process can leave its session, so all of them are
    killed with it.  Changing a file's permissions, owner or times is refused as well, because
    Landlock does not cover it.
    A refused call fails with EPERM.  `clone3` fails with ENOSYS, so that the C library falls back
    to `clone`, whose flags the filter can inspect.
"""

import contextlib
import ctypes
import os
import platform
import struct
import sys
from collections.abc import Iterable

#: Numbers of system calls on x86_64 and aarch64; -1 if the machine does not have the call.
REFUSED = {
    "socket": (41, 198), "socketpair": (53, 199), "setsid": (112, 157), "setpgid": (109, 154),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "kcmp": (312, 272), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424), "tkill": (200, 130), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "setpriority": (141, 140), "ioprio_set": (251, 30),
    "migrate_pages": (256, 238), "move_pages": (279, 239), "process_madvise": (440, 440),
    "process_mrelease": (448, 448), "perf_event_open": (298, 241), "bpf": (321, 280),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195),
    "semget": (64, 190), "semctl": (66, 191), "semop": (65, 193), "semtimedop": (220, 192),
    "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    "mq_open": (240, 180), "mq_unlink": (241, 181),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "fanotify_init": (300, 262),
    "chmod": (90, -1), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, -1), "lchown": (94, -1), "fchown": (93, 55), "fchownat": (260, 54),
    "utime": (132, -1), "utimes": (235, -1), "futimesat": (261, -1), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "flock": (73, 32), "inotify_init": (253, -1), "inotify_init1": (294, 26),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
}
CLONE3 = 435
#: Refused if an argument has one of these bits set: the call's numbers, the argument, the bits.
BITS = {
    "clone": ((56, 220), 0, 0x7E020000),  # new namespaces
    "mmap": ((9, 222), 3, 0x01),  # shared mappings
}
#: Refused unless the first argument is this process or, if the third field is True, 0.
OTHERS = {
    "kill": (62, 129, False), "tgkill": (234, 131, False), "prlimit64": (302, 261, True),
    "sched_setaffinity": (203, 122, True), "sched_setscheduler": (144, 119, True),
    "sched_setparam": (142, 118, True), "sched_setattr": (314, 274, True),
}
#: `fcntl` with these commands can send signals to other processes, or lock or watch a file.
FCNTL, OWNERS = (72, 25), (8, 10, 15, 6, 7, 37, 38, 1024, 1026)

_LOAD, _EQUAL, _ANY_BIT, _FROM, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_ALLOW, _EPERM, _ENOSYS = 0x7FFF0000, 0x00050001, 0x00050026
#: The machine's index in the tables, and its number in seccomp.
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2
_LANDLOCK = 444  # the first of three consecutive calls, on all machines


def confine(readable: Iterable[str], listed: Iterable[str], writable: Iterable[str]) -> list[str]:
    """Give up all files except these, and the system calls above; return what worked.

    In the folders of `listed`, only the names of files can be read.
    """
    if not sys.platform.startswith("linux"):
        return []
    library = ctypes.CDLL(None, use_errno=True)
    library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    done = []
    if give_up_files(library, readable, listed, writable):
        done.append("files")
    if give_up_calls(library):
        done.append("calls")
    return done


def give_up_files(library: ctypes.CDLL, readable: Iterable[str], listed: Iterable[str],
                  writable: Iterable[str]) -> bool:
    """Restrict this process to these paths; return False if Linux has no Landlock."""
    version = _call(library, _LANDLOCK, None, 0, 1)
    if version < 1:
        return False
    run, write, read, names = 1, 2, 4, 8
    rights = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF}.get(version, 0xFFFF)
    of_file = rights & (run | write | read | 1 << 14)
    network, signals = (0b11 if version >= 4 else 0), (0b11 if version >= 6 else 0)
    attributes = struct.pack("=QQQ", rights, network, signals)
    size = 8 if version < 4 else 16 if version < 6 else 24
    rules = _call(library, _LANDLOCK, attributes, size, 0)
    if rules < 0:
        return False
    for paths, allowed in ((readable, run | read | names), (listed, names),
                           (writable, rights & ~(1 << 15))):
        for path in paths:
            with contextlib.suppress(FileNotFoundError, PermissionError):  # cannot be allowed
                handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
                rights = allowed if os.path.isdir(path) else allowed & of_file
                rule = struct.pack("=Qi", rights, handle)
                if rights and _call(library, _LANDLOCK + 1, rules, 1, rule, 0) < 0:
                    return False
                os.close(handle)
    done = _call(library, _LANDLOCK + 2, rules, 0) == 0
    os.close(rules)
    return done


def _call(library: ctypes.CDLL, number: int, *arguments: int | bytes | None) -> int:
    """Make a system call."""
    given = [ctypes.c_char_p(each) if isinstance(each, bytes | None) else ctypes.c_long(each)
             for each in arguments]
    return int(library.syscall(ctypes.c_long(number), *given))


def give_up_calls(library: ctypes.CDLL) -> bool:
    """Install the filter; return False on an unknown machine or without seccomp."""
    if platform.machine() not in _MACHINES:
        return False
    program = b"".join(struct.pack("=HBBI", *each) for each in _program(platform.machine()))
    lines = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(lines))
    return bool(library.prctl(_SET_SECCOMP, _FILTER, ctypes.c_char_p(header), 0, 0) == 0)


def _program(machine: str) -> list[tuple[int, int, int, int]]:
    """Return the filter as instructions: code, jump if true, jump if false, number."""
    which, architecture = _MACHINES[machine]
    number, arguments = 0, 16  # offsets in seccomp's data
    program = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _EPERM),
               (_LOAD, 0, 0, number)]
    if machine == "x86_64":
        program += [(_FROM, 0, 1, 1 << 30), (_RETURN, 0, 0, _EPERM)]  # the x32 calls
    for numbers in REFUSED.values():
        if numbers[which] < 0:
            continue
        program += [(_EQUAL, 0, 1, numbers[which]), (_RETURN, 0, 0, _EPERM)]
    program += [(_EQUAL, 0, 1, CLONE3), (_RETURN, 0, 0, _ENOSYS)]
    for numbers, argument, bits in BITS.values():
        program += [(_EQUAL, 0, 4, numbers[which]), (_LOAD, 0, 0, arguments + 8 * argument),
                    (_ANY_BIT, 0, 1, bits), (_RETURN, 0, 0, _EPERM), (_RETURN, 0, 0, _ALLOW)]
    for *both, zero in OTHERS.values():
        allowed = [os.getpid(), 0] if zero else [os.getpid()]
        checks = [(_EQUAL, len(allowed) - i, 0, each) for i, each in enumerate(allowed)]
        program += [(_EQUAL, 0, len(checks) + 3, both[which]), (_LOAD, 0, 0, arguments), *checks,
                    (_RETURN, 0, 0, _EPERM), (_RETURN, 0, 0, _ALLOW)]
    checks = [(_EQUAL, len(OWNERS) - i, 0, each) for i, each in enumerate(OWNERS)]
    program += [(_EQUAL, 0, len(checks) + 3, FCNTL[which]), (_LOAD, 0, 0, arguments + 8), *checks,
                (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _EPERM)]
    return [*program, (_RETURN, 0, 0, _ALLOW)]
