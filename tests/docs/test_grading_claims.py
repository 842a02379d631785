"""What the page on grading claims of the verdict and of the sandbox: each point has its tests.

A point is an item of a list or a row of a table. CLAIMS names the tests that hold it; those with
`[...]` are attacks, which are tried on each sandbox that works.
"""

import ast
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
PAGE = TESTS.parent / "docs" / "en" / "grading.md"
HEADINGS = ("How verdicts are protected", "What does the sandbox keep out?")

REACH = "hostile/test_reach.py::test_nothing_is_reached"
HARM = "hostile/test_harm.py::test_harm_stays_inside"
FORGE = "hostile/test_forging.py::test_forging_gives_no_points"
WITHOUT_LANDLOCK = "hostile/test_choice.py::test_without_landlock_this_is_kept_out"

CLAIMS = {
    # How verdicts are protected
    "The process": [f"{FORGE}[the original by its name]", f"{FORGE}[the solution on disk]",
                    "course/test_grading.py::test_a_graded_process_has_no_fast_paths",
                    "hostile/test_twins.py::test_no_answer_stands_in_the_bundle"],
    "Exercises on `op/`": ["course/test_beside.py::"
                           "test_an_answer_cannot_hand_its_work_on_to_the_package",
                           "course/test_beside.py::"
                           "test_a_bundle_has_no_text_of_the_exercise_and_no_codegen"],
    "Tests": ["hostile/test_forging.py::test_forged_tests_alone_give_nothing_and_take_nothing",
              f"{FORGE}[asserts that always hold]", f"{FORGE}[tests that are gone]"],
    "Probes": [f"{FORGE}[answers of odd types]", f"{FORGE}[the same answer to all]",
               "course/test_grading.py::test_what_differs_is_not_the_same",
               "course/test_grading.py::test_rounding_is_forgiven_and_a_finite_difference_is_not"],
    "Seeds": ["hostile/test_seeds.py::test_a_table_of_answers_is_of_no_use",
              "hostile/test_seeds.py::test_each_text_has_seeds_of_its_own",
              "hostile/test_seeds.py::test_seeds_tell_nothing_of_the_secret"],
    "Secrets": ["hostile/test_seeds.py::test_no_seed_is_shown[standard error]",
                "hostile/test_seeds.py::test_no_seed_is_shown[the text of an error]"],
    "Failures": ["hostile/test_hangs.py::test_the_other_exercises_keep_their_points[a loop]",
                 "hostile/test_hangs.py::test_the_other_exercises_keep_their_points[a crash]",
                 "hostile/test_hangs.py::test_an_open_exercise_leaves_the_others",
                 f"{FORGE}[exit with success]"],
    "Time": ["hostile/test_hangs.py::test_a_silent_submission_has_its_limit",
             "hostile/test_hangs.py::test_all_runs_of_a_submission_share_their_time"],
    "Grader errors": ["hostile/test_class.py::test_no_error_stops_the_class"],
    # What does the sandbox keep out?
    "bubblewrap": ["hostile/test_choice.py::test_the_first_that_works_is_taken",
                   "course/test_grading.py::test_each_sandbox_says_what_it_keeps"],
    "user": ["hostile/test_choice.py::test_root_gives_each_run_a_user_of_its_own"],
    "landlock": ["hostile/test_choice.py::test_the_first_that_works_is_taken"],
    "the network, including sockets on the same machine": [
        f"{REACH}[a server on this machine]", f"{REACH}[a socket in a folder]",
        f"{REACH}[a raw socket]", f"{FORGE}[the answers from a server]",
        f"{WITHOUT_LANDLOCK}[the network]"],
    "reading any file except": [f"{REACH}[users]", f"{REACH}[root's home]",
                             f"{REACH}[the root folder]", f"{REACH}[installed programs]",
                             "hostile/test_reach.py::test_no_folder_of_programs_is_shown",
                             "hostile/test_reach.py::test_a_run_can_use_what_it_needs"],
    "the package, other bundles": [f"{REACH}[the package on disk]",
                                   f"{REACH}[another run's bundle]",
                                   f"{FORGE}[another bundle]",
                                   "hostile/test_reach.py::"
                                   "test_a_bundle_is_read_by_its_own_run_alone"],
    "solutions, other submissions, results": [
        f"{REACH}[the solution]", f"{REACH}[a secret beside the submission]",
        "hostile/test_choice.py::test_without_landlock_the_rights_of_a_file_decide"],
    "writing outside the run's own folder": [
        f"{REACH}[everybody's folder]", f"{REACH}[a link out of the folder]",
        "hostile/test_reach.py::test_nothing_stays_in_shared_folders",
        "hostile/test_choice.py::test_without_landlock_nothing_stays_in_shared_folders"],
    "signals to other processes, and access to their memory or limits": [
        f"{REACH}[a signal to its parent]", f"{REACH}[reading its memory]",
        f"{REACH}[its limits]", f"{WITHOUT_LANDLOCK}[its parent's memory]"],
    "namespaces, mounts, tracing, keys, System V memory": [
        f"{REACH}[a user namespace]", f"{REACH}[a mount]", f"{REACH}[tracing]",
        f"{REACH}[a key]", f"{REACH}[shared memory of System V]", f"{REACH}[a file in memory]"],
    "locks and watches on files": [
        f"{REACH}[a lock on a shared file]", f"{REACH}[a watch on it]",
        "hostile/test_confined.py::test_no_lock_and_no_watch_joins_two_processes"],
    "more than 64 processes and threads": [
        "hostile/test_harm.py::test_few_processes_can_be_started",
        f"{HARM}[a fork bomb]", f"{HARM}[a thread bomb]"],
    "more than 64 MB in files": ["hostile/test_harm.py::test_little_is_stored_in_files",
                                 f"{HARM}[a huge file]", f"{HARM}[deleted files that are open]"],
    "processes that outlive the run": ["hostile/test_harm.py::test_nothing_is_left_running",
                                       f"{HARM}[a child that outlives]"],
    "more than 4 GiB in all processes together": [
        f"{HARM}[all memory by many processes]", f"{HARM}[memory in shared mappings]",
        "course/test_grading.py::test_memory_is_limited_for_all_processes_together"],
    "programs that take Python apart": [
        # it is not kept out; forged answers are wrong all the same
        f"{FORGE}[the frames of the caller]", f"{FORGE}[an import hook]"],
    "Root may not grade without a sandbox": [
        "hostile/test_choice.py::test_root_is_refused_where_limits_are_all"],
    "`--require-sandbox`": ["hostile/test_choice.py::test_bubblewrap_can_be_required"],
    "The code for Windows": ["course/test_grading.py::test_where_pipes_cannot_be_waited_for",
                            "course/test_grading.py::test_no_link_is_followed_on_any_system"],
    "A file or folder named `minigrad`": [
        "hostile/test_reach.py::test_nothing_is_graded_where_an_answer_is_shown"],
    "Root grades without bubblewrap and without Landlock": [
        "hostile/test_choice.py::test_without_landlock_a_package_that_all_can_read_is_refused"],
    "The machine is so busy": [
        "course/test_grading.py::test_a_sandbox_that_cannot_be_tried_in_time_is_no_weaker_one"],
}


def points():
    """Return the items and rows of the page's two parts, without their marks."""
    found = []
    for heading in HEADINGS:
        found += [line[2:].replace("**", "") for line in part_of(heading).splitlines()
                  if line.startswith("- ")]
    rows = [line[2:] for line in part_of(HEADINGS[1]).splitlines() if line.startswith("| ")]
    return found + rows[1:]  # the first is the table's head


def part_of(heading):
    """Return a part of the page."""
    (part,) = (each for each in PAGE.read_text(encoding="utf-8").split("\n## ")
               if each.startswith(heading))
    return part


@cache
def known(file):
    """Return the tests of a file, and the texts in it."""
    nodes = [*ast.walk(ast.parse((TESTS / file).read_text(encoding="utf-8")))]
    return ({node.name for node in nodes if isinstance(node, ast.FunctionDef)},
            {node.value for node in nodes if isinstance(node, ast.Constant)})


def test_each_point_has_an_entry():
    for point in points():
        entries = [claim for claim in CLAIMS if point.startswith(claim)]
        assert len(entries) == 1, f"{point!r} has {entries or 'no entry'} in CLAIMS"
    assert len(points()) == len(CLAIMS)


@pytest.mark.parametrize("claim", CLAIMS)
def test_its_tests_are_there(claim):
    assert CLAIMS[claim]
    for name in CLAIMS[claim]:
        file, _, rest = name.partition("::")
        test, _, attack = rest.partition("[")
        tests, texts = known(file)
        assert test in tests, f"{file} has no {test}"
        assert not attack or attack.removesuffix("]") in texts, f"{file} has no attack {attack}"
