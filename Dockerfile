# The operator's image. BASE is any Debian or python image with Python >= 3.11, pip and venv.
ARG BASE=docker.io/library/python:3.11-slim

FROM ${BASE} AS build
ARG UV_VERSION=0.13.9
# The same source gives the same files: no dates in bytecode, and none compiled at start.
ARG SOURCE_DATE_EPOCH=0
ENV SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH} \
    PYC_INVALIDATION_MODE=UNCHECKED_HASH \
    UV_LINK_MODE=copy \
    UV_NO_CACHE=1 \
    UV_PROJECT_ENVIRONMENT=/opt/elasticep \
    UV_PYTHON=python3 \
    UV_PYTHON_DOWNLOADS=never \
    UV_SYSTEM_CERTS=1
RUN python3 -m venv /opt/uv \
    && /opt/uv/bin/pip install --no-cache-dir --disable-pip-version-check "uv==${UV_VERSION}"
WORKDIR /src
# The lock is the authority: nothing is resolved here, and the workspace's other member is not
# there. Dependencies change seldom, so they are a layer of their own.
COPY pyproject.toml uv.lock ./
RUN /opt/uv/bin/uv sync --frozen --no-dev --package elasticep --no-install-project \
    --compile-bytecode
COPY README.md LICENSE ./
COPY operator ./operator
RUN /opt/uv/bin/uv sync --frozen --no-dev --package elasticep --no-editable \
    && /opt/elasticep/bin/python -m compileall -q --invalidation-mode unchecked-hash \
       /opt/elasticep/lib/python3*/site-packages/elasticep

FROM ${BASE}
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="elasticep" \
      org.opencontainers.image.description="Kubernetes operator for SGLang elastic expert-parallel groups" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# Nothing is written at run time: the root file system may be read-only.
ENV PATH=/opt/elasticep/bin:/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
WORKDIR /
EXPOSE 8080
ENTRYPOINT ["elasticep"]
CMD ["run"]
COPY --from=build /opt/elasticep /opt/elasticep
# A number, because runAsNonRoot cannot judge a name; no entry in /etc/passwd is needed.
USER 65532:65532
