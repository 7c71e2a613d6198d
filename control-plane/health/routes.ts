import type { App } from '../web/app.ts'
import { type Engines, readFacts } from './facts-reader.ts'
import { findingsOf } from './findings.ts'
import { documentOf, readAtMs } from './words.ts'

/**
 * `GET /internal/health`: the words of `npm run admin -- health` as JSON, 503 when something is not well (decisions 184).
 * It is on the operator's port and asks for no key. Requests that come together share one look.
 */
export function healthRoutes(app: App, engines: Engines): void {
  let looking: Promise<ReturnType<typeof documentOf>> | null = null
  const look = async () => {
    const facts = await readFacts(engines)
    return documentOf(findingsOf(facts), readAtMs(facts))
  }
  app.get('/internal/health', { config: { hosts: 'inside' } }, async (_request, reply) => {
    looking ??= look().finally(() => {
      looking = null
    })
    const document = await looking
    return reply.code(document.well ? 200 : 503).send(document)
  })
}
