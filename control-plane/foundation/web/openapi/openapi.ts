import { fastifySwagger } from '@fastify/swagger'
import { fastifySwaggerUi } from '@fastify/swagger-ui'
import type { FastifySchema } from 'fastify'
import type { App } from '../server/types.ts'
import { ErrorResponse } from '../validation/schemas.ts'
import { extractNamedSchemas } from './named-schemas.ts'
import { buildOperationId } from './operation-id.ts'

const IdempotencyHeader = {
  type: 'object',
  properties: {
    'Idempotency-Key': {
      type: 'string',
      maxLength: 255,
      description: 'A repeated request with the same key returns the first response.',
    },
  },
}

const IfMatchHeader = {
  type: 'object',
  properties: {
    'If-Match': {
      type: 'string',
      description: 'The `ETag` of the version that may be changed, several of them, or `*`. Another version is 412.',
    },
  },
}

const EtagHeader = {
  ETag: { type: 'string', description: 'The version of the settings of the record, for `If-Match`.' },
}

const DESCRIPTION = `Monitor addresses from several regions, receive outages by signed webhooks, and query response times.

Send an API key as \`Authorization: Bearer svc_…\`. A single record is \`{ "data": … }\`. A list is \`{ "data": […], "meta": … }\`.
An error is \`{ "error": { "code", "message", "status" } }\`, with \`details\` for each invalid field. A \`POST\` accepts an
\`Idempotency-Key\`. \`PUT\` and \`DELETE\` of a record that has an \`ETag\` accept \`If-Match\`. The rate limit is 600 requests a minute for each key, unless the operator configured another one.`

/** In the order in which a new user needs them. */
const TAGS = [
  ['Accounts', 'Create an account from an email address, and read the project of a key'],
  ['API keys', 'Create, list and delete API keys; needs a key with scope admin'],
  ['Members', 'The members of the organization and their roles'],
  ['Audit log', 'Changes and their actors'],
  ['Monitors', 'Monitors, the results of their checks, and the reasons of status changes'],
  ['Views', 'Saved filters of the list of monitors'],
  ['Incidents', 'Outages, opened and resolved with the verdict'],
  ['Maintenance windows', 'Times in which monitors send no alerts'],
  ['Silences', 'Alerts withheld until a time, without an effect on uptime'],
  ['Alerts', 'Channels, the rules that link them to monitors, and the log of every delivery'],
  ['Status pages', 'Public pages with components, groups, images and custom domains'],
  ['Data sources', 'JSON documents that are fetched, and the monitors that rules create from them'],
  ['Dependencies', 'Vendors whose status pages are monitored'],
  ['Chat', "The app in a team's chat: install it, choose channels, remove it"],
  ['Import and export', 'A whole project as a file, and the changes that a file would make'],
  ['Analytics', 'Hourly latency percentiles, and the time in each status'],
  ['Wallboards', 'Read-only links to one screen with all monitors'],
  ['Operator', 'The fleet; for keys of the operator project'],
] as const

/** The description of a response by its status; the schema describes the content. */
const RESPONSE_DESCRIPTIONS: Record<number, string> = {
  200: 'Success',
  201: 'Created',
  302: 'Redirect',
  400: 'The request is not valid; `details` name each invalid field',
  401: 'The API key is missing or not valid (`unauthorized`), or it is suspended (`api_key_suspended`)',
  402: 'The limit of the plan is reached',
  403: 'The scope of the key or the plan does not allow this',
  404: 'The record does not exist, or it belongs to another project',
  409: 'The request conflicts with the current state',
  412: 'The record has another version than `If-Match` names; nothing was changed',
  413: 'The body is too large',
  415: 'The content type of the body is not supported',
  422: 'Domain Connect is not available',
  429: 'Too many requests; `Retry-After` is the time to wait in seconds',
  503: 'Temporarily unavailable; `Retry-After` is the time to wait in seconds',
}

/** The error statuses of every operation that needs a key. */
const STATUSES_OF_KEYED_ROUTES = [401, 403, 429]

/** Hides the top bar, which names the library and asks for the address of another document. */
const STYLE = `
.swagger-ui .topbar { display: none }
.swagger-ui .wrapper { max-width: 1080px }
.swagger-ui .info { margin: 32px 0 8px }`

/** `/openapi.json` from the schemas that validate, and a readable reference at `/docs` (docs/design/api.md#openapi). */
export async function addOpenapi(app: App, publicUrl: string): Promise<void> {
  app.addSchema({ $id: 'Error', ...ErrorResponse })
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Picket',
        version: '1.0.0',
        description: DESCRIPTION,
        license: { name: 'AGPL-3.0-only', identifier: 'AGPL-3.0-only' },
      },
      servers: [{ url: publicUrl }],
      tags: TAGS.map(([name, description]) => ({ name, description })),
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'an API key, `svc_…`' } } },
      security: [{ key: [] }],
    },
    refResolver: { buildLocalReference: schema => String(schema.$id) },
    transform: ({ schema, url, route }) => {
      if (!url.startsWith('/api/v1/')) return { schema: { ...schema, hide: true }, url }
      return {
        schema: describeRoute(schema, {
          ...{ method: String(route.method), url, isOpen: route.config?.open === true },
          hasVersion: route.config?.version !== undefined,
        }),
        url,
      }
    },
    transformObject: document => extractNamedSchemas('openapiObject' in document ? document.openapiObject : {}),
  })
  let text: string | null = null
  app.get('/openapi.json', async (_request, reply) => {
    // generated once, at the first request: it takes 60 ms, and most processes are never asked for it
    text ??= JSON.stringify(app.swagger())
    return reply.type('application/json; charset=utf-8').send(text)
  })
  await app.register(fastifySwaggerUi, {
    routePrefix: '/docs',
    theme: { title: 'Picket API', css: [{ filename: 'picket.css', content: STYLE }] },
    staticCSP: true,
    uiConfig: { deepLinking: true, docExpansion: 'list', defaultModelsExpandDepth: -1 },
  })
}

type Route = { method: string; url: string; isOpen: boolean; hasVersion: boolean }

/** Adds what every route has: its operation id, the error shape, its security, the idempotency key, the version. */
function describeRoute(schema: FastifySchema | undefined, { method, url, isOpen, hasVersion }: Route): FastifySchema {
  const path = url.slice('/api/v1'.length).replace(/:(\w+)/g, '{$1}')
  const isKeyed = method === 'POST' && !isOpen
  const isConditional = hasVersion && (method === 'PUT' || method === 'DELETE')
  const own = schema?.response as Record<string, object> | undefined
  const failures = isOpen ? [] : STATUSES_OF_KEYED_ROUTES.map(status => [status, {}] as const)
  const precondition = isConditional ? { 412: {} } : {}
  const response = Object.entries({ ...Object.fromEntries(failures), ...precondition, ...own }).map(
    ([status, answer]) =>
      [status, describeResponse(Number(status), answer, hasVersion && method !== 'DELETE')] as const,
  )
  return {
    operationId: buildOperationId(method, path),
    ...schema,
    ...(isOpen && { security: [] }),
    ...(isKeyed && { headers: IdempotencyHeader }),
    ...(isConditional && { headers: IfMatchHeader }),
    response: { ...Object.fromEntries(response), default: { description: 'Error', $ref: 'Error#' } },
  }
}

function describeResponse(status: number, schema: object, hasVersion: boolean): object {
  const description = RESPONSE_DESCRIPTIONS[status] ?? 'Error'
  if (status >= 400) return { description, $ref: 'Error#' }
  return { description, ...(hasVersion && { headers: EtagHeader }), ...schema }
}
