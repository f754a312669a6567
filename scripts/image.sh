#!/bin/sh
# What the Dockerfile installs beside the usual locks, into .tools/NAME, for a test: image.sh celery is requirements-celery.txt, image.sh fab requirements-fab.txt.
set -eu
cd "$(dirname "$0")/.."
folder=".tools/$1"
locks="requirements.txt requirements-erp.txt requirements-$1.txt"
wanted="$(cat $locks requirements-build.txt pyproject.toml scripts/image.sh | cksum) $(pwd)"
stamp="$folder/shelfsync-setup"
[ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && exit 0
. scripts/uv.sh
"$uv" venv --quiet --clear --python .venv/bin/python "$folder"
for lock in $locks; do
    "$uv" pip install --quiet --require-hashes --python "$folder/bin/python" --requirement "$lock"
done
"$uv" pip install --quiet --no-deps --build-constraint requirements-build.txt --python "$folder/bin/python" --editable .
printf '%s\n' "$wanted" > "$stamp"
