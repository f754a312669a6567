"""`python -m simulation`: see command.py."""

from __future__ import annotations

import sys

from simulation.command import main

sys.exit(main())
