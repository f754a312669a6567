#!/bin/sh
# What `make bench` measures against (requirements-bench.txt), into .tools/peers: beside the project, never among what it runs with.
# Without the package index the benchmark runs all the same and says which peers are missing.
set -eu
cd "$(dirname "$0")/.."
wanted="$(cat requirements-bench.txt scripts/peers.sh | cksum)"
stamp=.tools/peers.stamp
[ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && exit 0
. scripts/uv.sh
echo "bench: installing what is measured against"
rm -rf .tools/peers
if "$uv" pip install --quiet --require-hashes --python .venv/bin/python --target .tools/peers -r requirements-bench.txt; then
    printf '%s\n' "$wanted" > "$stamp"
else
    echo "bench: the peers cannot be installed; they are left out" >&2
fi
