"""shelfsync keeps the catalog of a delivery app equal to a chain's ERP."""

import os
import sys

if sys.platform == "linux":
    # pyarrow takes the name when it is loaded, so it stands before all else. With mimalloc, its default, a full sync of a million SKUs
    # takes 40 MiB more, at the same CPU (pyarrow 26.0.1, whose Linux wheels have jemalloc). Whoever sets the variable chooses himself.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "jemalloc")
