from __future__ import annotations

from s3_server import s3  # noqa: F401  a fixture
