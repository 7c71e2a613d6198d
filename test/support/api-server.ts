import { randomBytes } from 'node:crypto'
import { createApiKey } from '../../control-plane/accounts/api-keys/actions.ts'
import { readConfig } from '../../control-plane/config.ts'
import { createPostgres, type Db } from '../../control-plane/foundation/platform/postgres/client.ts'
import type { Scope } from '../../control-plane/foundation/web/auth/authentication.ts'
import { start } from '../../control-plane/start.ts'
import { createPicket, type Picket } from '../../deploy/client/index.ts'
import { createLog } from '../../shared/process/log.ts'
import { createClickhouseDatabase } from './clickhouse.ts'
import { createDatabase } from './database.ts'
import { sendRequest } from './http-client.ts'
import { startNats } from './nats.ts'
import { recordingFetch, recordReading } from './read-answers.ts'
import type { Teardown } from './teardown.ts'
import { insertTenant, type Tenant } from './tenant.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
export type Answer = { status: number; headers: Headers; body: any }

export type RequestOptions = {
  /** null: none; omitted: the admin key of the first tenant */
  key?: string | null
  /** sent as JSON; a string or bytes are sent unchanged */
  body?: unknown
  headers?: Record<string, string>
}

export type ApiServer = {
  origin: string
  /** the origin of the operator's endpoints */
  operator: string
  db: Db
  databaseUrl: string
  /** `path` is relative to /api/v1; a full URL is used unchanged. */
  call(method: string, path: string, sent?: RequestOptions): Promise<Answer>
  /** the typed client, for valid requests */
  picket(key: string): Picket
  /** creates another organization with a project and an admin key */
  tenant(plan?: string): Promise<Tenant & { key: string }>
  keyOf(tenant: Tenant, scope: Scope): Promise<string>
}

/** Starts a control plane with the role `api` on its own databases, until the end of the test. `env` overrides the defaults. */
export async function startApi(t: Teardown, env: Record<string, string> = {}): Promise<ApiServer> {
  const config = readConfig({
    DATABASE_URL: env.DATABASE_URL ?? (await createDatabase(t)).url,
    CLICKHOUSE_URL: env.CLICKHOUSE_URL ?? (await createClickhouseDatabase(t)).url,
    NATS_URL: env.NATS_URL ?? (await startNats(t)).url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    PORT: '0',
    OPERATOR_PORT: '0',
    GRPC_PORT: '0',
    ROLES: 'api',
    EGRESS_ALLOW: '127.0.0.0/8',
    VISITOR_EGRESS_ALLOW: '127.0.0.0/8',
    LOG_LEVEL: 'silent',
    WEBHOOK_BURST: '1000000',
    CHAT_CLIENT_ID: '1.2',
    CHAT_CLIENT_SECRET: 'client secret',
    CHAT_SIGNING_SECRET: 'signing secret',
    CHAT_API_URL: 'http://127.0.0.1:1/api',
    ...env,
  })
  const picket = await start(config, createLog('test', config.logLevel))
  t.teardown(() => picket.stop())
  const db = createPostgres(config.databaseUrl, 4)
  t.teardown(() => db.destroy())

  const keyOf = async (tenant: Tenant, scope: Scope) => (await createApiKey(db, tenant, { name: 'test', scope })).key
  const tenant = async (plan?: string) => {
    const made = await insertTenant(db, plan)
    return { ...made, key: await keyOf(made, 'admin') }
  }
  const first = await tenant()
  const origin = `http://127.0.0.1:${picket.httpPort}`
  const picketOf = (apiKey: string) => createPicket({ origin, apiKey, fetch: recordingFetch(fetch) })
  return {
    origin,
    operator: `http://127.0.0.1:${picket.operatorPort}`,
    db,
    databaseUrl: config.databaseUrl,
    tenant,
    keyOf,
    picket: picketOf,
    call: (method, path, sent) => send(origin, first.key, method, path, sent),
  }
}

async function send(
  origin: string,
  firstKey: string,
  method: string,
  path: string,
  sent: RequestOptions = {},
): Promise<Answer> {
  const { key = firstKey, body, headers = {} } = sent
  const isRaw = typeof body === 'string' || body instanceof Uint8Array
  const url = path.startsWith('http') ? path : `${origin}/api/v1${path}`
  const answer = await sendRequest(url, {
    method,
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: isRaw ? (body as string | Uint8Array) : JSON.stringify(body) }),
  })
  const isJson = answer.headers.get('content-type')?.startsWith('application/json')
  const read = isJson && answer.text !== '' ? JSON.parse(answer.text) : answer.text
  return recordReading(method, url, { status: answer.status, headers: answer.headers, body: read })
}
