#!/bin/sh
# croniter 7.0.0 and apscheduler 3.11.3: `30 2 * * *` comes twice in the night in which Berlin's clocks go back, at 02:30
# summer time and at 02:30 winter time. What is meant to happen once a night, such as "lower the price again by ten
# percent", happens twice. cronsim 2.8 gives it once.
# Guessed before: once in each of the three.
# Seen on Python 3.11.
set -eu
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check croniter==7.0.0 cronsim==2.8 apscheduler==3.11.3 tzdata==2026.6
cd "$folder"
"$folder/venv/bin/python" - <<'PROGRAM'
from datetime import datetime
from zoneinfo import ZoneInfo

from apscheduler.triggers.cron import CronTrigger
from croniter import croniter
from cronsim import CronSim

zone = ZoneInfo("Europe/Berlin")
start = datetime(2027, 10, 30, 12, tzinfo=zone)


def by_croniter():
    runs = croniter("30 2 * * *", start)
    return [runs.get_next(datetime) for _ in range(3)]


def by_cronsim():
    runs = CronSim("30 2 * * *", start)
    return [next(runs) for _ in range(3)]


def by_apscheduler():
    trigger, runs = CronTrigger.from_crontab("30 2 * * *", timezone=zone), []
    for _ in range(3):
        previous = runs[-1] if runs else None
        runs.append(trigger.get_next_fire_time(previous, previous or start))
    return runs


for name, runs, wanted in (("croniter", by_croniter(), 2), ("apscheduler", by_apscheduler(), 2), ("cronsim", by_cronsim(), 1)):
    night = [run.isoformat() for run in runs if (run.month, run.day) == (10, 31)]
    print(name, *night)
    assert len(night) == wanted, f"{name} gives another number of runs now"
PROGRAM
# Output:
# croniter 2027-10-31T02:30:00+02:00 2027-10-31T02:30:00+01:00
# apscheduler 2027-10-31T02:30:00+02:00 2027-10-31T02:30:00+01:00
# cronsim 2027-10-31T02:30:00+02:00
