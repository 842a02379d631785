"""Which sandbox is taken, when nothing is graded, and how much a Linux without Landlock keeps."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

import minigrad
from minigrad_course.content.stages import CourseError
from minigrad_course.grading import confine, sandbox
from minigrad_course.grading.sandbox import METHODS, Sandbox, gives_users
from minigrad_course.grading.users import USERS
from tests.support.attacks import SANDBOXES, each_sandbox, open_to_others, ran
from tests.support.slow import slow_but

#: `best_sandbox` without its memory, which would keep one test's choice for the others.
best = sandbox.best_sandbox.__wrapped__
USER = Sandbox("user")
SHARED = ("/tmp", "/var/tmp", "/dev/shm", "/run/lock")

users_alone = pytest.mark.skipif(
    USER not in SANDBOXES,
    reason="needs to be root, with a Python that every user can start")


@pytest.fixture
def with_kinds(monkeypatch):
    """Let some kinds of sandboxes work, for root or somebody else; nothing is started."""
    def choose(kinds, root=True):
        monkeypatch.setattr(sandbox, "works", lambda kind: kind in (*kinds, "limits"))
        monkeypatch.setattr(sandbox, "refuse_answers", lambda: None)
        monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 1000, raising=False)

    monkeypatch.delenv(sandbox.ANY, raising=False)
    return choose


@pytest.mark.parametrize("kind", [kind for kind in METHODS if kind != "limits"])
def test_the_first_that_works_is_taken(kind, with_kinds):
    order = list(METHODS)
    with_kinds(order[order.index(kind):])
    assert best() == Sandbox(kind)


@pytest.mark.skipif(os.name != "posix", reason="there is no root")
def test_root_is_refused_where_limits_are_all(with_kinds, monkeypatch):
    with_kinds([], root=False)
    assert best() == Sandbox("limits")
    with_kinds([])
    with pytest.raises(CourseError, match=f"would run as root.*set {sandbox.ANY}=1"):
        best()
    monkeypatch.setenv(sandbox.ANY, "1")
    assert best() == Sandbox("limits")


@pytest.mark.parametrize("kind", METHODS)
def test_bubblewrap_can_be_required(kind, with_kinds, monkeypatch):
    with_kinds([kind])
    monkeypatch.setenv(sandbox.ANY, "1")
    if kind == "bubblewrap":
        assert best(required=True) == Sandbox(kind)
        return
    with pytest.raises(CourseError, match="needs bubblewrap"):
        best(required=True)


@each_sandbox
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="root alone gives users")
def test_root_gives_each_run_a_user_of_its_own(sandbox, tmp_path):
    if sandbox.method == "bubblewrap" and not gives_users():
        pytest.skip("bubblewrap cannot change users here")
    code = "import os; print(os.getuid(), os.geteuid(), os.getgid(), *os.getgroups())"
    users = [set(map(int, ran(code, tmp_path, sandbox).split())) for _ in range(2)]
    assert [len(each) for each in users] == [1, 1]
    assert users[0] != users[1] and users[0] | users[1] <= set(USERS)


@pytest.fixture
def no_landlock(tmp_path, monkeypatch):
    """A Linux that does not know Landlock's calls."""
    text = Path(confine.__file__).read_text(encoding="utf-8")
    assert text.count("_LANDLOCK = 444 ") == 1
    copy = tmp_path / "confine.py"
    copy.write_text(text.replace("_LANDLOCK = 444 ", "_LANDLOCK = 1_000_000 "), encoding="utf-8")
    monkeypatch.setattr(confine, "__file__", str(copy))


@users_alone
def test_without_landlock_a_package_that_all_can_read_is_refused(tmp_path, monkeypatch, request):
    package = tmp_path / "package.py"
    package.write_text("", encoding="utf-8")
    open_to_others(tmp_path)
    monkeypatch.setattr(minigrad, "__file__", str(package))
    package.chmod(0o644)
    assert sandbox._user_works()
    request.getfixturevalue("no_landlock")
    with pytest.raises(CourseError, match="everyone on this machine can read"):
        sandbox._user_works()
    package.chmod(0o640)
    assert sandbox._user_works()


@users_alone
def test_without_landlock_the_rights_of_a_file_decide(tmp_path, no_landlock):
    for name, rights in (("closed", 0o640), ("open", 0o644)):
        (tmp_path / name).write_text(name, encoding="utf-8")
        (tmp_path / name).chmod(rights)
    assert ran(f"""
        for name in ("closed", "open"):
            for mode in "ra":
                try:
                    open({str(tmp_path)!r} + "/" + name, mode).close()
                    print(name, mode)
                except PermissionError:
                    pass
    """, tmp_path, USER) == "open r\n"


@users_alone
def test_without_landlock_nothing_stays_in_shared_folders(tmp_path, no_landlock):
    wrote = ran(f"""
        import os
        for place in {SHARED}:
            try:
                os.makedirs(place + "/minigrad-was-here/d")
                open(place + "/minigrad-was-here/d/f", "w").close()
                print(place)
            except OSError:
                pass
    """, tmp_path, USER)
    assert "/tmp" in wrote.split()
    assert not [place for place in SHARED if os.path.exists(f"{place}/minigrad-was-here")]


#: Statements that the user and the filter of calls keep from reaching anything.
KEPT_OUT = {
    "the network": "socket.socket()",
    "a signal to its parent": "os.kill(os.getppid(), 0)",
    "its parent's memory": "open(f'/proc/{os.getppid()}/mem', 'rb')",
    "its parent's environment": "open(f'/proc/{os.getppid()}/environ', 'rb').read()",
    "its parent's limits": "resource.prlimit(os.getppid(), resource.RLIMIT_CPU)",
    "a session of its own": "os.setsid()",
    "a file in memory": "os.memfd_create('x')",
    "a shared mapping": "mmap.mmap(-1, 4096)",
    "a file of its own for everybody": "os.chmod(__file__, 0o777)",
    "being root": "os.setuid(0)",
}


@users_alone
@pytest.mark.parametrize("attack", slow_but(2, KEPT_OUT))
def test_without_landlock_this_is_kept_out(attack, tmp_path, no_landlock):
    assert ran(f"""
        import mmap, os, resource, socket
        try:
            {KEPT_OUT[attack]}
            print("reached")
        except PermissionError:
            print("refused")
    """, tmp_path, USER) == "refused\n"
