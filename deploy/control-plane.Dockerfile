# docker build -f deploy/control-plane.Dockerfile -t picket/control-plane:0.1.0 .
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
# The embedded engines are optional packages: none of them comes along.
RUN npm install --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund
# Passwords are hashed in a native module, which its package offers as optional ones, one a platform.
RUN npm install --no-save --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
      "@node-rs/argon2-linux-$(node -p process.arch)-gnu@$(node -p 'require("./package-lock.json").packages["node_modules/@node-rs/argon2"].version')"

FROM node:${NODE_VERSION}-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 GRPC_PORT=50051
WORKDIR /picket
COPY --from=packages /picket/node_modules node_modules
COPY package.json ./
COPY proto proto
COPY --from=build /picket/dist/control-plane.js /picket/dist/control-plane.js.map /picket/dist/admin.js /picket/dist/admin.js.map /picket/dist/examine-worker.js /picket/dist/yaml-worker.js dist/
USER 1000:1000
# 8081 serves the operator's endpoints, on loopback unless OPERATOR_HOST says otherwise.
EXPOSE 8080 50051
STOPSIGNAL SIGTERM
# Alive, not ready: an engine that is away is no reason to restart what waits for it.
HEALTHCHECK --interval=5s --timeout=4s --start-period=30s --retries=6 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(answer => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "dist/control-plane.js"]
