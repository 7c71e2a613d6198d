import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createApiKey } from '../../control-plane/accounts/api-keys/actions.ts'
import { readConfig } from '../../control-plane/config.ts'
import { createPostgres, type Db } from '../../control-plane/foundation/platform/postgres/client.ts'
import type { Scope } from '../../control-plane/foundation/web/auth/authentication.ts'
import type { ApiTimeLimits } from '../../control-plane/operations/roles/time-limits.ts'
import { start } from '../../control-plane/start.ts'
import { createPicket, type Picket } from '../../deploy/client/index.ts'
import { createLog } from '../../shared/process/log.ts'
import { createClickhouseDatabase } from './clickhouse.ts'
import { createDatabase } from './database.ts'
import { ROOT } from './deployment.ts'
import { sendRequest } from './http-client.ts'
import { startNats } from './nats.ts'
import { oncePerProcess } from './once-per-process.ts'
import { recordingFetch, recordReading } from './read-answers.ts'
import type { Teardown } from './teardown.ts'
import { insertTenant, type Tenant } from './tenant.ts'
import { HANG_MS } from './wait.ts'

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
  createKey(tenant: Tenant, scope: Scope): Promise<string>
}

/** The port of custom domains, and authorities that are trusted. */
type HttpsOptions = { port: number; trust: string[] }

type RunningApi = Pick<ApiServer, 'origin' | 'operator' | 'db' | 'databaseUrl'>

/** One for a test file, because a process with another key than its database does not start. */
const SECRET_KEY = randomBytes(32).toString('base64')

/** Settings of the API that test files share: no limit that they could reach together. */
const SHARED_SETTINGS = {
  RATE_LIMIT_PER_MINUTE: '1000000',
  RATE_LIMIT_PER_PROJECT: '1000000',
  TESTS_PER_MINUTE: '1000000',
}

/**
 * Starts a control plane with the role `api` on its own PostgreSQL database, until the end of the test. `env` overrides the
 * defaults. With the role `api` only, ClickHouse and NATS are shared by the files of a process: it writes no history and
 * consumes no stream. `limits` are the time limits that the test depends on; the others can be reached by a hang only.
 */
export async function startApi(
  t: Teardown,
  env: Record<string, string> = {},
  limits: Partial<ApiTimeLimits> = {},
  https?: HttpsOptions,
): Promise<ApiServer> {
  return addFirstTenant(await startServer(t, env, limits, https))
}

/**
 * The API that the test files of a process share, with a new first tenant for this file. It is for files that read and change
 * only rows of their own tenants and do not depend on limits, other settings, metrics or accounts with a fixed email address.
 */
export async function shareApi(): Promise<ApiServer> {
  return addFirstTenant(await startSharedServer())
}

const startSharedServer = oncePerProcess(t => startServer(t, SHARED_SETTINGS))
const shareClickhouse = oncePerProcess(createClickhouseDatabase)
const shareNats = oncePerProcess(startNats)

/** No request is refused because the machine is slow. */
const PATIENT: ApiTimeLimits = {
  requestWaitMs: HANG_MS,
  heavyWriteWaitMs: HANG_MS,
  acquireMs: HANG_MS,
  statementMs: HANG_MS,
  lockMs: HANG_MS,
  historyMs: HANG_MS,
}

async function startServer(
  t: Teardown,
  env: Record<string, string>,
  limits: Partial<ApiTimeLimits> = {},
  https?: HttpsOptions,
): Promise<RunningApi> {
  const isApiOnly = (env.ROLES ?? 'api') === 'api'
  const openClickhouse = () => (isApiOnly ? shareClickhouse() : createClickhouseDatabase(t))
  const openNats = () => (isApiOnly ? shareNats() : startNats(t))
  const config = readConfig({
    DATABASE_URL: env.DATABASE_URL ?? (await createDatabase(t)).url,
    CLICKHOUSE_URL: env.CLICKHOUSE_URL ?? (await openClickhouse()).url,
    NATS_URL: env.NATS_URL ?? (await openNats()).url,
    SECRET_KEY,
    PORT: '0',
    OPERATOR_PORT: '0',
    GRPC_PORT: '0',
    ROLES: 'api',
    EGRESS_ALLOW: '127.0.0.0/8',
    VISITOR_EGRESS_ALLOW: '127.0.0.0/8',
    LOG_LEVEL: 'silent',
    WEBHOOK_BURST: '1000000',
    PROBE_FOLDER: join(ROOT, 'deploy/probe'),
    CHAT_CLIENT_ID: '1.2',
    CHAT_CLIENT_SECRET: 'client secret',
    CHAT_SIGNING_SECRET: 'signing secret',
    CHAT_API_URL: 'http://127.0.0.1:1/api',
    ...env,
  })
  const picket = await start(config, createLog('test', config.logLevel), {
    apiTimeLimits: { ...PATIENT, ...limits },
    ...(https && { https }),
  })
  t.teardown(() => picket.stop())
  const db = createPostgres(config.databaseUrl, 4)
  t.teardown(() => db.destroy())
  return {
    origin: `http://127.0.0.1:${picket.httpPort}`,
    operator: `http://127.0.0.1:${picket.operatorPort}`,
    db,
    databaseUrl: config.databaseUrl,
  }
}

async function addFirstTenant(server: RunningApi): Promise<ApiServer> {
  const { db, origin } = server
  const createKey = async (tenant: Tenant, scope: Scope) =>
    (await createApiKey(db, tenant, { name: 'test', scope })).key
  const tenant = async (plan?: string) => {
    const made = await insertTenant(db, plan)
    return { ...made, key: await createKey(made, 'admin') }
  }
  const first = await tenant()
  const createClient = (apiKey: string) => createPicket({ origin, apiKey, fetch: recordingFetch(fetch) })
  return {
    ...server,
    tenant,
    createKey,
    picket: createClient,
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
