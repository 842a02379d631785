"""Reaching out of the process: files, other processes, the network, memory that nobody holds."""

from __future__ import annotations

import json
import os
import socket
import sys
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

import minigrad
from minigrad_course.content.stages import CourseError
from minigrad_course.grading import reach
from minigrad_course.grading.bundle import make_bundle
from minigrad_course.grading.sandbox import Sandbox
from minigrad_course.running.one_thread import ONE_THREAD
from tests.support.attacks import (
    LIMITS,
    MODULE,
    STAGE,
    STUB,
    each_sandbox,
    open_to_others,
    ran,
)

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone has it")

#: Statements that end without an error if they reach what they try to; names are in PRELUDE.
REACHING = {
    # the network
    "a server on this machine": "socket.create_connection(('127.0.0.1', PORT), 2)",
    "a server by IPv6": "socket.create_connection(('::1', PORT), 2)",
    "a message without a connection": "socket.socket(2, 2).sendto(b'x', ('127.0.0.1', PORT))",
    "a server of its own": "socket.create_server(('127.0.0.1', 0))",
    "a name": "socket.getaddrinfo('localhost.localdomain.example', 80)[0] and socket.socket()",
    "a raw socket": "socket.socket(2, 3, 1)",
    "the kernel's own socket": "socket.socket(16, 3, 0)",
    "a socket in a folder": "socket.socket(1, 1).connect(SOCKET)",
    "a socket without a folder": "socket.socket(1, 1).connect('\0' + SOCKET)",
    "a pair of sockets": "socket.socketpair()",
    # other processes
    "a signal to its parent": "os.kill(GRADER, 0)",
    "a signal to the first process": "os.kill(1, 0)",
    "a signal to all": "os.kill(-1, 0)",
    "a signal to its group": "os.kill(0, 0)",
    "a signal to a thread": "call('tkill', GRADER, 0)",
    "a signal with a value": "call('rt_sigqueueinfo', GRADER, 10, (ctypes.c_long * 16)())",
    "a handle of a process": "os.pidfd_open(GRADER)",
    "signals by a file": "fcntl.fcntl(0, 8, GRADER)",
    "another signal by a file": "fcntl.fcntl(0, 10, 9)",
    "tracing": "call('ptrace', 16, GRADER, 0, 0)",
    "being traced": "call('ptrace', 0, 0, 0, 0)",
    "reading its memory": "call('process_vm_readv', GRADER, 0, 0, 0, 0, 0)",
    "writing its memory": "call('process_vm_writev', GRADER, 0, 0, 0, 0, 0)",
    "its memory as a file": "open(f'/proc/{GRADER}/mem', 'rb')",
    "its environment": "open(f'/proc/{GRADER}/environ', 'rb').read()",
    "its command": "open(f'/proc/{GRADER}/cmdline', 'rb').read()",
    "its files": "os.listdir(f'/proc/{GRADER}/fd')",
    "all processes": "os.listdir('/proc')",
    "its limits": "resource.prlimit(GRADER, resource.RLIMIT_CPU, (1, 1))",
    "its priority": "os.setpriority(os.PRIO_PROCESS, GRADER, 19)",
    "its processors": "os.sched_setaffinity(GRADER, {0})",
    "its scheduling": "os.sched_setscheduler(GRADER, os.SCHED_IDLE, os.sched_param(0))",
    "comparing with it": "call('kcmp', GRADER, os.getpid(), 0, 0, 0)",
    "a session of its own": "os.setsid()",
    "a group of its own": "os.setpgid(0, 0)",
    "counters of the processor": "call('perf_event_open', 0, 0, -1, -1, 0)",
    # namespaces
    "a user namespace": "zero(libc.unshare(0x10000000))",
    "a folder tree of its own": "zero(libc.unshare(0x00020000))",
    "a network of its own": "zero(libc.unshare(0x50000000))",
    "a namespace by clone": "call('clone', 0x10000011, 0, 0, 0, 0) or os._exit(0)",
    "a namespace by clone3": "call(435, (ctypes.c_ulong * 11)(0x10000000, *[0] * 3, 17), 88)",
    "another's namespace": "call('setns', 0, 0)",
    "a mount": "zero(libc.mount(b'none', b'/tmp', b'tmpfs', 0, b'size=8g'))",
    "a mount the new way": "call(430, b'tmpfs', 0)",
    "another root": "os.chroot(TEMP)",
    # memory that no process holds
    "a file in memory": "os.memfd_create('x')",
    "a secret file in memory": "call(447, 0)",
    "a shared mapping": "mmap.mmap(-1, 1 << 20)",
    "a shared mapping of a file": "mmap.mmap(filled().fileno(), 4096)",
    "a shared mapping of a device": "mmap.mmap(os.open('/dev/zero', os.O_RDWR), 4096)",
    "shared memory of System V": "call('shmget', 0, 4096, 0o1600)",
    "messages of System V": "call('msgget', 0, 0o1600)",
    "semaphores of System V": "call('semget', 0, 1, 0o1600)",
    "a message queue": "call('mq_open', b'minigrad', 0o102, 0o600, 0)",
    "a lock on a shared file": "fcntl.flock(open(os.__file__), fcntl.LOCK_SH | fcntl.LOCK_NB)",
    "a lock on a part of it": "fcntl.lockf(open(os.__file__), fcntl.LOCK_SH | fcntl.LOCK_NB)",
    "a lock of its opened file": "fcntl.fcntl(open(os.__file__), 37, bytes(32))",
    "a lease on it": "fcntl.fcntl(open(os.__file__), 1024, fcntl.F_UNLCK)",
    "a watch on it": "zero(libc.inotify_init1(0) < 0)",
    "a watch on a folder": "fcntl.fcntl(os.open(STANDARD[0], 0), 1026, 1)",
    "a key": "call('add_key', b'user', b'x', b'x' * 100, 100, -4)",
    "a keyring": "call('keyctl', 1, 0)",
    "asking for a key": "call('request_key', b'user', b'x', 0, -4)",
    "page faults by hand": "call('userfaultfd', 1)",
    "a ring of calls": "call(425, 8, ctypes.create_string_buffer(120))",
    "programs in the kernel": "call('bpf', 0, ctypes.create_string_buffer(128), 128)",
    "a file by its handle": "call('open_by_handle_at', -100, ctypes.create_string_buffer(128), 0)",
    # files to be read
    "the package": "open(PACKAGE).read()",
    "the solution": "open(SOLUTION).read()",
    "the probes of the course": "open(PROBES).read()",
    "the folder of the course": "os.listdir(ROOT)",
    "a secret beside the submission": "open(SECRET).read()",
    "another run's bundle": "open(OTHER + '/site/minigrad/__init__.py').read()",
    "users": "open('/etc/passwd').read()",
    "passwords": "open('/etc/shadow').read()",
    "the root folder": "os.listdir('/')",
    "root's home": "os.listdir('/root')",
    "everybody's folder": "os.listdir('/var/tmp')",
    "the kernel's settings": "os.listdir('/sys')",
    "installed programs": "os.listdir('/usr/bin')",
    "a shell": "subprocess.run(['/bin/sh', '-c', 'true'], check=True)",
    "another user by su": "subprocess.run(['/bin/su', '-c', 'true'], check=True)",
    "the course": "import minigrad_course.content.stages",
    "the command's packages": "import typer",
    "installed packages": "open(next(Path(STANDARD[0], 'site-packages').glob('*/*.py'))).read()",
    "the generated functions": "sys.path.insert(0, BUNDLE + '/site'); import minigrad.codegen",
    # files to be written
    "the bundle": "open(BUNDLE + '/child.py', 'a')",
    "a file of the bundle that goes": "os.unlink(BUNDLE + '/probes.py')",
    "a new file in the bundle": "open(BUNDLE + '/new.py', 'w')",
    "rights in the bundle": "os.chmod(BUNDLE + '/child.py', 0o777)",
    "rights of the grader's files": "os.chmod(SECRET, 0o000)",
    "their times": "os.utime(SECRET, (1, 1))",
    "their owner": "os.chown(SECRET, os.getuid(), os.getgid())",
    "what is written on them": "os.setxattr(SECRET, 'user.x', b'x')",
    "rights of the bundle": "os.chmod(BUNDLE, 0o777)",
    "another name for it": "os.link(BUNDLE + '/child.py', TEMP + '/child.py'); "
                           "open(TEMP + '/child.py', 'a')",
    "a link out of the folder": "os.symlink(SECRET, TEMP + '/l'); open(TEMP + '/l').read()",
    "the standard library": "open(STANDARD[0] + '/sitecustomize.py', 'w')",
    "NumPy": "import numpy; open(os.path.dirname(numpy.__file__) + '/new.py', 'w')",
    "the package on disk": "open(PACKAGE, 'a')",
    "shared memory as a folder": "open('/dev/shm/minigrad-was-here', 'w')",
    "a folder that stays": "open('/var/tmp/minigrad-was-here', 'w')",
    "a device": "os.mknod(TEMP + '/zero', 0o20666, os.makedev(1, 5)); open(TEMP + '/zero', 'rb')",
    "a terminal": "open('/dev/tty', 'w')",
    "a program with root's rights": "os.chown(TEMP, 0, 0)",
    "being root": "os.setuid(0) if os.getuid() else 1 / 0",
    "the machine's name": "socket.sethostname('x')",
    "the clock": "time.clock_settime(time.CLOCK_REALTIME, time.time())",
}

#: Runs each statement in a process of its own, and writes how it ended.
CHILD = """
import ctypes, fcntl, json, mmap, os, platform, resource, signal, socket, subprocess, sys, time
from pathlib import Path
given = json.load(sys.stdin)
globals().update(given["names"])
BUNDLE, TEMP, GRADER = str(Path(__file__).parent), os.environ["TMPDIR"], given["grader"]
STANDARD = [os.path.dirname(os.__file__)]
libc = ctypes.CDLL(None, use_errno=True)
def zero(value):
    if value:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
def call(number, *arguments):
    if isinstance(number, str):
        number = given["calls"][number][platform.machine() != "x86_64"]
    value = libc.syscall(number, *arguments)
    zero(0 if value >= 0 else 1)
    return value
def filled():
    file = open(TEMP + "/filled", "w+b")
    file.write(b"x" * 4096)
    file.flush()
    return file
out = os.fdopen(os.dup(1), "w")
for name, code in given["attacks"].items():
    child = os.fork()
    if not child:
        signal.alarm(5)
        try:
            exec(code)
        except BaseException:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    out.write(json.dumps([name, status]) + "\\n")
    out.flush()
"""


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """What is to be reached: a server, a socket, a secret that everybody can read."""
    folder = tmp_path_factory.mktemp("reach")
    secret = folder / "secret"
    secret.write_text("it was read")
    secret.chmod(0o644)
    open_to_others(folder)
    place = str(folder / "s")
    with (socket.create_server(("127.0.0.1", 0)) as server,
          socket.socket(socket.AF_UNIX) as here, socket.socket(socket.AF_UNIX) as nowhere):
        here.bind(place)
        nowhere.bind(f"\0{place}")
        for each in (here, nowhere):
            each.listen()
        os.chmod(place, 0o777)
        yield {"PORT": server.getsockname()[1], "SOCKET": place, "SECRET": str(secret),
               "PACKAGE": str(Path(minigrad.__file__).resolve()), "PROBES": str(STAGE.probes),
               "SOLUTION": str(STAGE.solution(MODULE)), "ROOT": str(STAGE.root)}


#: Attacks that leave a machine as it was, also where nothing holds them: no others may run without
#: a sandbox (as root, "a mount" hides the machine's own /tmp, "its limits" ends the grader).
HARMLESS = ("a server on this machine", "a secret beside the submission", "a shared mapping",
            "a pair of sockets", "the package", "a signal to its parent", "a session of its own")


@cache
def _reached(sandbox: Sandbox, names: tuple[tuple[str, object], ...], folder: Path
             ) -> dict[str, int]:
    """Run statements in one sandbox; return how each ended."""
    from minigrad_course.grading.confine import BITS, OTHERS, REFUSED

    bundle = make_bundle(STAGE, {MODULE: STUB}, folder / "one")
    other = make_bundle(STAGE, None, folder / "other")
    other.chmod(0o700)
    (bundle / "child.py").write_text(CHILD, encoding="utf-8")
    calls = {**REFUSED, **{name: numbers for name, (numbers, *_) in BITS.items()},
             **{name: numbers[:2] for name, numbers in OTHERS.items()}}
    attacks = {name: code for name, code in REACHING.items()
               if sandbox.method != "limits" or name in HARMLESS}
    job = json.dumps({"attacks": attacks, "calls": calls, "grader": os.getpid(),
                      "names": {**dict(names), "OTHER": str(other)}}).encode()
    open_to_others(folder)
    ended = sandbox.run(bundle, ["probes"], job, LIMITS.__class__(seconds=300))
    assert not ended.reason and not ended.status, ended
    return dict(json.loads(line) for line in ended.output.splitlines())


@each_sandbox
@pytest.mark.parametrize("attack", REACHING)
@pytest.mark.slow
def test_nothing_is_reached(attack, sandbox, names, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp() / f"reach-{sandbox.method}"
    folder.mkdir(exist_ok=True)
    ended = _reached(sandbox, tuple(names.items()), folder)
    assert ended[attack] != 0, f"{sandbox.method}: {attack} was reached"


@pytest.mark.parametrize("attack", HARMLESS)
@pytest.mark.slow
def test_without_a_sandbox_it_would_be(attack, names, tmp_path_factory):
    """The statements do reach what they try to where nothing keeps them from it."""
    folder = tmp_path_factory.getbasetemp() / "reach-limits"
    folder.mkdir(exist_ok=True)
    assert _reached(Sandbox("limits"), tuple(names.items()), folder)[attack] == 0


@each_sandbox
@pytest.mark.slow
def test_nothing_stays_in_shared_folders(sandbox, tmp_path):
    """What a run leaves where everybody can write is gone before the next."""
    ran("""
        import os, tempfile
        for place in ('/tmp', '/var/tmp', '/dev/shm', '/dev/mqueue', '/run/lock'):
            try:
                os.makedirs(place + '/minigrad-was-here/d', exist_ok=True)
                open(place + '/minigrad-was-here/d/f', 'w').write('x')
            except OSError: pass
    """, tmp_path, sandbox)
    assert not [place for place in ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock")
                if os.path.exists(f"{place}/minigrad-was-here")]


@each_sandbox
@pytest.mark.slow
def test_a_run_inherits_nothing_of_the_grader_s(sandbox, tmp_path, monkeypatch):
    """Neither its environment, with keys and tokens, nor a file that it has opened."""
    monkeypatch.setenv("GRADER_TOKEN", "secret")
    with open(tmp_path / "opened", "w") as file:
        os.set_inheritable(file.fileno(), True)
        told = json.loads(ran("""
            import json, os
            files = {}
            for number in range(200):
                try: files[number] = os.stat(number).st_ino
                except OSError: pass
            print(json.dumps([dict(os.environ), files]))
        """, tmp_path, sandbox))
        assert os.fstat(file.fileno()).st_ino not in told[1].values()
    assert set(told[1]) == {"0", "1", "2"}
    assert "secret" not in json.dumps(told)
    assert set(told[0]) <= {"PATH", "HOME", "TMPDIR", "LANG", "LC_CTYPE", "PWD", "PYTHONHASHSEED",
                            "PYTHONDONTWRITEBYTECODE", *ONE_THREAD}


@each_sandbox
@pytest.mark.slow
def test_a_run_leaves_nothing_for_the_next(sandbox, tmp_path):
    """The tests' process has references that the probes' process must not get, even in a file."""
    found = [ran("""
        import glob, os, sys
        places = {os.environ["HOME"], os.environ["TMPDIR"], os.getcwd(), os.path.dirname(__file__),
                  "/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock", *sys.path}
        names = ("usercustomize.py", "sitecustomize.py", "conftest.py", "pytest.ini", "left.pth",
                 "probes.pyc", ".local/lib/left", "__pycache__/left")
        seen = []
        for place in places:
            for name in names:
                try: seen += [name] * (open(os.path.join(place, name)).read() == "left = 1")
                except OSError: pass
        for place in places:
            for name in names:
                path = os.path.join(place, name)
                try:
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    open(path, "w").write("left = 1")
                except OSError: pass
        print(len(seen))
    """, tmp_path, sandbox) for _ in range(2)]
    assert [each.strip() for each in found] == ["0", "0"]


@each_sandbox
@pytest.mark.slow
def test_a_bundle_is_read_by_its_own_run_alone(sandbox, tmp_path):
    """The right to read it is its user's; what lies in the temporary folder is no exception."""
    bundle = make_bundle(STAGE, {MODULE: STUB}, tmp_path / "bundle")
    (bundle / "child.py").write_text("print(len(open(__file__).read()))\n", encoding="utf-8")
    open_to_others(tmp_path)
    assert int(sandbox.run(bundle, [], b"", LIMITS).output) > 10
    # an ordinary user cannot give it to another one; there, a run sees no bundle but its own
    assert bundle.stat().st_mode & 0o007 == 0 or os.geteuid()


@pytest.mark.parametrize("kind", ["the package", "an installed package", "an environment",
                                  "an archive"])
def test_nothing_is_graded_where_an_answer_is_shown(kind, tmp_path, monkeypatch):
    place = {"the package": "minigrad/__init__.py", "an archive": "cache/minigrad_course-1.whl",
             "an installed package": "old/site-packages/minigrad/__init__.py",
             "an environment": "venv/lib/python3/site-packages/minigrad/__init__.py"}[kind]
    (tmp_path / "lib" / place).parent.mkdir(parents=True)
    (tmp_path / "lib" / place).write_text("")
    monkeypatch.setattr(reach, "inside_library", lambda: [str(tmp_path / "lib")])
    with pytest.raises(CourseError, match="may be minigrad with all answers"):
        reach.refuse_answers()


def test_nothing_is_graded_where_the_class_is_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(reach, "inside_library", lambda: [str(tmp_path / "lib")])
    reach.refuse_answers([tmp_path / "class"])
    with pytest.raises(CourseError, match="a graded process could read .*class"):
        reach.refuse_answers([tmp_path / "lib" / "class"])


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc")
def test_no_folder_of_programs_is_shown():
    """Python's prefix may hold a checkout or an environment; nothing of it is shown but files."""
    shown = [*reach.inside_library(), *reach.shared_libraries(), reach.interpreter(),
             *(path for _, path in reach.libraries())]
    for folder in ("/usr", "/usr/lib", "/usr/local", "/opt", "/lib", "/home", sys.base_prefix,
                   sys.prefix, *reach.site_folders(), *reach.standard_library()):
        assert folder not in shown
    assert not any(os.path.isdir(path) for path in reach.shared_libraries())
    assert not any(Path(minigrad.__file__).is_relative_to(path) for path in shown)


@each_sandbox
@pytest.mark.slow
def test_a_run_can_use_what_it_needs(sandbox, tmp_path):
    """Nothing that an answer may need was given up."""
    assert ran("""
        import ctypes, decimal, hashlib, json, math, os, random, subprocess, sys, tempfile
        import threading, numpy as np, pytest, concurrent.futures as futures
        with tempfile.TemporaryDirectory() as folder: open(folder + '/a', 'w').write('x')
        with tempfile.TemporaryFile() as file: np.save(file, np.ones(9))
        with futures.ThreadPoolExecutor(4) as pool: list(pool.map(math.sqrt, range(9)))
        np.linalg.inv(np.eye(50)); np.random.default_rng(1).normal(size=9); np.fft.fft([1, 2])
        hashlib.sha256(b'x'); decimal.Decimal(1) / 3; os.urandom(8); os.kill(os.getpid(), 0)
        subprocess.run([sys.executable, '-I', '-S', '-c', ''], check=True)
        print('done')
    """, tmp_path, sandbox) == "done\n"
