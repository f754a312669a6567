"""What the hot path costs, paired in one run with what it could cost: `make bench`, docs/internals/performance.md."""
