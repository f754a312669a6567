"""deploy/kubernetes: what Helm makes of the chart is accepted by Kubernetes, and its commands, variables, ports, paths and secrets are those of the
project.
"""

from __future__ import annotations

import copy
import functools
import importlib.util
import os
import re
import shlex
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import kubernetes_validate
import psycopg
import pytest
import yaml
from pydantic import SecretStr

from command_tree import trouble
from shelfsync.local import init
from shelfsync.local.airflow_home import AirflowKeys
from shelfsync.local.services import Addresses, services
from shelfsync.migrations.upgrade import upgrade
from shelfsync.receiver.endpoints import PATHS
from shelfsync.settings import read_settings
from shelfsync.settings.chain_database import database_of_chain
from shelfsync.settings_file import PROJECT
from shelfsync.store.engine import create_engine

FOLDER = PROJECT / "deploy/kubernetes"
CHART = FOLDER / "shelfsync"
VALUES = "airflow-values.yaml"
HELM = Path(sys.executable).with_name("helm")
pytestmark = pytest.mark.skipif(not HELM.exists(), reason="the package index has Helm for Linux on x86_64 alone")
SANDBOX = ("--set", "sandbox.enabled=true")
CHAINS = (*("--set", "chains={north,south_east}", "--set", "receiver.ingress.tlsSecret=tls"),)
CHAINS += ("--set", "receiver.ingress.hosts.north=north.example.com", "--set", "receiver.ingress.proxies=10.0.0.7")
PAGE = PROJECT / "docs/how-to/kubernetes.md"
VERSIONS = ("1.31.0", "1.37.0")
"""The oldest and the newest Kubernetes whose schemas the resources keep."""
MOUNTED = "/etc/shelfsync/secrets"
SECRETS = {"chart": "shelfsync", "receiver": "shelfsync-receiver"}
CHART_KEYS = {
    *(
        "airflowHome",
        "airflowVersion",
        "apiSecretKeySecretName",
        "apiServer",
        "config",
        "createUserJob",
        "dagProcessor",
    ),
    *(
        "data",
        "defaultAirflowRepository",
        "defaultAirflowTag",
        "env",
        "executor",
        "extraEnvFrom",
        "fernetKeySecretName",
    ),
    *("jwtSecretName", "logs", "migrateDatabaseJob", "postgresql", "scheduler", "securityContexts", "statsd"),
    *("triggerer", "volumeMounts", "volumes", "workers"),
}
"""Looked up in the chart's documentation: its schema cannot be had from a package index."""


def helm(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([HELM, *words], capture_output=True, text=True, check=False, timeout=120)


@functools.cache
def rendered(*options: str) -> list[dict[str, Any]]:
    """What Helm makes of the chart; the tests read it and change nothing in it."""
    done = helm("template", "shelfsync", str(CHART), *options)
    assert done.returncode == 0, done.stderr
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def refused(*options: str) -> str:
    done = helm("template", "shelfsync", str(CHART), *options)
    assert done.returncode
    return done.stderr


ALL = rendered(*SANDBOX) if HELM.exists() else []


@pytest.fixture(scope="module")
def values() -> dict[str, Any]:
    return yaml.safe_load((FOLDER / VALUES).read_text("utf-8"))


def pod_of(resource: dict[str, Any]) -> dict[str, Any] | None:
    spec = resource.get("spec", {})
    spec = spec.get("jobTemplate", {}).get("spec", spec)
    return spec["template"]["spec"] if "template" in spec else None


PODS = {one["metadata"]["name"]: pod for one in ALL if (pod := pod_of(one))}


def container(name: str) -> dict[str, Any]:
    (only,) = PODS[name]["containers"]
    return only


def variables(name: str) -> dict[str, Any]:
    return {one["name"]: one.get("value", one.get("valueFrom")) for one in container(name).get("env", ())}


def config_map(name: str) -> dict[str, str]:
    (found,) = (one["data"] for one in ALL if one["kind"] == "ConfigMap" and one["metadata"]["name"] == name)
    return found


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("options", [(), SANDBOX, CHAINS])
def test_kubernetes_accepts_each_resource_and_knows_each_of_its_fields(options, version) -> None:
    for resource in rendered(*options):
        kubernetes_validate.validate(resource, version, strict=True)


def test_a_slip_of_the_pen_is_none_of_its_fields() -> None:
    deployment = next(one for one in ALL if one["kind"] == "Deployment")
    deployment = copy.deepcopy(deployment)
    deployment["spec"]["template"]["spec"]["containers"][0]["readynessProbe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(deployment, VERSIONS[-1], strict=True)


def test_helm_finds_nothing_to_complain_of() -> None:
    done = helm("lint", "--strict", str(CHART))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("imge.tag=2", "imge"),
        ("receiver.replicas=1", "replicas"),
        ("chains={North}", "chains"),
        ("settings.SHELFSYNC_RATE_LIMIT__REQUESTS_PER_MINUTE=50", "REQUESTS_PER_MINUTE"),
        ("settings.shelfsync_home=/x", "shelfsync_home"),
        ("receiver.ingress.hosts.north=shop.example.com", 'there is no chain "north"'),
    ],
)
def test_a_wrong_value_is_refused_by_its_name(option, said) -> None:
    assert said in refused("--set", option)


def test_a_receiver_without_tls_is_refused() -> None:
    assert "does not travel without TLS" in refused(
        "--set", "chains={a}", "--set", "receiver.ingress.hosts.a=a.example.com"
    )


def settings_of(given: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The settings of a pod with these variables."""
    with monkeypatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("SHELFSYNC_")]:
            patch.delenv(name)
        for name, value in given.items():
            if name.startswith("SHELFSYNC_") and not name.endswith("_FILE"):
                patch.setenv(name, value)
        return read_settings()


def webhook_of(given: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Any:
    return settings_of(given, monkeypatch).webhook


def test_a_receiver_listens_beyond_its_pod(monkeypatch) -> None:
    webhook = webhook_of(variables("shelfsync-receiver"), monkeypatch)
    assert (webhook.host, webhook.port) == ("0.0.0.0", 8480)


def test_each_chain_has_its_receiver_its_alerts_and_its_host(monkeypatch) -> None:
    found = rendered(*CHAINS)
    named = {(one["kind"], one["metadata"]["name"]): one for one in found}
    for chain, name in (("north", "north"), ("south_east", "south-east")):
        deployment = named["Deployment", f"shelfsync-receiver-{name}"]
        (there,) = deployment["spec"]["template"]["spec"]["containers"]
        given = {one["name"]: one["value"] for one in there["env"]}
        assert given["SHELFSYNC_CHAIN"] == chain
        assert given[f"SHELFSYNC_CHAINS__{chain.upper()}__WEBHOOK__SECRET_FILE"].startswith(MOUNTED)
        webhook = webhook_of(given, monkeypatch)
        assert (webhook.host, webhook.port) == ("0.0.0.0", 8480)
        assert [str(one) for one in webhook.proxies] == ["10.0.0.7/32"]
        (volume,) = deployment["spec"]["template"]["spec"]["volumes"]
        assert volume["secret"]["secretName"] == f"shelfsync-receiver-{name}"
        selector = named["Service", f"shelfsync-receiver-{name}"]["spec"]["selector"]
        assert selector == deployment["spec"]["template"]["metadata"]["labels"]
        job = pod_of(named["CronJob", f"shelfsync-alerts-{name}"])["containers"][0]
        assert job["env"] == [{"name": "SHELFSYNC_CHAIN", "value": chain}]
    (ingress,) = (one for one in found if one["kind"] == "Ingress")
    (rule,) = ingress["spec"]["rules"]
    assert rule["host"] == "north.example.com"
    assert {path["backend"]["service"]["name"] for path in rule["http"]["paths"]} == {"shelfsync-receiver-north"}


def test_the_receivers_paths_are_open_to_the_internet_and_no_other() -> None:
    """Not `/health`, which asks the database."""
    (ingress,) = (one for one in rendered(*CHAINS) if one["kind"] == "Ingress")
    (rule,) = ingress["spec"]["rules"]
    paths = {path["path"]: path["pathType"] for path in rule["http"]["paths"]}
    assert paths == {**dict.fromkeys(PATHS, "Exact"), "/picking": "Prefix"}


def test_a_receiver_has_the_picking_secret_and_those_of_before_if_they_are_named(monkeypatch) -> None:
    option = "receiver.secretSettings"
    words = ("ORDERS__PICKING_SECRET=picking-secret", "WEBHOOK__SECRET_PREVIOUS=webhook-secret-previous")
    found = rendered(*[part for word in words for part in ("--set", f"{option}.{word}")])
    (there,) = (
        pod_of(one)["containers"][0]
        for one in found
        if (one["kind"], one["metadata"]["name"]) == ("Deployment", "shelfsync-receiver")
    )
    given = {one["name"]: one["value"] for one in there["env"]}
    assert given["SHELFSYNC_ORDERS__PICKING_SECRET_FILE"] == f"{MOUNTED}/picking-secret"
    assert given["SHELFSYNC_WEBHOOK__SECRET_PREVIOUS_FILE"] == f"{MOUNTED}/webhook-secret-previous"
    assert given["SHELFSYNC_WEBHOOK__SECRET_FILE"] == f"{MOUNTED}/webhook-secret"
    webhook_of(given, monkeypatch)  # each is a setting


def test_the_receiver_of_the_chain_that_was_alone_keeps_its_database(monkeypatch) -> None:
    found = rendered("--set", "chains={demo,north}", "--set-string", "settings.SHELFSYNC_CHAINS__DEMO__WAS_ALONE=true")
    databases = {}
    for chain in ("demo", "north"):
        (there,) = (
            pod_of(one)["containers"][0]
            for one in found
            if (one["kind"], one["metadata"]["name"]) == ("Deployment", f"shelfsync-receiver-{chain}")
        )
        given = {one["name"]: one["value"] for one in there["env"]}
        settings = settings_of(given | {"SHELFSYNC_DATABASE_URL": "postgresql://db/shelfsync"}, monkeypatch)
        databases[chain] = settings.database_url.get_secret_value()
    assert databases == {"demo": "postgresql://db/shelfsync", "north": "postgresql://db/shelfsync_north"}


def test_the_schema_comes_before_everything_else() -> None:
    hooks = {
        one["metadata"]["name"]: one["metadata"].get("annotations", {}).get("helm.sh/hook")
        for one in ALL
        if one["kind"] == "Job"
    }
    assert hooks == {"shelfsync-migrate": "pre-install,pre-upgrade"}
    (migrate,) = (pod_of(one) for one in ALL if one["kind"] == "Job")
    assert "envFrom" not in migrate["containers"][0], "the ConfigMap of this chart is not there yet"
    assert "volumes" not in migrate


def test_there_is_what_the_page_names() -> None:
    assert set(PODS) == {"shelfsync-receiver", "shelfsync-migrate", "shelfsync-alerts", "sandbox"}
    page = PAGE.read_text("utf-8")
    for file in (CHART / "values.yaml", FOLDER / VALUES):
        assert str(file.relative_to(PROJECT)) in page
    assert {*re.findall(r"deploy/kubernetes/([\w./-]+yaml)", page)} == {"shelfsync/values.yaml", VALUES}
    commands = re.findall("^    (.+)$", (CHART / "templates/NOTES.txt").read_text("utf-8"), re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        assert command in page


@pytest.mark.parametrize("name", PODS)
def test_a_pod_is_an_ordinary_user_with_limits_and_no_token_of_the_cluster(name: str) -> None:
    pod, there = PODS[name], container(name)
    user = re.search(r"useradd --uid (\d+)", (PROJECT / "Dockerfile").read_text("utf-8"))
    assert user is not None
    assert pod["securityContext"]["runAsUser"] == pod["securityContext"]["fsGroup"] == int(user[1])
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["automountServiceAccountToken"] is False
    assert there["securityContext"]["allowPrivilegeEscalation"] is False
    assert there["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert there["resources"]["requests"].keys() == {"cpu", "memory"}
    assert "memory" in there["resources"]["limits"]


def test_images_have_one_name_each(values: dict[str, Any]) -> None:
    images = {container(name)["image"] for name in PODS}
    ours = f"{values['defaultAirflowRepository']}:{values['defaultAirflowTag']}"
    assert images == {ours, ours.replace("/shelfsync:", "/partner-sandbox:")}


def test_each_command_is_one_of_the_project() -> None:
    table = services(
        Addresses(
            home="/h",
            project="/p",
            database_url="d",
            airflow_database_url="a",
            listen="0.0.0.0",
            sandbox_host="sandbox",
        ),
        keys=AirflowKeys("f", "j", "s"),
        webhook_secret="w",
        more={},
    )
    for name, service in (("shelfsync-migrate", "init"), ("shelfsync-receiver", "receiver"), ("sandbox", "sandbox")):
        assert tuple(container(name)["command"]) == table[service].command
    assert trouble(shlex.join(container("shelfsync-alerts")["command"])) is None
    assert trouble("shelfsync alerts wtach") is not None


def test_selectors_ports_and_budgets_find_their_pods() -> None:
    for resource in ALL:
        kind, spec = resource["kind"], resource.get("spec", {})
        if kind not in {"Service", "PodDisruptionBudget", "Deployment"}:
            continue
        selector = spec["selector"].get("matchLabels", spec["selector"])
        (deployment,) = (
            one
            for one in ALL
            if one["kind"] == "Deployment" and selector.items() <= one["spec"]["template"]["metadata"]["labels"].items()
        )
        (there,) = deployment["spec"]["template"]["spec"]["containers"]
        ports = {port["name"]: port["containerPort"] for port in there["ports"]}
        if kind == "Service":
            assert {port["port"]: ports[port["targetPort"]] for port in spec["ports"]} == {
                port: port for port in ports.values()
            }
        if kind == "PodDisruptionBudget":
            assert spec["minAvailable"] < deployment["spec"]["replicas"]
        for probe in ("readinessProbe", "livenessProbe"):
            way = there.get(probe, {}).get("httpGet") or there.get(probe, {}).get("tcpSocket") or {"port": "http"}
            assert way["port"] in ports
    assert ports_of_sandbox() == {8470, 8471}
    assert int(variables("shelfsync-receiver")["SHELFSYNC_WEBHOOK__PORT"]) == 8480
    assert [port["containerPort"] for port in container("shelfsync-receiver")["ports"]] == [8480]


def ports_of_sandbox() -> set[int]:
    words = container("sandbox")["command"]
    assert words[words.index("--public-url") + 1] == config_map("shelfsync-sandbox")["SHELFSYNC_PLATFORM__BASE_URL"]
    return {int(words[words.index(option) + 1]) for option in ("--port", "--storage-port")}


def keys_of(secret: str) -> set[str]:
    """The keys that the page's commands write into a Secret."""
    (made,) = re.findall(rf"kubectl create secret generic {secret} ((?:.*\\\n)*.*)\n", PAGE.read_text("utf-8"))
    return {*re.findall(r"--from-(?:literal|file)=([\w-]+)=", made)}


def test_each_secret_that_is_read_is_made_by_the_page(values: dict[str, Any]) -> None:
    files = [*config_map("shelfsync").values()]
    assert {Path(one).name for one in files if one.startswith(MOUNTED)} == keys_of("shelfsync")
    receiver = variables("shelfsync-receiver").values()
    assert {Path(one).name for one in receiver if one.startswith(MOUNTED)} == keys_of("shelfsync-receiver")
    for value in variables("shelfsync-migrate").values():
        if isinstance(value, dict):
            assert value["secretKeyRef"]["key"] in keys_of(value["secretKeyRef"]["name"])
    assert keys_of(values["data"]["metadataSecretName"]) == {"connection"}
    assert keys_of(values["fernetKeySecretName"]) == {"fernet-key"}
    assert keys_of(values["apiSecretKeySecretName"]) == {"api-secret-key"}
    assert keys_of(values["jwtSecretName"]) == {"jwt-secret"}


@pytest.mark.parametrize(
    ("mounts", "volumes", "secret"),
    [
        ("shelfsync-receiver", None, "shelfsync-receiver"),
        ("shelfsync-alerts", None, "shelfsync"),
        (None, "volumes", "shelfsync"),
    ],
)
def test_secrets_are_mounted_for_the_group_alone(values, mounts, volumes, secret) -> None:
    pod = PODS[mounts] if mounts else values
    there = container(mounts) if mounts else values
    (mount,), (volume,) = there["volumeMounts"], pod["volumes"]
    assert mount == {"name": volume["name"], "mountPath": MOUNTED, "readOnly": True}
    assert volume["secret"] == {"secretName": secret, "defaultMode": 0o440}


def settings_with(given: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The settings of a pod with these variables, whose secrets are mounted as Kubernetes mounts them: as links."""
    data = folder / "..data"
    data.mkdir()
    for name in [name for name in os.environ if name.startswith("SHELFSYNC_")]:
        monkeypatch.delenv(name)
    for name, value in given.items():
        if value.startswith(MOUNTED):
            key = Path(value).name
            (data / key).write_text(f"postgresql://secret-of-{key}/x\n", "utf-8")
            (data / key).chmod(0o440)
            (folder / key).symlink_to(f"..data/{key}")
        monkeypatch.setenv(name, value.replace(MOUNTED, str(folder)))
    monkeypatch.setenv("SHELFSYNC_HOME", str(folder / "home"))
    return read_settings()


def test_each_variable_is_a_setting_and_each_file_its_secret(tmp_path, monkeypatch) -> None:
    """`read_settings` refuses a name that no setting has."""
    settings = settings_with(config_map("shelfsync"), tmp_path, monkeypatch)
    for secret, key in (
        (settings.database_url, "database-url"),
        (settings.platform.client_secret, "platform-client-secret"),
        (settings.webhook.secret, "webhook-secret"),
        (settings.erp.url, "erp-url"),
        (settings.orders.encryption_key, "orders-encryption-key"),
    ):
        assert secret.get_secret_value() == f"postgresql://secret-of-{key}/x"


def test_the_sandboxs_settings_go_before_those_of_the_platform(tmp_path, monkeypatch, values) -> None:
    settings = settings_with(config_map("shelfsync") | config_map("shelfsync-sandbox"), tmp_path, monkeypatch)
    assert settings.platform.base_url == "http://sandbox:8470"
    assert settings.platform.client_secret.get_secret_value() == "demo-secret"
    order = [{"configMapRef": {"name": "shelfsync"}}, {"configMapRef": {"name": "shelfsync-sandbox", "optional": True}}]
    assert container("shelfsync-alerts")["envFrom"] == yaml.safe_load(values["extraEnvFrom"]) == order


def test_the_paths_are_those_of_the_image(values: dict[str, Any]) -> None:
    lines = (PROJECT / "Dockerfile").read_text("utf-8")
    assert "\nWORKDIR /opt/shelfsync\n" in lines
    environments = [variables("shelfsync-receiver"), variables("shelfsync-migrate")]
    environments.append({one["name"]: one["value"] for one in values["env"]})
    for environment in environments:
        assert environment["PYTHONPATH"] == "/opt/shelfsync/include:/opt/shelfsync/plugins"
    assert environments[-1]["AIRFLOW__CORE__DAGS_FOLDER"] == "/opt/shelfsync/dags"
    assert environments[-1]["AIRFLOW__CORE__PLUGINS_FOLDER"] == "/opt/shelfsync/plugins"
    home = config_map("shelfsync")["SHELFSYNC_HOME"]
    assert f"install -d -o shelfsync -g shelfsync {home}\n" in lines
    assert values["airflowHome"] == variables("shelfsync-migrate")["SHELFSYNC_HOME"] == home


def test_each_option_of_airflow_is_one_and_the_image_has_what_it_names(values: dict[str, Any]) -> None:
    spec = importlib.util.find_spec("airflow")
    assert spec is not None
    assert spec.origin is not None
    known = yaml.load((Path(spec.origin).parent / "config_templates/config.yml").read_bytes(), Loader=yaml.CSafeLoader)
    for section, options in values["config"].items():
        assert {*options} <= known[section]["options"].keys(), section
    for one in values["env"]:
        if one["name"].startswith("AIRFLOW__"):
            _, section, option = one["name"].lower().split("__")
            assert option in known[section]["options"]
    lock = (PROJECT / "requirements-kubernetes.txt").read_text("utf-8")
    assert "\napache-airflow-providers-cncf-kubernetes==" in lock
    assert "\napache-airflow-providers-amazon==" in lock, "what writes task logs to s3://"
    image = (PROJECT / "requirements.txt").read_text("utf-8")
    assert f"apache-airflow=={values['airflowVersion']} " in image
    module, _, name = values["config"]["core"]["auth_manager"].rpartition(".")
    assert name in (Path(spec.origin).parents[1] / f"{module.replace('.', '/')}.py").read_text("utf-8")


def test_the_values_have_keys_of_the_chart_alone_and_no_secret(values: dict[str, Any]) -> None:
    assert {*values} == CHART_KEYS
    assert f"--version {re.search('chart, ([0-9.]+),', (FOLDER / VALUES).read_text('utf-8'))[1]}" in PAGE.read_text()
    assert not re.search(
        "(?i)password|passwd|secret: [^{]", (FOLDER / VALUES).read_text("utf-8").replace("its password in", "")
    )


@pytest.fixture
def database_of_north(database_url):
    url = database_of_chain(SecretStr(database_url), "north").get_secret_value()
    init.ensure_database(url)
    engine = create_engine(url)
    upgrade(engine)
    engine.dispose()
    yield
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{engine.url.database}" WITH (FORCE)')


@pytest.mark.slow
@pytest.mark.usefixtures("database_of_north")
@pytest.mark.parametrize(("name", "options"), [("shelfsync-receiver", ()), ("shelfsync-receiver-north", CHAINS)])
def test_a_receiver_starts_with_what_its_pod_gets_and_is_ready(tmp_path, database_url, name, options) -> None:
    """The probe's own address, on a database whose address stands in the mounted file."""
    (deployment,) = (
        one for one in rendered(*options) if (one["kind"], one["metadata"]["name"]) == ("Deployment", name)
    )
    (there,) = pod_of(deployment)["containers"]
    given = {one["name"]: one["value"] for one in there["env"]}
    folder = tmp_path / "secrets"
    folder.mkdir()
    for setting, value in given.items():
        if value.startswith(MOUNTED):
            file = folder / Path(value).name
            file.write_text(database_url if "DATABASE" in setting else "a-secret-of-some-length", "utf-8")
            file.chmod(0o440)
            given[setting] = str(file)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SHELFSYNC_")}
    given = {one: str(port) if one.endswith("WEBHOOK__PORT") else value for one, value in given.items()}
    given["PYTHONPATH"] = str(PROJECT / "include")
    _, *words = there["command"]
    path = there["readinessProbe"]["httpGet"]["path"]
    process = subprocess.Popen([sys.executable, *words], env=kept | given)
    try:
        deadline = time.monotonic() + 60
        code = 0
        while code != 200:
            assert process.poll() is None
            assert time.monotonic() < deadline
            try:
                code = httpx.get(f"http://127.0.0.1:{port}{path}", trust_env=False).status_code
            except httpx.HTTPError:
                time.sleep(0.2)
    finally:
        process.terminate()
        process.wait()
