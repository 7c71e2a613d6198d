import { fastifySwagger } from '@fastify/swagger'
import { fastifySwaggerUi } from '@fastify/swagger-ui'
import type { FastifySchema } from 'fastify'
import type { App } from './app.ts'
import { ErrorResponse } from './schemas.ts'

const IdempotencyHeader = {
  type: 'object',
  properties: { 'Idempotency-Key': { type: 'string', maxLength: 255, description: 'answers a repetition again' } },
}

/** `{origin}/openapi.json` from the schemas that validate, and a readable reference at `/docs` (decisions 1.9). */
export async function addOpenapi(app: App, publicUrl: string): Promise<void> {
  app.addSchema({ $id: 'Error', ...ErrorResponse })
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Picket', version: '1.0.0', description: 'Uptime monitoring: the API that everything else uses.' },
      servers: [{ url: publicUrl }],
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
    theme: { title: 'Picket' },
    staticCSP: true,
    uiConfig: { deepLinking: true, docExpansion: 'list' },
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
