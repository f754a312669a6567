#!/bin/sh
# cronsim 2.8: asked in the second pass of the hour that Berlin's clocks repeat, it gives a next run that is over: at 02:10
# winter time, the next `30 2 * * *` is 02:30 summer time, which was forty minutes before. A scheduler that is started in
# that hour, as after a deployment, does not sleep until its next run and does the work of the night a second time. croniter
# 7.0.0 gives an instant behind the start.
# Guessed before: a next run lies behind the start, whatever the clocks do.
# Seen on Python 3.11.
set -eu
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check cronsim==2.8 croniter==7.0.0 tzdata==2026.6
cd "$folder"
"$folder/venv/bin/python" - <<'PROGRAM'
from datetime import datetime
from zoneinfo import ZoneInfo

from croniter import croniter
from cronsim import CronSim

start = datetime(2027, 10, 31, 2, 10, fold=1, tzinfo=ZoneInfo("Europe/Berlin"))
first = next(CronSim("30 2 * * *", start))
second = croniter("30 2 * * *", start).get_next(datetime)
print("start", start.isoformat())
print("cronsim", first.isoformat(), "minutes from the start:", round((first.timestamp() - start.timestamp()) / 60))
print("croniter", second.isoformat(), "minutes from the start:", round((second.timestamp() - start.timestamp()) / 60))
assert second.timestamp() > start.timestamp()
assert first.timestamp() < start.timestamp(), "the next run lies behind the start now"
PROGRAM
# Output:
# start 2027-10-31T02:10:00+01:00
# cronsim 2027-10-31T02:30:00+02:00 minutes from the start: -40
# croniter 2027-10-31T02:30:00+01:00 minutes from the start: 20
