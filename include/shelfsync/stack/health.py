"""What services say of themselves when they are asked over HTTP."""

from __future__ import annotations

SCHEDULER, TRIGGERER, DAG_PROCESSOR = "scheduler", "triggerer", "dag-processor"
API_SERVER = "api-server"
_PARTS = {
    "metadatabase": API_SERVER,
    "scheduler": SCHEDULER,
    "triggerer": TRIGGERER,
    "dag_processor": DAG_PROCESSOR,
}
PATIENCE_S = 5.0


def answers(url: str) -> bool:
    """Whether somebody there says that all is well."""
    status = said(url)
    return status is not None and status < 500


def said(url: str, *, patience_s: float = PATIENCE_S) -> int | None:
    """The status of the answer, whatever it is; None: there was none."""
    import httpx

    try:
        return httpx.get(url, timeout=patience_s, trust_env=False).status_code
    except httpx.HTTPError:
        return None


def sick_parts(url: str) -> list[str]:
    """Airflow's components that do not call themselves healthy, as services; the API server where it or the database is away."""
    import httpx

    try:
        answer = httpx.get(url, timeout=PATIENCE_S, trust_env=False).json()
    except (httpx.HTTPError, ValueError):
        return [API_SERVER]
    return [service for part, service in _PARTS.items() if answer.get(part, {}).get("status") != "healthy"]
