# Three images from one source; compose.yml runs them together. docs/operations/install.md, "In containers", says how.
#   docker build --target writer -t trendvault-writer .      (or: origin, edge-for-trying)
# None has a compiler or a package of the build, runs as root, or writes outside /var/lib/trendvault and /tmp.

# Another mirror's copy, or a digest: --build-arg DEBIAN=…
ARG DEBIAN=debian:trixie-slim

# --- What is built, by the same bin/setup as everywhere -----------------------------------------------------------
FROM ${DEBIAN} AS build
# Debian's archive keeps the newest build of a package only, so no build can be named here (tools/README.md).
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates gcc libc6-dev nodejs npm php8.4-cli php8.4-curl php8.4-intl \
    php8.4-mbstring php8.4-sqlite3 php8.4-xml \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/trendvault
# What decides which tools and packages are installed, before the source: a change of the source downloads nothing.
COPY bin/setup bin/
COPY tools/setup tools/setup
COPY package.json bun.lock bunfig.toml ./
COPY api/package.json api/
COPY api/supervisor api/supervisor
COPY tests/browser/package.json tests/browser/
COPY tests/kit/package.json tests/kit/
COPY web/client/package.json web/client/
COPY contract/package.json contract/
COPY edge-worker/package.json edge-worker/
COPY api/follow/package.json api/follow/
COPY web/page/package.json web/page/
COPY tools/release/package.json tools/release/
COPY writer/composer.json writer/
RUN bin/setup bun origin
COPY . .
RUN bin/setup bun php origin \
  && .tools/bin/bun run --cwd api build \
  && .tools/bin/bun run --cwd api/follow build \
  && rm -rf writer/tests

# --- What each image has ----------------------------------------------------------------------------------------
FROM ${DEBIAN} AS base
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get upgrade --yes \
  && apt-get install --yes --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/* \
  && groupadd --system --gid 10001 trendvault \
  && useradd --system --uid 10001 --gid trendvault --home-dir /var/lib/trendvault --shell /usr/sbin/nologin trendvault \
  && install -d -o trendvault -g trendvault -m 0750 /var/lib/trendvault /var/lib/trendvault/spool /etc/trendvault \
  && install -d -o trendvault -g trendvault -m 0755 /var/lib/trendvault-metrics
COPY --from=build /opt/trendvault/.tools/bun/bin/bun /opt/trendvault/.tools/supervisor/supervisor /usr/local/bin/
COPY --from=build /opt/trendvault/api/dist /opt/trendvault/api/dist
COPY --from=build /opt/trendvault/web/page/dist /opt/trendvault/web/page/dist
COPY --from=build /opt/trendvault/LICENSE /opt/trendvault/LICENSE
WORKDIR /opt/trendvault
ENV DB_PATH=/var/lib/trendvault/trendvault.db
VOLUME /var/lib/trendvault

# --- The writer: `writer cron` every minute; or any of its commands -----------------------------------------------
FROM base AS writer
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install --yes --no-install-recommends php8.4-cli php8.4-curl php8.4-intl php8.4-mbstring php8.4-sqlite3 \
    php-symfony-console php-symfony-http-client php-psr-log php-psr-clock \
  && rm -rf /var/lib/apt/lists/* \
  && ln -s /opt/trendvault/writer/bin/writer /usr/local/bin/writer
COPY --from=build /opt/trendvault/db /opt/trendvault/db
COPY --from=build /opt/trendvault/writer /opt/trendvault/writer
COPY ops/container/every-minute ops/container/set-up /usr/local/bin/
USER 10001:10001
# Older than five minutes is not healthy; before the first generation neither is it.
HEALTHCHECK --interval=60s --timeout=10s --start-period=180s --retries=2 CMD ["writer", "status", "--max-age", "300"]
CMD ["every-minute"]

# --- The edge by wrangler, for trying and for nothing else: its caches are one machine's, and it is no Cloudflare --
FROM build AS edge-build
RUN bin/setup bun node edge

FROM ${DEBIAN} AS edge-for-trying
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/* \
  && groupadd --system --gid 10001 trendvault \
  && useradd --system --uid 10001 --gid trendvault --home-dir /tmp --shell /usr/sbin/nologin trendvault \
  && install -d -o trendvault -g trendvault -m 0750 /var/lib/trendvault /etc/trendvault
COPY --from=edge-build /opt/trendvault /opt/trendvault
WORKDIR /opt/trendvault
ENV HOME=/tmp EDGE_HOST=0.0.0.0
USER 10001:10001
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["/opt/trendvault/.tools/bin/bun", "-e", "process.exit((await fetch('http://127.0.0.1:8787/api/regions')).ok ? 0 : 1)"]
EXPOSE 8787
CMD ["/bin/sh", "-c", "EDGE_KEYS=$(cat /etc/trendvault/edge-keys) exec edge-worker/dev \"$ORIGIN_URL\" 8787 /var/lib/trendvault"]

# --- The origin: what `docker build` makes without --target -------------------------------------------------------
FROM base AS origin
ENV HOST=0.0.0.0 PORT=3000 ADMIN_HOST=0.0.0.0 ADMIN_PORT=9464
USER 10001:10001
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["bun", "--no-env-file", "-e", "process.exit((await fetch(`http://127.0.0.1:${process.env.ADMIN_PORT}/readyz`)).ok ? 0 : 1)"]
EXPOSE 3000 9464
CMD ["supervisor", "bun", "--no-env-file", "api/dist/main.js"]
