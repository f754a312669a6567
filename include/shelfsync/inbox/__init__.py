"""Webhook events: received, kept as they came, and read by whoever waits for them."""
