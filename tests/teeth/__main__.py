"""`python -m teeth`: see command.py."""

from __future__ import annotations

import sys

from teeth.command import main

sys.exit(main())
