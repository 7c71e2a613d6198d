import { createReadStream, type ReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { startTimer } from '../../../../foundation/platform/time/clock.ts'
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
/** A client that reads less than this between two checks is disconnected, so that it does not keep others from a download. */
const MIN_BYTES_PER_CHECK = 65_536
const CHECK_INTERVAL_MS = 30_000
/** After 60 checks, half an hour, a download ends. Tests have other limits. */
const DOWNLOAD_LIMITS = { timer: startTimer, maxChecks: 60 }

/** The folder that `npm run build:probe` fills, next to the built program (PROBE_FOLDER). */
export const PROBE_FOLDER = fileURLToPath(new URL('./probe/', import.meta.url))

type InstallContext = { folder: string; isOwnHost(host: string): boolean; limits?: typeof DOWNLOAD_LIMITS }

/** The installer of a probe and what it installs, without a key (docs/design/probes.md#installation). */
export function installRoutes(app: App, { folder, isOwnHost, limits = DOWNLOAD_LIMITS }: InstallContext): void {
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
    limitDuration(content, limits)
    return reply.header('content-length', found.size).header('cache-control', 'no-cache').type(type).send(content)
  })
}

/** Closes a file, and with it the connection to its client, when the client reads too slowly or for too long. */
function limitDuration(content: ReadStream, { timer, maxChecks }: typeof DOWNLOAD_LIMITS): void {
  let checks = 0
  let countedBytes = 0
  const check = () => {
    checks++
    const isSlow = content.bytesRead - countedBytes < MIN_BYTES_PER_CHECK
    if (isSlow || checks >= maxChecks) return void content.destroy(new Error('the client read too slowly'))
    countedBytes = content.bytesRead
    stop = timer(CHECK_INTERVAL_MS, check)
  }
  let stop = timer(CHECK_INTERVAL_MS, check)
  content.once('close', () => stop())
}
