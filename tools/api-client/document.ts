import { randomBytes } from 'node:crypto'
import { readConfig } from '../../control-plane/config.ts'
import { createClickhouse } from '../../control-plane/foundation/platform/clickhouse.ts'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createSigner } from '../../control-plane/foundation/platform/crypto/signer.ts'
import { createPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { API_PREFIX, createApp } from '../../control-plane/foundation/web/server/app.ts'
import { addScope } from '../../control-plane/foundation/web/server/scope.ts'
import { createLive } from '../../control-plane/insight/live/live-worker.ts'
import { apiRoutes } from '../../control-plane/operations/roles/api-routes.ts'
import type { ProcessContext } from '../../control-plane/operations/roles/context.ts'
import { API_TIME_LIMITS } from '../../control-plane/operations/roles/time-limits.ts'
import { createEgress } from '../../shared/egress/index.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'

/** Addresses that are never used: describing routes opens no connection. */
const NOWHERE = {
  DATABASE_URL: 'postgres://none@127.0.0.1:1/none',
  CLICKHOUSE_URL: 'http://127.0.0.1:1',
  NATS_URL: 'nats://127.0.0.1:1',
}

/**
 * The OpenAPI document of the API at `publicUrl`, from the routes as they are declared. `onRoute` is called while a route is
 * declared, with its path in the document.
 */
export async function describeApi(
  publicUrl: string,
  onRoute: (method: string, path: string) => void = () => {},
): Promise<object> {
  const secretKey = randomBytes(32).toString('base64')
  const config = readConfig({ ...NOWHERE, SECRET_KEY: secretKey, PUBLIC_URL: publicUrl })
  const tools = {
    db: createPostgres(config.databaseUrl),
    log: createLog('document', 'silent'),
    metrics: createMetrics(),
  }
  const handles = {
    ...tools,
    config,
    apiTimeLimits: API_TIME_LIMITS,
    live: createLive(tools),
    secrets: createSecretCipher(config.secretKey),
    egress: createEgress({ allow: [] }),
    clickhouse: createClickhouse(config.clickhouseUrl),
    sign: createSigner(config.secretKey, 'document'),
  } as ProcessContext
  const findNone = async () => null
  const noAuthentication = { authenticate: findNone, authenticateSession: findNone, reloadCaller: findNone }
  const { requestWaitMs } = API_TIME_LIMITS
  const app = await createApp({ ...config, ...handles, isAcceptedHost: () => true, requestWaitMs, ...noAuthentication })
  app.addHook('onRoute', ({ method, url }) => {
    const path = url.replace(API_PREFIX, '').replace(/:(\w+)/g, '{$1}')
    for (const one of [method].flat()) onRoute(one, path)
  })
  addScope(app, api => apiRoutes(api, handles), { prefix: API_PREFIX })
  await app.ready()
  const document = app.swagger()
  await Promise.all([app.close(), handles.db.destroy(), handles.clickhouse.close()])
  return document
}
