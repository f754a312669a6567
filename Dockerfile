# shelfsync with Airflow, DAGs, plugins and connection types in it. One image for every service of docker-compose.yaml.
# By its exact tag. To pin it by digest as well: docker buildx imagetools inspect python:3.11.14-slim-bookworm, then python:…@sha256:…
FROM python:3.11.14-slim-bookworm

RUN useradd --uid 50000 --create-home shelfsync && install -d -o shelfsync -g shelfsync /var/lib/shelfsync
WORKDIR /opt/shelfsync

COPY requirements.txt requirements-erp.txt requirements-build.txt ./
RUN pip install --no-cache-dir --require-hashes --requirement requirements-build.txt \
    && pip install --no-cache-dir --require-hashes --requirement requirements.txt \
    && pip install --no-cache-dir --require-hashes --requirement requirements-erp.txt

COPY pyproject.toml README.md ./
COPY include include
COPY plugins plugins
COPY dags dags
# In place, as in a checkout: Airflow finds the connection types by the installed project, and dags/ and plugins/ where they stand.
RUN pip install --no-cache-dir --no-deps --no-build-isolation --editable .

USER shelfsync
ENV PYTHONUNBUFFERED=1
