"""Which duties of the interface a client was seen to meet or to break, each with its evidence."""
