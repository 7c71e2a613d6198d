import type { App } from '../../foundation/web/server/app.ts'
import { type EngineClients, readHealthFacts } from './facts-reader.ts'
import { assessHealth } from './findings/all-findings.ts'
import { getReadAtMs, toReportDocument } from './report.ts'

/**
 * `GET /internal/health`: the report of `npm run admin -- health` as JSON, 503 with problems. It is on the operator port and
 * needs no key (docs/design/api.md#process-endpoints). Concurrent requests share one reading of the facts.
 */
export function healthRoutes(app: App, engines: EngineClients): void {
  let reading: Promise<ReturnType<typeof toReportDocument>> | null = null
  const readReport = async () => {
    const facts = await readHealthFacts(engines)
    return toReportDocument(assessHealth(facts), getReadAtMs(facts))
  }
  app.get('/internal/health', { config: { hosts: 'inside' } }, async (_request, reply) => {
    reading ??= readReport().finally(() => {
      reading = null
    })
    const document = await reading
    return reply.code(document.well ? 200 : 503).send(document)
  })
}
