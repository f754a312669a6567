#!/bin/sh
# Resolves requirements*.in into the pinned files with their hashes, for every Python that setup.sh accepts.
set -eu
cd "$(dirname "$0")/.."
. scripts/uv.sh
lock() { # from, to, uv's own arguments
    echo "lock: $1 -> $2"
    from="$1" to="$2"; shift 2
    "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
        --output-file "$to" "$@" "$from"
}
for name in requirements requirements-erp requirements-celery requirements-kubernetes requirements-fab requirements-dev requirements-bench requirements-uv requirements-build requirements-docs; do
    lock "$name.in" "$name.txt" "$@"
done
# The image of the sandbox has the versions that the tests run with.
lock sandbox/pyproject.toml sandbox/requirements.txt --constraint requirements.txt "$@"
