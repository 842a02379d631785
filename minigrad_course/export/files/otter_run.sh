#!/usr/bin/env bash
# Grades a notebook with Otter-Grader and writes results.json; Gradescope starts it.
set -euo pipefail
root="${AUTOGRADER_ROOT:-/autograder}"
python="${MINIGRAD_PYTHON:-/opt/minigrad/bin/python}"
cd "$root"
export PYTHONPATH="$root/source/package"
exec "$python" -P -c "import sys; from otter.run.run_autograder import main; main(sys.argv[1])" "$root"
