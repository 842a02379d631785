"""Unpack the archive in which a platform exports all submissions of a class.

NOTE [Archives]
    The teacher downloads such an archive from the platform, but students chose many of the names
    and all of the contents in it.  So nothing is written outside the new folder: an entry whose
    path leads elsewhere is an error, and the archive is refused.  If an entry concerns one student
    (a link, a file that is too large or damaged), it alone is left out, and the teacher reads why.
    Only text that can be graded is written; any other file becomes an empty one, whose name is
    enough for the feedback to name the file that is there instead.

    A student's own archive is unpacked if it is all that the student handed in.  An archive that is
    named together with other submissions is a submission itself, because otherwise a student could
    hand in an archive with files of other names.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ..content.plain_text import MAX_BYTES
from ..content.stages import CourseError, Stage
from .platforms import CANVAS, GRADESCOPE, MOODLE
from .printable import one_line
from .users import remove

__all__ = ["Found", "submissions"]

#: The most entries in an archive, and in one student's part of it.
ENTRIES, ENTRIES_OF_ONE = 200_000, 2000
#: The most bytes of a student's own archive, of all texts of one student, and of all texts.
PACKED, OF_ONE, OF_ALL = 8 << 20, 16 << 20, 4 << 30
#: The most bytes of an entry's path, and of folders in it.
PATH, DEPTH = 1000, 20
#: Folders that hold no submission, though archives contain them.
_IGNORED = ("__MACOSX", ".git", "__pycache__", ".ipynb_checkpoints")
#: Gradescope's description of the people.
_METADATA = "submission_metadata.yml"


@dataclass(frozen=True)
class Found:
    """The submissions that a teacher named, and remarks about them."""

    paths: list[Path]
    findings: list[str] = field(default_factory=list)


@contextlib.contextmanager
def submissions(paths: Sequence[Path], stages: Sequence[Stage]) -> Iterator[Found]:
    """Unpack the export of a platform if it is all that was named; delete it afterwards.

    Any other paths are the submissions themselves.  Raises CourseError if the archive is damaged or
    dangerous.
    """
    if len(paths) != 1 or paths[0].suffix.lower() != ".zip" or not paths[0].is_file():
        yield Found(list(paths))
        return
    folder = Path(tempfile.mkdtemp(prefix="minigrad-export-"))
    try:
        yield _unpacked(paths[0], folder / "export", stages) or Found(list(paths))
    finally:
        remove(str(folder))


def _unpacked(file: Path, into: Path, stages: Sequence[Stage]) -> Found | None:
    """Unpack an archive; return `None` if no platform makes archives like this one."""
    with _opened(file) as archive:
        findings: list[str] = []
        entries = _entries(archive, file.name, findings)
        # students choose some of the names, so the layout of most entries decides
        counts = {layout: sum(layout(name) is not None for name in entries)
                  for layout in (_moodle, _canvas, _gradescope, _github)}
        part_of = max(counts, key=lambda layout: counts[layout])
        if not counts[part_of]:
            return None
        parts: dict[str, list[str]] = {}
        left = OF_ALL
        for name in sorted(entries):
            if (part := part_of(name)) is not None:
                parts.setdefault(part, []).append(name)
            elif PurePosixPath(name).name == _METADATA:
                left -= _write(archive, entries[name], into / _METADATA, MAX_BYTES * 16)
            else:
                findings.append(f"{file.name}: {name} belongs to no submission and was left out")
        made = []
        for part, names in parts.items():
            there = _Part(archive, file.name, into, part, stages)
            made.append(there.unpack({name: entries[name] for name in names}))
            findings += there.findings
            left -= there.size
            if left < 0:
                raise CourseError(f"{file}: its texts have more than {OF_ALL} bytes; {names[-1]} "
                                  "is the entry that exceeds the limit")
    return Found(sorted(made), [one_line(each) for each in findings])


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except OSError as error:
        raise CourseError(f"cannot unpack {file}: {error.strerror or error}") from None
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise CourseError(f"{file} is not a readable ZIP archive: {error}") from None


def _entries(archive: zipfile.ZipFile, name: str, findings: list[str]
             ) -> dict[str, zipfile.ZipInfo]:
    """Return the entries that are files, by path; raise CourseError if one leads elsewhere."""
    found: dict[str, zipfile.ZipInfo] = {}
    if len(archive.infolist()) > ENTRIES:
        raise CourseError(f"{name} has {len(archive.infolist())} entries; the limit is {ENTRIES}")
    for entry in archive.infolist():
        path, parts = entry.filename, PurePosixPath(entry.filename).parts
        shown = one_line(entry.orig_filename)[:200]
        if ".." in parts or path.startswith("/") or re.match(r"[A-Za-z]:", path):
            raise CourseError(f"{name}: the entry {shown!r} leads out of the archive's folder")
        if entry.is_dir() or set(_IGNORED) & set(parts) or parts[-1].startswith("."):
            continue
        if path in found:
            why = "is there twice"
        elif "\\" in path or one_line(entry.orig_filename) != entry.orig_filename:
            why = "has a name with a backslash or hidden characters"
        elif len(path.encode(errors="replace")) > PATH or len(parts) > DEPTH:
            why = f"has a path with more than {PATH} bytes or {DEPTH} folders"
        else:
            found[path] = entry
            continue
        findings.append(f"{name}: the entry {shown!r} {why}; it was left out")
    return found


# Each returns the beginning of an entry's path that all entries of its submission share, or `None`.

def _moodle(name: str) -> str | None:
    first, separator, _ = name.partition("/")
    match = MOODLE.match(first)
    if not match or "onlinetext" in match[0]:
        return None
    return first + separator if separator else match[0]


def _canvas(name: str) -> str | None:
    match = CANVAS.match(name)
    # the number of the attachment differs between the files of one submission
    return name[: match.start(3)] if match and "/" not in name else None


def _gradescope(name: str) -> str | None:
    return _folder(name, lambda parts: bool(GRADESCOPE.fullmatch(parts[-1])))


def _github(name: str) -> str | None:
    return _folder(name, lambda parts: len(parts) == 2 and parts[0].endswith("-submissions"))


def _folder(name: str, fits: Callable[[Sequence[str]], bool]) -> str | None:
    """Return the first folder of at most two in an entry's path that fits."""
    folders = name.split("/")[:-1]
    return next(("/".join(folders[:count]) + "/" for count in (1, 2)
                 if len(folders) >= count and fits(folders[:count])), None)


class _Part:
    """One student's part of an export."""

    def __init__(self, archive: zipfile.ZipFile, name: str, into: Path, part: str,
                 stages: Sequence[Stage]) -> None:
        self.archive, self.name, self.into, self.part = archive, name, into, part
        self.stages = stages
        self.findings: list[str] = []
        self.size = 0

    def unpack(self, entries: dict[str, zipfile.ZipInfo]) -> Path:
        """Write the files of one submission, and return its path: a file or a folder."""
        first = next(iter(entries))
        is_folder = self.part.endswith("/")
        inside = {name.removeprefix(self.part) if is_folder else name: entry
                  for name, entry in entries.items()}
        (only, entry), *others = inside.items()
        into = self.into / PurePosixPath(self.part if is_folder else first).name
        if others or "/" in only:
            return self._write_all(self.archive, self._placed(inside) if not is_folder else inside,
                                   into)
        if PurePosixPath(only).suffix.lower() == ".zip":
            return self._own_archive(entry, into, only)
        if not is_folder:
            self._write(self.archive, entry, into)
            return into
        if MOODLE.match(into.name):  # the name that Moodle gives to a file without a folder
            into = self.into / f"{into.name.rstrip('_')}_{only}"
        else:
            into = into / only
        self._write(self.archive, entry, into)
        return into

    def _placed(self, inside: dict[str, zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
        """Return files without folders by the path of the exercise with the same name, if any.

        Canvas adds a number to the name of a file that was handed in again.
        """
        paths = {stage.exercise(module, Path()) for stage in self.stages
                 for module in stage.modules}
        counts = Counter(path.name for path in paths)
        known = {path.name: path.as_posix() for path in paths if counts[path.name] == 1}
        found = {}
        for name, entry in inside.items():
            own = (CANVAS if CANVAS.match(name) else MOODLE).sub("", name, count=1)
            plain = re.sub(r"-\d+(?=\.py$)", "", own)
            place = known.get(own) or known.get(plain) or own
            found[place if place not in found else name] = entry
        return found

    def _own_archive(self, entry: zipfile.ZipInfo, into: Path, only: str) -> Path:
        """Unpack a student's archive into a folder, or leave an empty file if it is refused."""
        own = into.with_name(f"{into.name}.part")
        own.parent.mkdir(parents=True, exist_ok=True)
        try:
            _write(self.archive, entry, own, PACKED)
            with _opened(own) as archive:
                entries = _entries(archive, only, self.findings)
                top = {name.partition("/")[0] for name in entries}
                (folder,) = top if len(top) == 1 else ("",)
                known = {"exercises", *(stage.key for stage in self.stages)}
                is_wrapped = folder not in {"", *known} and all("/" in name for name in entries)
                return self._write_all(archive, {
                    name.partition("/")[2] if is_wrapped else name: each
                    for name, each in entries.items()}, into)
        except CourseError as error:
            self.findings.append(f"{self.name}: {entry.filename} was left packed: {error}".replace(
                f"{own}", only))
            into.mkdir(parents=True, exist_ok=True)
            (into / only).touch()
            return into
        finally:
            own.unlink(missing_ok=True)

    def _write_all(self, archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo],
                   into: Path) -> Path:
        into.mkdir(parents=True, exist_ok=True)
        for number, (name, entry) in enumerate(entries.items()):
            if number == ENTRIES_OF_ONE:
                self.findings.append(f"{self.name}: {entry.filename} and all entries after it were "
                                     f"left out: the limit for one submission is {ENTRIES_OF_ONE}")
                break
            self._write(archive, entry, into / name)
        return into

    def _write(self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path) -> None:
        if path.suffix.lower() != ".py":
            with contextlib.suppress(OSError):  # another file is where it needs a folder
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
            return
        try:
            self.size += _write(archive, entry, path, min(MAX_BYTES, OF_ONE - self.size))
        except CourseError as error:
            self.findings.append(f"{self.name}: {error}; it was left out")


def _write(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, most: int) -> int:
    """Write an entry to a new file and return its size; raise CourseError if it is refused."""
    kind = entry.external_attr >> 16
    shown = one_line(entry.filename)
    if stat.S_IFMT(kind) not in (0, stat.S_IFREG):
        raise CourseError(f"{shown} is a {'link' if stat.S_ISLNK(kind) else 'special file'}")
    if entry.flag_bits & 1:
        raise CourseError(f"{shown} is encrypted")
    if entry.file_size > most:
        raise CourseError(f"{shown} has {entry.file_size} bytes; the limit is {most}")
    try:
        with archive.open(entry) as packed:
            data = packed.read(most + 1)
        if len(data) > most:
            raise CourseError(f"{shown} unpacks to more than {most} bytes")
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "xb") as file:
            return file.write(data)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError,
            ValueError) as error:
        raise CourseError(f"{shown} cannot be unpacked: {error}") from None
    except OSError as error:
        raise CourseError(f"{shown} cannot be unpacked: {os.strerror(error.errno or 0)}") from None
