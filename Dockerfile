# shelfsync with Airflow, DAGs, plugins and connection types in it. One image for every service of docker-compose.yaml.
FROM python:3.11-slim

RUN useradd --uid 50000 --create-home shelfsync && install -d -o shelfsync -g shelfsync /var/lib/shelfsync
WORKDIR /opt/shelfsync

COPY requirements.txt ./
RUN pip install --no-cache-dir --requirement requirements.txt

COPY pyproject.toml README.md ./
COPY include include
COPY plugins plugins
COPY dags dags
# In place, as in a checkout: Airflow finds the connection types by the installed project, and dags/ and plugins/ where they stand.
RUN pip install --no-cache-dir --no-deps --editable .

USER shelfsync
ENV PYTHONUNBUFFERED=1
VOLUME /var/lib/shelfsync
