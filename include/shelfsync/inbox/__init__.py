"""Webhook events: received, stored unchanged, and read by the steps that wait for them."""
