# Where the model's commands run: docker build -f docker/sandbox.Dockerfile -t hummingbird-sandbox docker
ARG BASE=debian:trixie-slim
FROM ${BASE}

RUN apt-get update \
  && apt-get install -y --no-install-recommends \
    bash coreutils diffutils file findutils gawk grep gzip jq python3 ripgrep sed tar unzip xz-utils yq zstd \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/*

# The service asks for this user too, so that an image without it is no root's either.
USER 10001:10001
WORKDIR /tmp
