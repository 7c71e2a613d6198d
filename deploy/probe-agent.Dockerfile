# docker build -f deploy/probe-agent.Dockerfile -t picket/probe-agent:0.1.0 .   (--build-arg CHROMIUM=1 for screenshots)
ARG NODE_VERSION=22

FROM node:${NODE_VERSION}-bookworm-slim AS build
WORKDIR /picket
COPY package.json package-lock.json ./
# Bundling leaves npm packages outside, so of them all it needs the bundler only.
RUN npm install --prefix /tools --no-audit --no-fund \
      "esbuild@$(node -p 'require("./package-lock.json").packages["node_modules/esbuild"].version')" \
 && ln -s /tools/node_modules node_modules
COPY . .
RUN node deploy/local/build.mjs

FROM node:${NODE_VERSION}-bookworm-slim AS packages
WORKDIR /picket
COPY package.json package-lock.json ./
# Of the optional packages only koffi, through which it pings; the embedded engines stay away.
RUN npm install --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
 && npm install --prefix /koffi --ignore-scripts --no-audit --no-fund \
      "koffi@$(node -p 'require("./package-lock.json").packages["node_modules/koffi"].version')" \
 && cp -r /koffi/node_modules/koffi /koffi/node_modules/@koromix node_modules/

FROM node:${NODE_VERSION}-bookworm-slim
ARG CHROMIUM=""
RUN if [ -n "$CHROMIUM" ]; then \
      apt-get update && apt-get install -y --no-install-recommends chromium fonts-liberation && rm -rf /var/lib/apt/lists/*; \
    fi \
 && install -d -o 1000 -g 1000 -m 0700 /var/lib/picket
ENV NODE_ENV=production DATA_DIR=/var/lib/picket
WORKDIR /picket
COPY --from=packages /picket/node_modules node_modules
COPY package.json ./
COPY --from=build /picket/dist/probe-agent.js /picket/dist/probe-agent.js.map /picket/dist/judging-thread.js /picket/dist/screenshot.js dist/
# With it the container's runtime lets chromium have its sandbox (docs/deployment.md, "Screenshots").
COPY deploy/seccomp/picket-probe.json ./seccomp.json
USER 1000:1000
VOLUME /var/lib/picket
STOPSIGNAL SIGTERM
# No HEALTHCHECK: it opens a port only where METRICS_ADDRESS says so, and the control plane, which hears it every 3 s, tells when it is silent.
CMD ["node", "--enable-source-maps", "dist/probe-agent.js"]
