import { fastifySwagger } from '@fastify/swagger'
import { fastifySwaggerUi } from '@fastify/swagger-ui'
import type { FastifySchema } from 'fastify'
import type { App } from '../server/types.ts'
import { ErrorResponse } from '../validation/schemas.ts'
import { extractNamedSchemas } from './named-schemas.ts'
import { buildOperationId } from './operation-id.ts'

const IdempotencyHeader = {
  type: 'object',
  properties: { 'Idempotency-Key': { type: 'string', maxLength: 255, description: 'answers a repetition again' } },
}

const DESCRIPTION = `Watch addresses from several regions, hear of outages by signed webhooks, and ask how fast things were.

Send an API key as \`Authorization: Bearer svc_…\`. Single records come as \`{ "data": … }\`, lists with a \`meta\` beside them,
errors as \`{ "error": { "code", "message", "status" } }\` with \`details\` that name each field. A \`POST\` takes an
\`Idempotency-Key\`. Every key has 600 requests a minute unless the operator set it otherwise.`

/** In the order in which somebody meets them. */
const TAGS = [
  ['Accounts', 'An account from an e-mail address, and the project of a key'],
  ['API keys', 'Needs a key with scope admin'],
  ['Members', 'Who belongs to the organization, and as what'],
  ['Audit log', 'Who changed what'],
  ['Monitors', 'What is watched, what its checks saw, and why its status changed'],
  ['Incidents', 'Outages, opened and resolved with the verdict'],
  ['Maintenance windows', 'Times in which monitors are silent'],
  ['Alerts', 'Channels, the rules that link them to monitors, and the log of every delivery'],
  ['Status pages', 'What visitors see: pages with components, groups, images and custom domains'],
  ['Data sources', 'JSON documents that are fetched, and the monitors that rules make of them'],
  ['Dependencies', 'Vendors whose status pages are watched'],
  ['Chat', "The app in a team's chat: install it, choose channels, end it"],
  ['Import and export', 'A whole project as a file, and what a file would change'],
  ['Analytics', 'Latency percentiles by the hour, time in each status'],
  ['Operator', 'The fleet; for keys of the operator project'],
] as const

/** What an answer says by its status alone; the schema beside it says the rest. */
const ANSWER_DESCRIPTIONS: Record<number, string> = {
  200: 'Done',
  201: 'Created',
  302: 'Elsewhere',
  400: 'The request is not valid: details name each field',
  401: 'No valid API key (`unauthorized`), or one that is suspended (`api_key_suspended`)',
  402: 'The limit of the plan is reached',
  403: 'The key or the plan may not do this',
  404: 'Not found, or of another project',
  409: 'In conflict with what is there',
  413: 'The body is too large',
  415: 'The body has another type',
  422: 'Cannot be set up in this way',
  429: 'Too many requests; Retry-After tells when to ask again',
  503: 'An engine is away or too busy; Retry-After tells when to ask again',
}

/** What every operation that needs a key may answer. */
const STATUSES_OF_KEYED_ROUTES = [401, 403, 429]

/** The bar names the library behind the page and asks for another document's address: nothing that a reader needs. */
const STYLE = `
.swagger-ui .topbar { display: none }
.swagger-ui .wrapper { max-width: 1080px }
.swagger-ui .info { margin: 32px 0 8px }`

/** `{origin}/openapi.json` from the schemas that validate, and a readable reference at `/docs` (decisions 1.9). */
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
        schema: describeRoute(schema, { method: String(route.method), url, isOpen: route.config?.open === true }),
        url,
      }
    },
    transformObject: document => extractNamedSchemas('openapiObject' in document ? document.openapiObject : {}),
  })
  let text = ''
  // making it takes 40 ms, too long for a request of a stranger
  app.addHook('onReady', async () => {
    text = JSON.stringify(app.swagger())
  })
  app.get('/openapi.json', async (_request, reply) => reply.type('application/json; charset=utf-8').send(text))
  await app.register(fastifySwaggerUi, {
    routePrefix: '/docs',
    theme: { title: 'Picket API', css: [{ filename: 'picket.css', content: STYLE }] },
    staticCSP: true,
    uiConfig: { deepLinking: true, docExpansion: 'list', defaultModelsExpandDepth: -1 },
  })
}

type Route = { method: string; url: string; isOpen: boolean }

/** What every route has besides its own schema: its name, the error shape, its security, the idempotency key. */
function describeRoute(schema: FastifySchema | undefined, { method, url, isOpen }: Route): FastifySchema {
  const path = url.slice('/api/v1'.length).replace(/:(\w+)/g, '{$1}')
  const isKeyed = method === 'POST' && !isOpen
  const own = schema?.response as Record<string, object> | undefined
  const failures = isOpen ? [] : STATUSES_OF_KEYED_ROUTES.map(status => [status, {}] as const)
  const response = Object.entries({ ...Object.fromEntries(failures), ...own }).map(
    ([status, answer]) => [status, describeAnswer(Number(status), answer)] as const,
  )
  return {
    operationId: buildOperationId(method, path),
    ...schema,
    ...(isOpen && { security: [] }),
    ...(isKeyed && { headers: IdempotencyHeader }),
    response: { ...Object.fromEntries(response), default: { description: 'Refused or failed', $ref: 'Error#' } },
  }
}

function describeAnswer(status: number, schema: object): object {
  const description = ANSWER_DESCRIPTIONS[status] ?? 'Refused or failed'
  return status >= 400 ? { description, $ref: 'Error#' } : { description, ...schema }
}
