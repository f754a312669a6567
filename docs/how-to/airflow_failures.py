"""Sends a message about each failed task and run of shelfsync's DAGs: a listener of Airflow."""

import json
import os
import urllib.request

from airflow.listeners import hookimpl
from airflow.plugins_manager import AirflowPlugin

DAGS = ("alerts_watch", "assortment_export", "catalog_", "housekeeping", "orders_", "promotions_")


def send(text):
    """To an incoming webhook of Slack. Replace it for e-mail (smtplib) or a pager."""
    body = json.dumps({"text": text}).encode()
    request = urllib.request.Request(os.environ["ALARMS_URL"], body, {"Content-Type": "application/json"})
    urllib.request.urlopen(request, timeout=10).close()


class Messages:
    @hookimpl
    def on_task_instance_failed(self, previous_state, task_instance, error):
        """In the worker, with the text of the alarm. A task that Airflow tries again is no message."""
        if task_instance.dag_id.startswith(DAGS) and task_instance.state == "failed":
            send(f"{task_instance.dag_id}, {task_instance.task_id}: {error}")

    @hookimpl
    def on_dag_run_failed(self, dag_run, msg):
        """In the scheduler. It also sees a task whose process was killed, which can report nothing itself."""
        if dag_run.dag_id.startswith(DAGS):
            send(f"{dag_run.dag_id} failed: run {dag_run.run_id}")


class Alarms(AirflowPlugin):
    name = "alarms"
    listeners = [Messages()]
