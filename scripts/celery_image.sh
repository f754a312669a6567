#!/bin/sh
# What the Dockerfile installs for the build argument EXECUTOR=CeleryExecutor, into .tools/celery: for the test of several workers.
set -eu
cd "$(dirname "$0")/.."
locks="requirements.txt requirements-erp.txt requirements-celery.txt"
wanted="$(cat $locks requirements-build.txt pyproject.toml scripts/celery_image.sh | cksum) $(pwd)"
stamp=.tools/celery/shelfsync-setup
[ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && exit 0
. scripts/uv.sh
"$uv" venv --quiet --clear --python .venv/bin/python .tools/celery
for lock in $locks; do
    "$uv" pip install --quiet --require-hashes --python .tools/celery/bin/python --requirement "$lock"
done
"$uv" pip install --quiet --no-deps --build-constraint requirements-build.txt --python .tools/celery/bin/python --editable .
printf '%s\n' "$wanted" > "$stamp"
