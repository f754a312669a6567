#!/usr/bin/env bash
# The long tests in two processes side by side: one whole installation, and everything else on three workers. An installation
# waits for schedules most of its time, and the workers for the processes that their tests start. The words of the command line
# go to both, so one of them may find no test (pytest's exit code 5). What `make proof` alone runs is left out.
# INSTALLATION=no leaves the installation out.
set -uo pipefail
cd "$(dirname "$0")/.."
log=.tools/test-installation.log
mkdir -p .tools
export EXAMPLES=${EXAMPLES:-45} # of each property

others() {
    .venv/bin/python -m pytest -n 3 --dist loadfile -m "(slow or scale) and not installation and not proof" --durations=30 --durations-min=5 "$@"
}

if [[ ${INSTALLATION:-yes} == no ]]; then
    others "$@"
    exit
fi

.venv/bin/python -m pytest -m "installation and slow and not proof" "$@" >"$log" 2>&1 &
installation=$!
trap 'kill -INT "$installation" 2>/dev/null; wait "$installation"; exit 130' INT TERM

others "$@"
rest=$?
wait "$installation"
whole=$?
printf '\n--- one whole installation, meanwhile (%s)\n' "$log"
cat "$log"

((rest == 5 && whole == 5)) && exit 5
((rest == 0 || rest == 5)) || exit "$rest"
((whole == 0 || whole == 5)) || exit "$whole"
