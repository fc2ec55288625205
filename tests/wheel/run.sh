#!/usr/bin/env bash
# Builds the wheel from the tracked sources, installs it with what it depends on in an empty environment, and runs the five
# lines and the examples of all public names there. Torch is the one of .venv: from TORCH_INDEX, pip's find-links folder or
# pip's index, as `make setup` has it.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
where=$root/build/wheel
rm -rf "$where" && mkdir -p "$where/source"
cd "$root"
git ls-files -z -- lmc_helpers pyproject.toml README.md 'LICENSE*' | xargs -0 cp --parents -t "$where/source"
pip=(-m pip --disable-pip-version-check --quiet)
.venv/bin/python "${pip[@]}" wheel --no-deps --no-build-isolation -w "$where" "$where/source"
.venv/bin/python -m pip list --format=freeze 2>/dev/null | grep -v "^lmc" >"$where/versions.txt"
.venv/bin/python -m venv "$where/env"
cd "$where"
env/bin/python "${pip[@]}" install ${TORCH_INDEX:+--extra-index-url "$TORCH_INDEX"} -c versions.txt ./*.whl
env/bin/python -I "$root/tests/wheel/examples.py"
