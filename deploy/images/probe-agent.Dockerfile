# docker build -f deploy/images/probe-agent.Dockerfile -t picket/probe-agent:0.1.0 .   (--build-arg CHROMIUM=1 for screenshots)
# Packages come from package-lock.json with its integrity (npm ci of a part of it). The base image is named by its tag: where
# this is written, no registry can be asked for its digest. Pin it with --build-arg NODE_TAG=22-bookworm-slim@sha256:…
ARG NODE_TAG=22-bookworm-slim

FROM node:${NODE_TAG} AS build
WORKDIR /picket
COPY package.json package-lock.json tools/install/subset-lock.mjs ./
# Bundling leaves npm packages outside, so of them all it needs the bundler only.
RUN node subset-lock.mjs /tools esbuild "@esbuild/linux-$(node -p process.arch)" \
 && cd /tools && npm ci --ignore-scripts --no-audit --no-fund \
 && ln -s /tools/node_modules /picket/node_modules
COPY . .
RUN node tools/build/build.mjs

FROM node:${NODE_TAG} AS packages
WORKDIR /picket
COPY package.json package-lock.json tools/install/subset-lock.mjs ./
# Of the optional packages only koffi, through which it pings; the embedded engines stay away.
RUN node subset-lock.mjs /packages --production koffi "@koromix/koffi-linux-$(node -p process.arch)" \
 && cd /packages && npm ci --ignore-scripts --no-audit --no-fund

FROM node:${NODE_TAG}
ARG CHROMIUM=""
RUN if [ -n "$CHROMIUM" ]; then \
      apt-get update && apt-get install -y --no-install-recommends chromium fonts-liberation && rm -rf /var/lib/apt/lists/*; \
    fi \
 && install -d -o 1000 -g 1000 -m 0700 /var/lib/picket
ENV NODE_ENV=production DATA_DIR=/var/lib/picket
WORKDIR /picket
COPY --from=packages /packages/node_modules node_modules
COPY package.json ./
COPY --from=build /picket/dist/probe-agent.js /picket/dist/probe-agent.js.map /picket/dist/assertion-thread.js /picket/dist/screenshot.js dist/
# With it the container's runtime lets chromium have its sandbox (docs/deployment.md, "Screenshots").
COPY deploy/probe/seccomp.json ./seccomp.json
USER 1000:1000
VOLUME /var/lib/picket
STOPSIGNAL SIGTERM
# No HEALTHCHECK: it opens a port only where METRICS_ADDRESS says so, and the control plane, which hears it every 3 s, tells when it is silent.
CMD ["node", "--enable-source-maps", "dist/probe-agent.js"]
