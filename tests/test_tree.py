"""The package that is tested is the one beside the tests; the tests that documents name exist."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import minigrad

ROOT = Path(__file__).resolve().parents[1]


def test_the_package_lies_beside_its_tests():
    assert Path(minigrad.__file__).parent == ROOT / "minigrad"


def test_the_quick_twins_and_their_tests_are_there_together_or_not_at_all():
    # `make test-generic` runs the tests in a copy without both.
    assert (find_spec("minigrad.codegen") is not None) == (ROOT / "tests" / "codegen").is_dir()


#: Folders whose files are named by their whole path.
FOLDERS = "benchmarks|docs|lessons|minigrad|minigrad_course|notebooks|site|solutions|tests"
NAMED = re.compile(rf"(?<![\w/.])(?:{FOLDERS})/[\w./-]+\.(?:py|md|toml|json|txt|html|svg|sh)\b")
#: Folders that the copy of `make test-generic` lacks.
REMOVED = re.compile(r"^(minigrad|tests)/codegen/")
#: Files that a reader makes, or that a build makes.
TO_BE_MADE = re.compile(r"NN_|DATE|^minigrad/ops/math/scaling\.py$|^benchmarks/results/gpu\.json$")
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/README.md"),
             ROOT / "Makefile", ROOT / "pyproject.toml", ROOT / "tests/mutation/survivors.toml"]


def missing(files: list[Path], pattern: re.Pattern[str]) -> set[tuple[str, str]]:
    """Return the file and the name for each path that is named and does not exist."""
    return {(file.relative_to(ROOT).as_posix(), name) for file in files
            for name in pattern.findall(file.read_text(encoding="utf-8"))
            if not (ROOT / name).is_file() and not TO_BE_MADE.search(name)
            and not (REMOVED.search(name) and not find_spec("minigrad.codegen"))}


def test_files_that_documents_name_exist():
    assert missing([file for file in DOCUMENTS if file.name != "CHANGELOG.md"], NAMED) == set()


def test_files_that_the_page_of_the_package_names_exist():
    page = (ROOT / "minigrad/README.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w./]+(?:\.py|/))`", page)
    assert len(named) > 30
    assert [name for name in named if not (ROOT / "minigrad" / name).exists()
            and not REMOVED.search(f"minigrad/{name}")] == []
    links = re.findall(r"\]\(([^)#]+)\)", page)
    assert links and all((ROOT / "minigrad" / link).is_file() for link in links)


def test_tests_that_sources_name_exist():
    files = [file for folder in ("minigrad", "minigrad_course", "tests")
             for file in (ROOT / folder).rglob("*.py")]
    assert missing([ROOT / "CHANGELOG.md", *files],
                   re.compile(r"\btests/[a-z_0-9/]+\.py\b")) == set()


#: Tests of PyTorch's own, which are not in this repository.
PYTORCHS = {"test_autograd.py", "test_functional.py", "test_eager_transforms.py", "test_vmap.py"}


def test_files_that_the_pages_on_reliability_name_in_short_exist():
    page = "".join((ROOT / f"docs/en/{name}.md").read_text(encoding="utf-8")
                   for name in ("reliability", "reliability_appendix"))
    files = {f"/{file.relative_to(ROOT).as_posix()}" for folder in ("minigrad", "tests")
             for file in (ROOT / folder).rglob("*") if "__pycache__" not in file.parts}
    named = re.findall(r"`((?:[\w.]+/)*(?:\w+\.py|\w+/))`", page)
    assert len(named) > 20
    assert [name for name in named if name.rpartition("/")[2] not in PYTORCHS
            and not any(file.endswith(f"/{name.removesuffix('/')}") for file in files)] == []


def test_a_file_that_is_gone_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.test_tree.ROOT", tmp_path)
    (tmp_path / "page.md").write_text("docs/gone.md, minigrad/x.py and lib/docs/other.md")
    (tmp_path / "minigrad").mkdir()
    (tmp_path / "minigrad" / "x.py").touch()
    assert missing([tmp_path / "page.md"], NAMED) == {("page.md", "docs/gone.md")}
