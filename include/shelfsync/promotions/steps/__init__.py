"""The steps of promotions: extract, plan, deliver, wait, confirm, report; and recover, which finishes what earlier runs left open."""
