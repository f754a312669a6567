#!/usr/bin/env bash
# The long proofs, one after the other, each with a log of its own in .tools/proof. A part that fails stops no other; the end lists all.
# PARTS names some of them; the other words of the environment make a part shorter or longer.
set -uo pipefail
cd "$(dirname "$0")/.."
logs=.tools/proof
mkdir -p "$logs"
week=$(date +%G%V) # each week has seeds of its own

declare -A parts=(
    # without what the parts below repeat in full
    [long]=".venv/bin/python -m pytest -n 2 --dist loadfile -m 'proof and not installation' -k 'not for_a_minute and not test_fuzz' --ignore tests/mutation --ignore tests/simulation/test_abandoned.py"
    [laws]="EXAMPLES=${EXAMPLES:-500} .venv/bin/python -m pytest -n 2 --timeout=0 tests/properties"
    [installation]="make --no-print-directory test-installation"
    [workers]=".venv/bin/python -m pytest -m 'proof and installation' tests/installation"
    [postgres]="make --no-print-directory test-postgres"
    [seeds]="make --no-print-directory simulate SEEDS=${SEEDS:-1000} START=${week}000"
    [campaigns]="make --no-print-directory simulate SEEDS=${CAMPAIGN_SEEDS:-100} START=${week}000 ARGS=--campaigns"
    [crash-sweep]="make --no-print-directory crash-sweep"
    [kills]="make --no-print-directory crash KILLS=${KILLS:-50} SEED=${week}"
    [mutation]="make --no-print-directory mutation ARGS='--jobs 2'"
    [fuzz]="make --no-print-directory fuzz SECONDS=${FUZZ_S:-60}"
    [soak]="make --no-print-directory soak MINUTES=${MINUTES:-60} SEED=${week} ARGS=--alerts"
)
order=(laws long installation workers postgres seeds campaigns crash-sweep kills mutation fuzz soak)
failed=()
for part in ${PARTS:-${order[@]}}; do
    [[ -v parts[$part] ]] || { echo "no part is named $part; there are: ${order[*]}" >&2; exit 2; }
done
for part in ${PARTS:-${order[@]}}; do
    log=$logs/$part.log
    began=$SECONDS
    if bash -c "${parts[$part]}" >"$log" 2>&1; then result=passed; else result=FAILED failed+=("$part"); fi
    printf '%-13s %s  %d min  %s\n' "$part" "$result" $(((SECONDS - began + 30) / 60)) "$log"
done
((${#failed[@]} == 0)) || { echo "failed: ${failed[*]}" >&2; exit 1; }
