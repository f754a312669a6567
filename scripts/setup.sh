#!/bin/sh
# Makes .venv: what requirements-dev.txt pins, and this project itself. Needs a Python 3.11 to 3.14 and the package index,
# nothing else: neither pip nor venv nor uv has to be there (without the first two, root's apt or PIP_INDEX_URL helps). Does nothing, at once, when nothing has changed.
#   PYTHON=python3.12 make setup      another Python
#   PIP_INDEX_URL=https://...         another package index
set -eu
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

inputs="requirements.txt requirements-dev.txt requirements-build.txt requirements-uv.txt pyproject.toml sandbox/pyproject.toml scripts/setup.sh"
stamp=.venv/shelfsync-setup
wanted="$(cat $inputs | cksum) $(pwd)"
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && .venv/bin/python -c '' 2>/dev/null; then
    exit 0
fi

python=
for candidate in ${PYTHON:-} python3 python3.12 python3.13 python3.11 python3.14 python; do
    if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null; then
        python="$candidate"
        break
    fi
done
[ -z "${PYTHON:-}" ] || [ "$PYTHON" = "$python" ] || fail "PYTHON=$PYTHON is no Python 3.11 to 3.14. Name one that is, or leave it unset"
[ -n "$python" ] || fail "no Python 3.11 to 3.14 found. Install one, or name it: PYTHON=/path/to/python3.12 make setup"
python="$("$python" -c 'import sys; print(sys.executable)')"

mkdir -p .tools
log=.tools/setup.log
: > "$log"

# uv: the one that requirements-uv.txt pins, from the index by whichever way this Python offers; else one that stands on the PATH.
uv=
uv_version="$(sed -n 's/^uv==\([^ ]*\).*/\1/p' requirements-uv.txt)"
find_uv() {
    for candidate in .tools/venv/bin/uv .tools/uv/bin/uv; do
        case "$("$candidate" --version 2>/dev/null)" in
            "uv $uv_version"|"uv $uv_version "*) uv="$candidate"; return 0 ;;
        esac
    done
    return 1
}
pinned_uv="--quiet --require-hashes --requirement requirements-uv.txt"
get_uv() {
    say "fetching uv with $python"
    if "$python" -m venv --clear .tools/venv >>"$log" 2>&1 && .tools/venv/bin/python -m pip install $pinned_uv >>"$log" 2>&1 && find_uv; then
        return
    fi
    rm -rf .tools/venv
    pip="$python -m pip"
    if ! $pip --version >>"$log" 2>&1 && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        say "this Python has neither pip nor venv: installing python3-venv"
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y python3-venv; } >>"$log" 2>&1 || true
        if "$python" -m venv --clear .tools/venv >>"$log" 2>&1 && .tools/venv/bin/python -m pip install $pinned_uv >>"$log" 2>&1 && find_uv; then
            return
        fi
        rm -rf .tools/venv
    fi
    if ! $pip --version >>"$log" 2>&1; then
        say "this Python has no pip: fetching that first"
        "$python" scripts/fetch_pip.py .tools/pip.whl >>"$log" 2>&1 || return 0
        pip="$python .tools/pip.whl/pip"
    fi
    for flag in "" --break-system-packages; do
        if $pip install --upgrade --target .tools/uv $flag $pinned_uv >>"$log" 2>&1 && find_uv; then return; fi
    done
}
why() { # the telling line of the log
    { grep -i -E 'connection|resolve|timed out|certificate|not permitted|no space' "$log" || grep -v '^ *$' "$log"; } | tail -n 1 | sed 's/^ *//' | cut -c 1-300
}
find_uv || get_uv
if [ -z "$uv" ] && uv="$(command -v uv)"; then say "uv $uv_version cannot be fetched: taking $("$uv" --version) of the PATH"; fi
[ -n "$uv" ] || fail "the package index cannot be used: $(why). Check the network, or name an index in PIP_INDEX_URL. All of it: $log"

# uv reads neither pip's variables nor its file.
index="${PIP_INDEX_URL:-$("$python" -m pip config get global.index-url 2>/dev/null || true)}"
if [ -n "$index" ] && [ -z "${UV_DEFAULT_INDEX:-}" ]; then export UV_DEFAULT_INDEX="$index"; fi
if [ -n "${PIP_CERT:-}" ] && [ -z "${SSL_CERT_FILE:-}" ]; then export SSL_CERT_FILE="$PIP_CERT"; fi
export UV_PYTHON_DOWNLOADS=never UV_NO_PROGRESS=1 UV_HTTP_TIMEOUT="${UV_HTTP_TIMEOUT:-180}"

step() { # what, then the command
    what="$1"; shift
    say "$what"
    "$@" >>"$log" 2>&1 || fail "$what failed: $(why). Is the package index reachable? All of it: $log"
}
if ! .venv/bin/python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null; then
    step "making .venv with $python" "$uv" venv --clear --python "$python" .venv
fi
rm -f "$stamp"
step "installing what requirements-dev.txt pins (some 500 MB the first time)" "$uv" pip sync --require-hashes --python .venv/bin/python requirements-dev.txt
step "installing this project and its sandbox" \
    "$uv" pip install --python .venv/bin/python --no-deps --build-constraint requirements-build.txt --editable . --editable ./sandbox
printf '%s\n' "$wanted" > "$stamp"
say "ready: .venv ($(.venv/bin/python --version))"
