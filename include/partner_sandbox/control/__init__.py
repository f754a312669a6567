"""The control plane under /_sandbox: what a person or a test does to the platform from outside."""
