# docker build -f deploy/images/control-plane.Dockerfile -t picket/control-plane:0.1.0 .
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
# Only packages that are not part of the bundles, with the native password hashing module of the platform.
RUN node subset-lock.mjs /packages @fastify/swagger-ui @grpc/reflection \
      @node-rs/argon2 "@node-rs/argon2-linux-$(node -p process.arch)-gnu" \
 && cd /packages && npm ci --ignore-scripts --no-audit --no-fund

FROM node:${NODE_TAG}
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 GRPC_PORT=50051
WORKDIR /picket
COPY --from=packages /packages/node_modules node_modules
COPY package.json ./
COPY proto proto
COPY --from=build /picket/dist/control-plane.js /picket/dist/control-plane.js.map /picket/dist/admin.js /picket/dist/admin.js.map /picket/dist/examine-worker.js /picket/dist/yaml-worker.js /picket/dist/convert-worker.js /picket/dist/import-worker.js /picket/dist/css-worker.js /picket/dist/svg-worker.js /picket/dist/feed-worker.js /picket/dist/difference-worker.js dist/
USER 1000:1000
# 8081 serves the operator's endpoints, on loopback unless OPERATOR_HOST is set.
EXPOSE 8080 50051
STOPSIGNAL SIGTERM
# Checks liveness, not readiness: an unavailable data store does not require a restart.
HEALTHCHECK --interval=5s --timeout=4s --start-period=30s --retries=6 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(answer => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "dist/control-plane.js"]
