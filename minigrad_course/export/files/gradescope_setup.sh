#!/usr/bin/env bash
# Prepares the image once, as root with a network: Python, what grading needs, our wheel.
set -euo pipefail
source="${AUTOGRADER_ROOT:-/autograder}/source"
umask 022

python="${MINIGRAD_PYTHON:-}"  # set if everything needed is already installed
if [ -z "$python" ]; then
  for name in python3.13 python3.12 python3.11; do
    if "$name" -c 'import ensurepip, venv' 2>/dev/null; then python="$name"; break; fi
  done
  if [ -z "$python" ]; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update
    for name in python3.13 python3.12 python3.11; do
      if apt-get install -y "$name" "$name-venv"; then python="$name"; break; fi
    done
  fi
  "$python" -m venv /opt/minigrad
  python=/opt/minigrad/bin/python
  "$python" -m pip install --disable-pip-version-check -r "$source/requirements.txt"
fi

# Keep the package where a graded process cannot read it, because its modules are the answers.
"$python" -m zipfile -e "$source"/minigrad_course-*.whl "$source/package"
chmod -R go-rwx "$source"
