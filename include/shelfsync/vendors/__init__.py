"""What concerns a store, whatever is sent to it: its lease, its isolation from the others, its 403s, its file of rows."""
