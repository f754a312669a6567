from __future__ import annotations

from s3_server import each_s3, s3  # noqa: F401  fixtures
