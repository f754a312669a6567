#!/bin/sh
# Resolves requirements*.in into the pinned files with their hashes, for every Python that setup.sh accepts.
set -eu
cd "$(dirname "$0")/.."
for uv in .tools/venv/bin/uv .tools/uv/bin/uv uv; do
    if "$uv" --version >/dev/null 2>&1; then break; fi
done
for name in requirements requirements-erp requirements-dev requirements-bench requirements-uv requirements-build requirements-docs; do
    echo "lock: $name.in -> $name.txt"
    "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
        --output-file "$name.txt" "$@" "$name.in"
done
