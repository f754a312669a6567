"""The control plane under /_sandbox: a person or a test steers the platform with it."""
