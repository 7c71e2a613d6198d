import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, fastify, LogController } from 'fastify'
import type { Log } from '../../../../shared/process/log.ts'
import type { Metrics } from '../../../../shared/process/metrics.ts'
import type { SecretCipher } from '../../platform/crypto/encryption.ts'
import { newId } from '../../platform/ids.ts'
import type { Db } from '../../platform/postgres/client.ts'
import { monotonicMs, nowMs } from '../../platform/time/clock.ts'
import {
  type ApiCaller,
  type Authenticate,
  type AuthenticateSession,
  assertScope,
  authenticateRequest,
  isBearer,
  type ReadCaller,
} from '../auth/authentication.ts'
import { rewriteSessionUrl } from '../auth/session-bridge.ts'
import { addConditionalRequests } from '../conditions/conditional-requests.ts'
import { CONNECTION_LIMITS, closeConnectionsOnShutdown, limitBody, limitBodyTime } from '../connections.ts'
import { createRateLimit } from '../limits/rate-limit.ts'
import { createRequestQueue } from '../limits/request-queue.ts'
import { addOpenapi } from '../openapi/openapi.ts'
import { assertPlainUtf8, isStorable, parseBody } from '../validation/body.ts'
import { coerceQuery } from '../validation/query-coercion.ts'
import { createSchemaCompiler } from '../validation/schema-compiler.ts'
import type { IsAcceptedHost } from './accepted-hosts.ts'
import { sendError, sendMalformedRequestError } from './error-response.ts'
import {
  type ApiError,
  misdirectedRequest,
  notFound,
  rateLimited,
  unauthorized,
  unsupportedMediaType,
  validationError,
} from './errors.ts'
import { addIdempotency } from './idempotency.ts'
import { serializeLongResponse } from './long-response.ts'
import type { App } from './types.ts'

/**
 * The application on which areas declare their routes: `monitorRoutes(app: App, context)`. Paths are relative to `/api/v1`
 * (`app.get('/monitors/:id', …)`), because start.ts registers the routes under that prefix. A route declares
 * `schema: { body, querystring, params, response, summary, tags }` and throws the errors of errors.ts.
 */
export type { App, HttpReply, IncomingRequest } from './types.ts'

type AppContext = {
  log: Log
  metrics: Metrics
  db: Db
  secrets: SecretCipher
  authenticate: Authenticate
  authenticateSession: AuthenticateSession
  reloadCaller: ReadCaller
  publicUrl: string
  /** CIDRs of proxies whose `X-Forwarded-For` is trusted */
  trustedProxies: string[]
  rateLimitPerMinute: number
  isAcceptedHost: IsAcceptedHost
  /** of all keys of a project together */
  rateLimitPerProject: number
  /** how long a request waits for other requests of its project, in ms */
  requestWaitMs: number
}

export const API_PREFIX = '/api/v1'
const MAX_BODY_BYTES = 1024 * 1024
const PLUGIN_TIMEOUT_MS = 300_000
const MAX_REQUEST_MS = 15 * 60_000
/** Half a year, without subdomains: a customer may move a domain elsewhere. */
const HSTS_HEADER = 'max-age=15552000'

/** The HTTP server without the routes of areas: validation, errors, keys, limits, OpenAPI (docs/design/api.md). */
export async function createApp(context: AppContext): Promise<App> {
  const app = createServer(context.log, context.trustedProxies)
  app.setNotFoundHandler(request => {
    throw buildUnknownRouteError(request, context.publicUrl)
  })
  app.setValidatorCompiler(createSchemaCompiler())
  // schemas validate requests; responses are serialized without validation
  app.setSerializerCompiler(() => data => JSON.stringify(data))
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    if (body.length > 0 && isApiRequest(request)) assertPlainUtf8(request.headers)
    return parseBody(body)
  })
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => {
    if (body.length > 0) throw unsupportedMediaType()
  })
  addRequestMetrics(app, context.metrics)
  addHostCheck(app, context)
  addAuthorization(app, context)
  rejectUnknownInput(app)
  const turns = createRequestQueue(context.metrics, context.requestWaitMs)
  app.addHook('preHandler', turns.begin)
  app.addHook('preHandler', checkCallerOfLongRequest)
  addConditionalRequests(app, context)
  addIdempotency(app, context)
  app.addHook('preSerialization', serializeLongResponse)
  app.addHook('onSend', turns.end)
  await addOpenapi(app, context.publicUrl)
  return app
}

/** An HTTP server without routes that answers errors in the common shape. */
export function createServer(log: Log, trustedProxies: string[] = [], limits = CONNECTION_LIMITS): App {
  const app: App = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: createRequestIds(),
    rewriteUrl: rewriteSessionUrl,
    // log lines name their request; a logger for each request would cost more than a cached page
    childLoggerFactory: logger => logger,
    bodyLimit: MAX_BODY_BYTES,
    // the longest upload; other bodies have less time (limitBodyTime)
    requestTimeout: MAX_REQUEST_MS,
    http: { headersTimeout: limits.bodyMs },
    // the default of 10 s ends the start of a process on a slow or busy machine
    pluginTimeout: PLUGIN_TIMEOUT_MS,
    trustProxy: trustedProxies.length > 0 ? trustedProxies : false,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: 200, ignoreTrailingSlash: false },
    // no hook runs for these requests
    frameworkErrors: (_error, request, reply) => {
      limitBody(app, request.raw, limits.bodyMs)
      sendError(notFound('page'), request, reply)
    },
    clientErrorHandler: sendMalformedRequestError,
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.decorateRequest('caller', null)
  app.decorateRequest('authenticateAgain', null)
  app.decorateRequest('authenticatedMs', 0)
  app.decorateRequest('idempotencyClaim', null)
  app.decorateRequest('recordVersion', null)
  app.decorateRequest('endTurn', null)
  app.setErrorHandler(sendError)
  limitBodyTime(app, limits)
  closeConnectionsOnShutdown(app, limits)
  return app
}

/** Ids that are unique over all processes and restarts, and cheap: a random prefix and a number. */
function createRequestIds(): () => string {
  const prefix = newId()
  let count = 0
  return () => `${prefix}-${++count}`
}

const formatRoute = (request: { method: string; url: string }) => `${request.method} ${request.url.split('?')[0]}`

export type HostContext = Pick<AppContext, 'isAcceptedHost' | 'publicUrl'>

/** Checks `Host` before anything else. An unknown route is 404 for every host. */
export function addHostCheck(app: App, { isAcceptedHost, publicUrl }: HostContext): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const isAccepted = request.is404 || isAcceptedHost(request.headers.host, request.routeOptions.config.hosts)
    done(isAccepted ? undefined : misdirectedRequest(publicUrl))
  })
}

function addAuthorization(app: App, context: AppContext): void {
  const { rateLimitPerMinute, rateLimitPerProject, publicUrl } = context
  const limit = createRateLimit(rateLimitPerMinute)
  const limitOfProject = createRateLimit(rateLimitPerProject)
  const admit = async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('cache-control', 'no-store')
    const caller = await authenticateRequest(request, context)
    const use = limit(caller.keyId, nowMs())
    showLimit(reply, use)
    if (!use.allowed) throw rateLimited(`more than ${use.limit} requests a minute ${sender(caller)}`, use.resetSeconds)
    // requests beyond the limit of a key do not count against the project
    const all = limitOfProject(caller.projectId, nowMs())
    if (!all.allowed) {
      showLimit(reply, all)
      throw rateLimited(
        `more than ${all.limit} requests a minute with all API keys and sessions of this project`,
        all.resetSeconds,
      )
    }
    if (!request.is404) assertScope(request, caller)
  }
  const isPublicHttps = publicUrl.startsWith('https:')
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-content-type-options', 'nosniff')
    // browsers ignore it over http
    if (isPublicHttps || request.protocol === 'https') reply.header('strict-transport-security', HSTS_HEADER)
    const refusal = request.is404 ? buildUnknownRouteError(request, publicUrl) : undefined
    if (!isApiRequest(request) || request.routeOptions.config.open) return done(refusal)
    admit(request, reply).then(() => done(refusal), done)
  })
}

/** A caller is read again when the body, or the turn of the request, came later than this. */
const MAX_AUTHENTICATION_AGE_MS = 1_000

/** Throws 401 or 403 for a caller who has lost access while the request waited for its body or its turn. */
async function checkCallerOfLongRequest(request: FastifyRequest): Promise<void> {
  if (!request.authenticateAgain || monotonicMs() - request.authenticatedMs < MAX_AUTHENTICATION_AGE_MS) return
  assertScope(request, await request.authenticateAgain())
}

/** The limit of the key, or of the project when that one refuses. */
function showLimit(reply: FastifyReply, use: { limit: number; remaining: number; resetSeconds: number }): void {
  reply.headers({
    'ratelimit-limit': use.limit,
    'ratelimit-remaining': use.remaining,
    'ratelimit-reset': use.resetSeconds,
  })
}

const sender = ({ actor }: ApiCaller) => (actor.kind === 'user' ? 'in this session' : 'with this API key')

/**
 * 404; but 401 for an API key that is sent to an address outside the API, because the client most likely has a wrong base
 * address (docs/design/api.md#authentication).
 */
function buildUnknownRouteError(request: FastifyRequest, publicUrl: string): ApiError {
  if (isApiRequest(request) || !isBearer(request.headers.authorization)) return notFound(formatRoute(request))
  return buildWrongBaseError(request, publicUrl)
}

/** 401 for an API key that is sent to an address outside the API. */
export const buildWrongBaseError = (request: FastifyRequest, publicUrl: string): ApiError =>
  unauthorized(
    `${formatRoute(request)} is not part of the API; the base address of the API is ${publicUrl}${API_PREFIX}`,
  )

/** Uses the declared path of a known route, because the router decodes `/%61pi/v1` before it matches. */
function isApiRequest(request: FastifyRequest): boolean {
  const path = request.is404 ? request.url.split('?')[0] : request.routeOptions.url
  return path === API_PREFIX || path?.startsWith(`${API_PREFIX}/`) === true
}

/** Refuses a body or a query on a route that declares none (docs/design/api.md#validation). */
function rejectUnknownInput(app: App): void {
  app.addHook('preValidation', (request, _reply, done) => {
    const schema = request.routeOptions.schema
    const query = request.query as Record<string, unknown>
    if (schema === undefined && !isApiRequest(request) && isEmpty(query)) return done()
    if (schema?.querystring) request.query = coerceQuery(query, schema.querystring)
    const unknown = [
      ...(schema?.querystring || !isApiRequest(request) ? [] : Object.keys(query)),
      ...(schema?.body || !isApiRequest(request) ? [] : listUnknownInBody(request.body)),
    ]
    const broken = Object.keys(query).filter(name => !isStorable(`${name}${query[name]}`))
    if (unknown.length + broken.length === 0) return done()
    const details = [
      ...unknown.map(path => ({
        path,
        message: path ? `${path} is not a known property` : 'this endpoint does not accept a body',
      })),
      ...broken.map(path => ({ path, message: `${path} contains invalid characters` })),
    ]
    done(validationError(details))
  })
}

function isEmpty(record: Record<string, unknown>): boolean {
  for (const _ in record) return false
  return true
}

function listUnknownInBody(body: unknown): string[] {
  if (body === undefined || body === null) return []
  return typeof body === 'object' && !Array.isArray(body) ? Object.keys(body) : ['']
}

function addRequestMetrics(app: App, metrics: Metrics): void {
  const seconds = metrics.histogram(
    'picket_http_request_seconds',
    'Duration of HTTP requests',
    [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    ['method', 'route', 'status'],
  )
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.is404 ? 'unknown' : (request.routeOptions.url ?? 'unknown')
    seconds.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1_000)
    done()
  })
}
