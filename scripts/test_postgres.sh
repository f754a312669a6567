#!/usr/bin/env bash
# What depends on the version of PostgreSQL, on the server in FOLDER (bin, lib): migrations, the ledger, which index a query uses. The
# wheel brings the newest version alone; the docs promise older ones. Without FOLDER: the oldest of Debian's.
# PLANS=no leaves out which index a query uses on tables of years: some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${1:-}
shift || true
if [[ -z $folder ]]; then
    oldest=$(printf '%s\n' /usr/lib/postgresql/*/bin/postgres | sort -V | head -n 1)
    folder=${oldest%/bin/postgres}
fi
if ! [[ -x $folder/bin/postgres ]]; then
    echo "test-postgres: no server in $folder: apt-get install postgresql, or FOLDER=/path/to/another (bin, lib)" >&2
    exit 1
fi
"$folder/bin/postgres" --version
plans=(tests/shelfsync/catalog/steps/test_volume.py tests/shelfsync/orders/steps/test_volume.py)
[[ ${PLANS:-yes} == no ]] && plans=()
exec .venv/bin/python -m pytest -n 2 --dist loadfile --timeout=600 --postgres "$folder" \
    --ignore-glob='*/store/test_*object_store*.py' tests/shelfsync/store tests/shelfsync/migrations "${plans[@]}" "$@"
