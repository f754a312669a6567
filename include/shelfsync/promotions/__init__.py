"""Promotions as pure steps: the ERP's rows to campaigns, campaigns to what the platform should hold, that to requests (interface.md 2.4, 4.7)."""
