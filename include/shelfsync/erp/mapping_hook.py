"""The operator's own hook: a function `DataFrame -> DataFrame` that runs on each chunk of an extract.

It is named `package.module:function` or `/path/to/file.py:function`. It gets the ERP's columns; those that `columns` maps have shelfsync's
names. It returns at least `vendor` and `sku`, and may change, drop and add rows. Cells are the unchanged values of the driver or the file
(text for CSV, Arrow-backed types for Parquet, Python objects for SQL), so that a decimal stays a decimal.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import traceback
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING

from shelfsync import arrow_setup
from shelfsync.errors import ConfigurationError, DataError, without_stop
from shelfsync.file_access import reject_shared

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    import pandas as pd

SETTING = "SHELFSYNC_ERP__MAPPING"
_FORM = re.compile(r"(?P<where>.+):(?P<function>[A-Za-z_]\w*)", re.DOTALL)


class MappingHook:
    """The hook by its name. It is imported when it is first used."""

    def __init__(self, name: str) -> None:
        form = _FORM.fullmatch(name)
        if form is None:
            raise ConfigurationError(
                SETTING, f"{name!r} names no function", "Write package.module:function or /path/to/file.py:function."
            )
        self.name = name
        self._where, self._function = form["where"], form["function"]
        self._loaded: Callable[[pd.DataFrame], pd.DataFrame] | None = None

    def load(self) -> Callable[[pd.DataFrame], pd.DataFrame]:
        """The function itself; a ConfigurationError if it cannot be imported."""
        if self._loaded is None:
            function = getattr(self._module(), self._function, None)
            if not callable(function):
                raise ConfigurationError(
                    SETTING,
                    f"{self._where} has no function {self._function!r}",
                    f"Define `def {self._function}(frame: pandas.DataFrame) -> pandas.DataFrame` there, or name another.",
                )
            self._loaded = function
        return self._loaded

    def apply(self, frame: pd.DataFrame, chunk: int) -> pd.DataFrame:
        """The hook's answer for the chunk of that number (from 1); a DataError names hook, chunk and exception."""
        import pandas as pd

        hook = self.load()
        arrow_setup.with_pandas()
        try:
            answer = hook(frame)
        except (Exception, SystemExit) as error:
            frames = traceback.extract_tb(error.__traceback__)
            at = ([one for one in frames if one.filename == _file_of(hook)] or frames)[-1]  # not of a library
            raise DataError(
                f"{SETTING}: the hook {self.name!r} failed on chunk {chunk} of the extract ({len(frame)} rows) with "
                f"{type(error).__name__}: {without_stop(error, 300)} ({Path(at.filename).name}, line {at.lineno}). "
                "Correct the hook; nothing was sent."
            ) from error
        if not isinstance(answer, pd.DataFrame):
            raise ConfigurationError(
                SETTING,
                f"the hook {self.name!r} answered {type(answer).__name__} on chunk {chunk} instead of a DataFrame",
                "Let it return the frame.",
            )
        return answer

    def _module(self) -> ModuleType:
        is_file = self._where.endswith(".py")
        if is_file and not Path(self._where).is_file():
            raise ConfigurationError(SETTING, f"there is no file {self._where!r}", "Correct the path before the colon.")
        if is_file:
            reject_shared(Path(self._where), SETTING)
        try:
            return _module_of_file(Path(self._where)) if is_file else importlib.import_module(self._where)
        except Exception as error:
            raise ConfigurationError(
                SETTING,
                f"{self._where} cannot be imported: {type(error).__name__}: {without_stop(error, 300)}",
                "Correct the module or the name; a module must be on PYTHONPATH, a file needs its whole path.",
            ) from error


def _module_of_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"shelfsync_mapping_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _file_of(hook: Callable[..., object]) -> str | None:
    """The file of a function, of a decorated one, or of an object that is called."""
    for found in (inspect.unwrap(hook), type(hook).__call__):
        if isinstance(code := getattr(found, "__code__", None), CodeType):
            return code.co_filename
    return None
