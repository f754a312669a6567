# shelfsync with Airflow, DAGs, plugins and connection types in it. One image for every service of docker-compose.yaml.
# By its exact tag. To pin it by digest as well: docker buildx imagetools inspect python:3.11.14-slim-bookworm, then python:…@sha256:…
FROM python:3.11.14-slim-bookworm

RUN useradd --uid 50000 --create-home shelfsync && install -d -o shelfsync -g shelfsync /var/lib/shelfsync
WORKDIR /opt/shelfsync

COPY requirements.txt requirements-erp.txt requirements-build.txt ./
RUN pip install --no-cache-dir --require-hashes --requirement requirements-build.txt \
    && pip install --no-cache-dir --require-hashes --requirement requirements.txt \
    && pip install --no-cache-dir --require-hashes --requirement requirements-erp.txt

# What Airflow's executor needs besides: docker build --build-arg EXECUTOR=CeleryExecutor (KubernetesExecutor), the value of AIRFLOW__CORE__EXECUTOR.
ARG EXECUTOR=LocalExecutor
COPY requirements-celery.txt requirements-kubernetes.txt ./
RUN case "$EXECUTOR" in \
        LocalExecutor) ;; \
        CeleryExecutor) pip install --no-cache-dir --require-hashes --requirement requirements-celery.txt ;; \
        KubernetesExecutor) pip install --no-cache-dir --require-hashes --requirement requirements-kubernetes.txt ;; \
        *) echo "EXECUTOR=$EXECUTOR is none of LocalExecutor, CeleryExecutor, KubernetesExecutor" >&2; exit 1 ;; \
    esac

# Users and roles of Airflow that an administrator makes: docker build --build-arg AUTH_MANAGER=FabAuthManager (docs/reference/access.md).
ARG AUTH_MANAGER=SimpleAuthManager
COPY requirements-fab.txt ./
RUN case "$AUTH_MANAGER" in \
        SimpleAuthManager) ;; \
        FabAuthManager) pip install --no-cache-dir --require-hashes --requirement requirements-fab.txt ;; \
        *) echo "AUTH_MANAGER=$AUTH_MANAGER is none of SimpleAuthManager, FabAuthManager" >&2; exit 1 ;; \
    esac

COPY pyproject.toml README.md ./
COPY include include
COPY plugins plugins
COPY dags dags
# In place, as in a checkout: Airflow finds the connection types by the installed project, and dags/ and plugins/ where they stand.
RUN pip install --no-cache-dir --no-deps --no-build-isolation --editable .

USER shelfsync
ENV PYTHONUNBUFFERED=1
