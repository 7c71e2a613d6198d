import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../../../foundation/web/server/app.ts'
import { ApiError, notFound, rateLimited } from '../../../../foundation/web/server/errors.ts'
import { INSTALL_PATH } from './install-command.ts'

/** The files that the installer reads, with their types. Nothing else of the folder is served. */
const FILES: Record<string, string> = {
  'install-probe.sh': 'text/plain; charset=utf-8',
  'picket-probe.service': 'text/plain; charset=utf-8',
  SHA256SUMS: 'text/plain; charset=utf-8',
  'picket-probe-linux-x64': 'application/octet-stream',
  'picket-probe-linux-arm64': 'application/octet-stream',
}

/** Downloads at a time; an executable has about 100 MB. */
const MAX_DOWNLOADS = 8
const RETRY_AFTER_SECONDS = 10

/** The folder that `npm run build:probe` fills, next to the built program (PROBE_FOLDER). */
export const PROBE_FOLDER = fileURLToPath(new URL('./probe/', import.meta.url))

type InstallContext = { folder: string; isOwnHost(host: string): boolean }

/** The installer of a probe and what it installs, without a key (docs/design/probes.md#installation). */
export function installRoutes(app: App, { folder, isOwnHost }: InstallContext): void {
  let downloads = 0
  app.get(`${INSTALL_PATH}/:name`, async (request: FastifyRequest, reply: FastifyReply) => {
    const { name } = request.params as { name: string }
    const type = Object.hasOwn(FILES, name) ? FILES[name] : undefined
    if (type === undefined || !isOwnHost(request.host)) throw notFound('page')
    const found = await stat(join(folder, name)).catch(() => null)
    if (!found?.isFile())
      throw new ApiError(404, 'not_found', 'the probe is not built on this server; run "npm run build:probe" there')
    if (downloads >= MAX_DOWNLOADS) {
      throw rateLimited(`at most ${MAX_DOWNLOADS} downloads run at the same time; retry`, RETRY_AFTER_SECONDS)
    }
    downloads++
    const content = createReadStream(join(folder, name)).once('close', () => downloads--)
    return reply.header('content-length', found.size).header('cache-control', 'no-cache').type(type).send(content)
  })
}
