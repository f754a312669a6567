#!/bin/sh
# The client's tests (links, redirects, limits, TLS) on httpx2, the continuation of httpx, in the version named here.
set -eu
cd "$(dirname "$0")/.."
version=2.16.2
. scripts/uv.sh
"$uv" pip install --quiet --python .venv/bin/python --no-deps --target .tools/httpx2 --upgrade "httpx2==$version" "httpcore2==$version" truststore==0.10.5
PYTHONPATH=tests/support:.tools/httpx2 exec .venv/bin/python -m pytest -n 0 --timeout=120 -p on_httpx2 tests/partner_api "$@"
