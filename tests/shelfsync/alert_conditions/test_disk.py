"""Alert `disk`: a disk of this machine is nearly full; another machine's watch does not end it."""

from __future__ import annotations

from alert_look import kinds, older, with_alerts
from shelfsync.alert_conditions import disk


def test_a_disk_that_is_nearly_full_is_one_alert_whatever_lies_on_it(context):
    context.settings.home.mkdir(exist_ok=True)
    nearly_full = with_alerts(context, disk_free_share=0.9999)
    [(kind, subject)] = kinds(nearly_full)
    assert (kind, subject.partition(" on ")[0]) == ("disk", str(context.settings.home)), (
        "the lake lies on the same disk"
    )
    assert kinds(context) == set()


def test_each_machine_closes_the_alerts_of_its_own_disks_alone(context, tmp_path, monkeypatch):
    context.settings.home.mkdir(exist_ok=True)
    nearly_full, machine = with_alerts(context, disk_free_share=0.9999), tmp_path / "boot_id"
    monkeypatch.setattr(disk, "BOOT_ID", machine)
    for number in (1, 2):
        machine.write_text(f"{number * 11111111}-fa2e-4f77-8d21-fae0082cc3b0\n")
        kinds(nearly_full)
    first, second = (("disk", f"{context.settings.home} on {number * 11111111}") for number in (1, 2))
    assert kinds(context) == {first}
    assert kinds(nearly_full) == {first, second}
    older(context, "ledger.alert", "seen_at", 23 * 60)
    assert kinds(nearly_full) == {first, second}
    older(context, "ledger.alert", "seen_at", 61)
    assert kinds(nearly_full) == {second}, "the other machine is gone"
