import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify'

/**
 * What a room's routes are declared on: `monitorRoutes(app: App, context)`. Paths are written as in the
 * specification, relative to `/api/v1` (`app.get('/monitors/:id', …)`): start.ts registers the rooms under that prefix.
 * A route gives `schema: { body, querystring, params, response, summary, tags }` and throws the errors of errors.ts.
 */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>
