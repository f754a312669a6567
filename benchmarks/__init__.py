"""What the hot path costs, paired in one run with what it could cost: `make bench`, docs/internals/performance.md."""

import shelfsync  # noqa: F401  before pyarrow, as in each process of its own: it names the allocator
