import { randomBytes } from 'node:crypto'
import { createApiKey, createAuthenticator, createCallerReader } from '../../control-plane/accounts/api-keys/actions.ts'
import { MAIL_RULES, type MailRules } from '../../control-plane/accounts/email/daily-limits/limits.ts'
import { DEFAULT_LIMITS, type InstallationLimits } from '../../control-plane/accounts/plans/plans.ts'
import { createSessionAuthenticator, createSessionFinder } from '../../control-plane/accounts/sessions/actions.ts'
import { createSecretCipher, type SecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createPostgres, type Db } from '../../control-plane/foundation/platform/postgres/client.ts'
import type { Scope } from '../../control-plane/foundation/web/auth/authentication.ts'
import { createHeavyWrites, type HeavyWrites } from '../../control-plane/foundation/web/limits/heavy-writes.ts'
import { type App, createApp } from '../../control-plane/foundation/web/server/app.ts'
import { clearVerdict } from '../../control-plane/verdict/core/monitor-lifecycle-actions.ts'
import { createPicket, type Picket } from '../../deploy/client/index.ts'
import { createEgress } from '../../shared/egress/index.ts'
import type { Egress } from '../../shared/egress/types.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createDatabase } from './database.ts'
import { recordingFetch, recordReading } from './read-answers.ts'
import type { Teardown } from './teardown.ts'
import { insertTenant, type Tenant } from './tenant.ts'
import { HANG_MS } from './wait.ts'

export type Handles = {
  url: string
  db: Db
  secrets: SecretCipher
  egress: Egress
  checkLiteral: Egress['checkLiteral']
  leaveUnchecked: typeof clearVerdict
  heavyWrites: HeavyWrites
  publicUrl: string
  limits: InstallationLimits
  mailRules: MailRules
  sendsMail: boolean
  relayUrl: string | null
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every resource
export type ApiAnswer = { status: number; body: any; headers: Record<string, unknown> }
/** Calls the API with one key: `call('POST /monitors', { name: … })`. A string is sent unchanged. */
export type Call = (route: string, body?: unknown, headers?: Record<string, string>) => Promise<ApiAnswer>
export type Account = Tenant & {
  call: Call
  callWith(scope: Scope): Promise<Call>
  /** the typed client with an admin key, for valid requests */
  picket: Picket
}

type ResourceApi = Handles & { account(plan?: string): Promise<Account> }

type Options = {
  egressAllow?: string[]
  egressTrust?: string[]
  /** maps the URL of the database, for example to a relay; default: unchanged */
  lead?(url: string): Promise<string>
}

/** The API with selected routes, on its own database, with real keys. */
export async function createResourceApi(
  t: Teardown,
  addRoutes: (app: App, handles: Handles) => void,
  { egressAllow = [], egressTrust = [], lead = async url => url }: Options = {},
): Promise<ResourceApi> {
  const url = await lead((await createDatabase(t)).url)
  const db = createPostgres(url, 10)
  const secrets = createSecretCipher(randomBytes(32))
  const egress = createEgress({ allow: egressAllow, trust: egressTrust })
  const { checkLiteral } = egress
  const publicUrl = 'http://picket.test'
  const metrics = createMetrics()
  const tools = {
    db,
    secrets,
    egress,
    checkLiteral,
    leaveUnchecked: clearVerdict,
    heavyWrites: createHeavyWrites(metrics, HANG_MS),
  }
  const handles = {
    url,
    ...tools,
    publicUrl,
    limits: DEFAULT_LIMITS,
    mailRules: MAIL_RULES,
    sendsMail: false,
    relayUrl: null,
  }
  const app = await createApp({
    ...handles,
    log: createLog('test', 'silent'),
    metrics,
    authenticate: createAuthenticator(db),
    authenticateSession: createSessionAuthenticator(createSessionFinder(db)),
    reloadCaller: createCallerReader(db),
    trustedProxies: [],
    rateLimitPerMinute: 100_000,
    rateLimitPerProject: 1_000_000,
    requestWaitMs: HANG_MS,
    isAcceptedHost: () => true,
  })
  await app.register(async scope => addRoutes(scope as App, handles), { prefix: '/api/v1' })
  await app.ready()
  t.teardown(async () => {
    await app.close()
    await db.destroy()
  })

  async function callerWith(tenant: Tenant, scope: Scope): Promise<Call> {
    const { key } = await createApiKey(db, tenant, { name: 'test', scope })
    return async (route, body, headers = {}) => {
      const [method, path] = route.split(' ') as ['GET', string]
      const url = `/api/v1${path}`
      const answer = await app.inject({
        method,
        url,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const isJson = String(answer.headers['content-type']).startsWith('application/json')
      const read = isJson ? answer.json() : answer.body
      return recordReading(method, url, { status: answer.statusCode, body: read, headers: answer.headers })
    }
  }

  async function createClient(tenant: Tenant): Promise<Picket> {
    const { key } = await createApiKey(db, tenant, { name: 'client', scope: 'admin' })
    return createPicket({ origin: handles.publicUrl, apiKey: key, fetch: recordingFetch(injectedFetch(app)) })
  }

  return {
    ...handles,
    async account(plan = 'business') {
      const tenant = await insertTenant(db, plan)
      return {
        ...tenant,
        call: await callerWith(tenant, 'admin'),
        callWith: scope => callerWith(tenant, scope),
        picket: await createClient(tenant),
      }
    },
  }
}

/** A `fetch` that calls the application without a socket. */
function injectedFetch(app: App): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const answer = await app.inject({
      method: request.method as 'GET',
      url: request.url,
      headers: Object.fromEntries(request.headers),
      payload: Buffer.from(await request.arrayBuffer()),
    })
    const headers = Object.entries(answer.headers).map(([name, value]) => [name, String(value)] as [string, string])
    return new Response(answer.payload, { status: answer.statusCode, headers })
  }
}
