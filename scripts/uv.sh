# For `.` in a script of this folder: $uv is the uv that scripts/setup.sh fetched, or that of the PATH; it asks the index that pip asks.
for uv in .tools/venv/bin/uv .tools/uv/bin/uv uv; do
    if "$uv" --version >/dev/null 2>&1; then break; fi
done
index="${PIP_INDEX_URL:-$(python3 -m pip config get global.index-url 2>/dev/null || true)}"
if [ -n "$index" ] && [ -z "${UV_DEFAULT_INDEX:-}" ]; then export UV_DEFAULT_INDEX="$index"; fi
