"""`python -m mutation`: see command.py."""

from __future__ import annotations

import sys

from mutation.command import main

sys.exit(main())
