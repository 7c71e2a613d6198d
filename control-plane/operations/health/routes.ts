import type { App } from '../../foundation/web/server/app.ts'
import { type EngineClients, readHealthFacts } from './facts-reader.ts'
import { assessHealth } from './findings/all-findings.ts'
import { getReadAtMs, toReportDocument } from './report.ts'

/**
 * `GET /internal/health`: the words of `npm run admin -- health` as JSON, 503 when something is not well (decisions 184).
 * It is on the operator's port and asks for no key. Requests that come together share one look.
 */
export function healthRoutes(app: App, engines: EngineClients): void {
  let looking: Promise<ReturnType<typeof toReportDocument>> | null = null
  const look = async () => {
    const facts = await readHealthFacts(engines)
    return toReportDocument(assessHealth(facts), getReadAtMs(facts))
  }
  app.get('/internal/health', { config: { hosts: 'inside' } }, async (_request, reply) => {
    looking ??= look().finally(() => {
      looking = null
    })
    const document = await looking
    return reply.code(document.well ? 200 : 503).send(document)
  })
}
