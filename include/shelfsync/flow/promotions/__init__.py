"""The promotions' path over real parts: extract, plan, deliver, wait, confirm, report; and settle, which finishes what was lost."""
