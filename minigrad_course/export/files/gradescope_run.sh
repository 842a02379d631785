#!/usr/bin/env bash
# Grades a submission and writes results.json; Gradescope starts it as root.
set -euo pipefail
root="${AUTOGRADER_ROOT:-/autograder}"
python="${MINIGRAD_PYTHON:-/opt/minigrad/bin/python}"

# The graded process runs as a separate user, who must not read any of this.
mkdir -p "$root/results"
chmod -R go-rwx "$root/source" "$root/results"
for name in submission submission_metadata.json; do
  if [ -e "$root/$name" ]; then chmod go-rwx "$root/$name"; fi
done

cd /
export PYTHONPATH="$root/source/package" PYTHONDONTWRITEBYTECODE=1
"$python" -P -s -m minigrad_course.export.guard
exec "$python" -P -s -m minigrad_course grade "$root/submission" \
  --course "$root/source/course.toml" --format gradescope --out "$root/results/results.json"
