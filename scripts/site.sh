#!/bin/sh
# Builds the documentation site into dist/docs: what requirements-docs.txt pins, into .tools/docs, beside the project. A warning ends it.
set -eu
cd "$(dirname "$0")/.."
wanted="$(cat requirements-docs.txt scripts/site.sh | cksum)"
stamp=.tools/docs/shelfsync-setup
if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
    . scripts/uv.sh
    echo "docs: installing what builds the site"
    "$uv" venv --quiet --clear --python .venv/bin/python .tools/docs
    "$uv" pip sync --quiet --require-hashes --python .tools/docs/bin/python requirements-docs.txt
    printf '%s\n' "$wanted" > "$stamp"
fi
rm -rf dist/docs
.tools/docs/bin/zensical build --strict --clean 2>&1
PYTHONPATH=include:plugins .venv/bin/python -m scripts.reference dist/docs
if grep -rlE '<(script|link|img|iframe)[^>]+(src|href)="?https?://' dist/docs --include='*.html'; then
    echo "docs: these pages load something from the network" >&2
    exit 1
fi
echo "docs: dist/docs/index.html; to read and search it: python3 -m http.server --directory dist/docs 8000"
