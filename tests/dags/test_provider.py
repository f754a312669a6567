"""What Airflow learns from the installed project: the connection type with its form, and the options."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path
from typing import Any

import airflow
import jsonschema
import pytest

from shelfsync_airflow.options import OPTIONS
from shelfsync_airflow.provider import provider_info

TYPE = "shelfsync_platform"


@pytest.fixture(scope="module")
def connection_type() -> dict[str, Any]:
    (found,) = provider_info()["connection-types"]
    return found


def test_the_description_fits_airflows_own_schema() -> None:
    schema = json.loads((Path(airflow.__file__).parent / "provider_info.schema.json").read_text("utf-8"))
    jsonschema.validate(provider_info(), schema)


def test_the_connection_type_fits_the_schema_of_forms(connection_type: dict[str, Any]) -> None:
    schema = json.loads((Path(airflow.__file__).parent / "provider.yaml.schema.json").read_text("utf-8"))
    jsonschema.validate([connection_type], schema["properties"]["connection-types"])


def test_the_form_asks_for_everything_the_platform_needs_and_hides_secrets(connection_type: dict[str, Any]) -> None:
    labels = set(connection_type["ui-field-behaviour"]["relabeling"].values())
    fields = connection_type["conn-fields"]
    assert labels | {field["label"] for field in fields.values()} == {
        "Base URL", "Client id", "Client secret", "Chain id", "Static token"
    }  # fmt: skip
    assert fields["token"]["schema"]["format"] == "password"


def test_the_hook_of_the_type_can_be_tested(connection_type: dict[str, Any]) -> None:
    from airflow.sdk.module_loading import import_string

    hook = import_string(connection_type["hook-class-name"])
    assert (hook.conn_type, hook.hook_name) == (connection_type["connection-type"], connection_type["hook-name"])
    assert callable(hook.test_connection)


def test_every_option_is_reported_to_airflow() -> None:
    assert provider_info()["config"]["shelfsync"]["options"].keys() == OPTIONS.keys()


def test_airflow_finds_the_type_in_the_installed_project() -> None:
    try:
        importlib.metadata.distribution("shelfsync")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the project is not installed in this environment; `make setup` installs it")
    from airflow.providers_manager import ProvidersManager
    from airflow.sdk.providers_manager_runtime import ProvidersManagerTaskRuntime

    manager = ProvidersManager()
    assert ProvidersManagerTaskRuntime().hooks[TYPE].connection_testable
    assert manager.connection_form_widgets[f"extra__{TYPE}__token"].is_sensitive
    assert manager.field_behaviours[TYPE]["relabeling"]["host"] == "Base URL"
