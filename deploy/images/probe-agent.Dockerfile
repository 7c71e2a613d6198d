# docker build -f deploy/images/probe-agent.Dockerfile -t picket/probe-agent:0.1.0 .   (--build-arg CHROMIUM=1 for screenshots)
# Packages are installed with npm ci from a part of package-lock.json, including integrity. The base image is named by tag; pin
# its digest with --build-arg NODE_TAG=22-bookworm-slim@sha256:…
ARG NODE_TAG=22-bookworm-slim

FROM node:${NODE_TAG} AS build
WORKDIR /picket
COPY package.json package-lock.json tools/install/subset-lock.mjs ./
# Bundles contain the npm packages, except those listed in tools/build/build.mjs.
RUN node subset-lock.mjs /tools --production esbuild "@esbuild/linux-$(node -p process.arch)" @jridgewell/sourcemap-codec \
 && cd /tools && npm ci --ignore-scripts --no-audit --no-fund \
 && ln -s /tools/node_modules /picket/node_modules
COPY . .
RUN node tools/build/build.mjs

FROM node:${NODE_TAG} AS packages
WORKDIR /picket
COPY package.json package-lock.json tools/install/subset-lock.mjs ./
# Only packages that are not part of the bundles: koffi is used for pings, playwright-core for screenshots.
RUN node subset-lock.mjs /packages playwright-core koffi "@koromix/koffi-linux-$(node -p process.arch)" \
 && cd /packages && npm ci --ignore-scripts --no-audit --no-fund

FROM node:${NODE_TAG}
ARG CHROMIUM=""
RUN if [ -n "$CHROMIUM" ]; then \
      apt-get update && apt-get install -y --no-install-recommends chromium-headless-shell fonts-liberation && rm -rf /var/lib/apt/lists/*; \
    fi \
 && install -d -o 1000 -g 1000 -m 0700 /var/lib/picket
ENV NODE_ENV=production DATA_DIR=/var/lib/picket
WORKDIR /picket
COPY --from=packages /packages/node_modules node_modules
COPY package.json ./
COPY --from=build /picket/dist/probe-agent.js /picket/dist/probe-agent.js.map /picket/dist/assertion-thread.js /picket/dist/screenshot.js dist/
# The seccomp profile that allows Chromium's sandbox (docs/deployment.md, "Screenshots").
COPY deploy/probe/seccomp.json ./seccomp.json
USER 1000:1000
VOLUME /var/lib/picket
STOPSIGNAL SIGTERM
# No HEALTHCHECK: a port is open only with METRICS_ADDRESS, and the control plane detects a missing probe by its heartbeats.
CMD ["node", "--enable-source-maps", "dist/probe-agent.js"]
