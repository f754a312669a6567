"""The stages of the benchmark, one a file."""

from __future__ import annotations

from benchmarks.stages import diff, export, full, outcomes, path, steps, stream, tools, upload, vendor

STAGES = {
    module.STAGE.name: module.STAGE
    for module in (diff, stream, full, vendor, steps, outcomes, export, upload, path, tools)
}
