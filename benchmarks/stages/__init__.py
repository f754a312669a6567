"""The stages of the benchmark."""

from __future__ import annotations

from benchmarks.stages import diff, export, formats, full, outcomes, reading, steps, stream, sync, tools, upload

STAGES = {
    stage.name: stage
    for stage in (
        *(diff.STAGE, stream.STREAM, full.STAGE, stream.VENDOR, steps.STAGE),
        *(
            reading.STAGE,
            formats.STAGE,
            outcomes.STAGE,
            export.STAGE,
            upload.STAGE,
            steps.PATH,
            sync.LARGE,
            sync.SMALL,
            tools.STAGE,
        ),
    )
}
