import { fastifySwagger } from '@fastify/swagger'
import { fastifySwaggerUi } from '@fastify/swagger-ui'
import type { FastifySchema } from 'fastify'
import type { App } from './app.ts'
import { ErrorResponse } from './schemas.ts'

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
  ['Monitors', 'What is watched, what its checks saw, and why its status changed'],
  ['Incidents', 'Outages, opened and resolved with the verdict'],
  ['Alerts', 'Channels, the rules that link them to monitors, and the log of every delivery'],
  ['Status pages', 'What visitors see: pages with components, groups, images and custom domains'],
  ['Analytics', 'Latency percentiles by the hour, time in each status'],
  ['Operator', 'The fleet; for keys of the operator project'],
] as const

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
      info: { title: 'Picket', version: '1.0.0', description: DESCRIPTION },
      servers: [{ url: publicUrl }],
      tags: TAGS.map(([name, description]) => ({ name, description })),
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'an API key, `svc_…`' } } },
      security: [{ key: [] }],
    },
    refResolver: { buildLocalReference: schema => String(schema.$id) },
    transform: ({ schema, url, route }) => {
      if (!url.startsWith('/api/v1/')) return { schema: { ...schema, hide: true }, url }
      const isKeyed = route.method === 'POST' && !route.config?.open
      return { schema: described(schema, route.config?.open === true, isKeyed), url }
    },
  })
  app.get('/openapi.json', async () => app.swagger())
  await app.register(fastifySwaggerUi, {
    routePrefix: '/docs',
    theme: { title: 'Picket API', css: [{ filename: 'picket.css', content: STYLE }] },
    staticCSP: true,
    uiConfig: { deepLinking: true, docExpansion: 'list', defaultModelsExpandDepth: -1 },
  })
}

/** What every route has besides its own schema: the error shape, its security, the idempotency key. */
function described(schema: FastifySchema | undefined, isOpen: boolean, isKeyed: boolean): FastifySchema {
  return {
    ...schema,
    ...(isOpen && { security: [] }),
    ...(isKeyed && { headers: IdempotencyHeader }),
    response: { ...(schema?.response as object), default: { description: 'Refused or failed', $ref: 'Error#' } },
  }
}
