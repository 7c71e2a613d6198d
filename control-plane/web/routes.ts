import type { Metrics } from '../../shared/metrics.ts'
import type { App } from './app.ts'

/** By engine: by how many seconds a clock is ahead of this machine's, where that is more than a little. */
export type ClockReport = { disagreements(): Record<string, number> }

/** Resolves when the dependency answers. */
export type Probes = Record<string, () => Promise<unknown>>

const PATIENCE_MS = 3_000

/** `/healthz` (alive), `/readyz` (every dependency answers, or which does not), `/metrics`, and `/` (decisions 1.9). */
export function operationsRoutes(
  app: App,
  { metrics, dependencies, clocks }: { metrics: Metrics; dependencies: Probes; clocks?: ClockReport },
): void {
  app.get('/healthz', async () => ({ status: 'ok' }))

  app.get('/readyz', async (_request, reply) => {
    const entries = Object.entries(dependencies)
    const states = await Promise.all(entries.map(async ([name, ask]) => [name, await stateOf(ask)] as const))
    const isReady = states.every(([, state]) => state === 'ok')
    return reply.code(isReady ? 200 : 503).send({
      status: isReady ? 'ready' : 'not ready',
      dependencies: Object.fromEntries(states),
      // for people: the process does not go by its machine's clock, so it is as ready as before
      ...(clocks && { clock_disagreement_seconds: clocks.disagreements() }),
    })
  })

  app.get('/metrics', async (_request, reply) => {
    const { text, contentType } = await metrics.render()
    return reply.header('content-type', contentType).send(text)
  })

  app.get('/', async (_request, reply) => reply.redirect('/docs'))
}

async function stateOf(ask: () => Promise<unknown>): Promise<'ok' | 'away'> {
  const patience = AbortSignal.timeout(PATIENCE_MS)
  const tooLate = new Promise<never>((_resolve, reject) => {
    patience.addEventListener('abort', () => reject(new Error('no answer in time')), { once: true })
  })
  return Promise.race([ask(), tooLate]).then(
    () => 'ok' as const,
    () => 'away' as const,
  )
}
