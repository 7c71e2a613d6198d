import type { Metrics } from '../../../../shared/process/metrics.ts'
import type { App } from './app.ts'

/** By engine: by how many seconds a clock is ahead of this machine's, where that is more than a little. */
export type ClockReport = { disagreements(): Record<string, number> }

/** Each resolves when the dependency answers. */
export type Dependencies = Record<string, () => Promise<unknown>>

const DEPENDENCY_TIMEOUT_MS = 3_000
const INSIDE = { config: { hosts: 'inside' } } as const

export type ProcessStatus = {
  metrics: Metrics
  /** critical loops that do not get on */
  stuck: () => string[]
  /** what a process needs to do its work */
  required: Dependencies
  /** what it does most of its work without: shown, and no reason to be unready */
  optional: Dependencies
  clocks?: ClockReport
}

/** `/healthz`, on both ports: this process is of use; if not, it has to be started again (decisions 162). */
export function livenessRoutes(app: App, { stuck }: Pick<ProcessStatus, 'stuck'>): void {
  app.get('/healthz', { config: { hosts: 'any' } }, async (_request, reply) => {
    const loops = stuck()
    return loops.length === 0 ? { status: 'ok' } : reply.code(503).send({ status: 'stuck', loops })
  })
}

/** `/readyz`: send it requests, or go on with a rollout; and `/metrics`. On the operator's port (decisions 214). */
export function processRoutes(app: App, { metrics, stuck, required, optional, clocks }: ProcessStatus): void {
  app.get('/readyz', INSIDE, async (_request, reply) => {
    const entries = Object.entries({ ...required, ...optional })
    const states = await Promise.all(entries.map(async ([name, ask]) => [name, await pingDependency(ask)] as const))
    const isReady = stuck().length === 0 && states.every(([name, state]) => state === 'ok' || name in optional)
    return reply.code(isReady ? 200 : 503).send({
      status: isReady ? 'ready' : 'not ready',
      dependencies: Object.fromEntries(states),
      // for people: the process does not go by its machine's clock, so it is as ready as before
      ...(clocks && { clock_disagreement_seconds: clocks.disagreements() }),
    })
  })

  app.get('/metrics', INSIDE, async (_request, reply) => {
    const { text, contentType } = await metrics.render()
    return reply.header('content-type', contentType).send(text)
  })
}

async function pingDependency(ask: () => Promise<unknown>): Promise<'ok' | 'away'> {
  const patience = AbortSignal.timeout(DEPENDENCY_TIMEOUT_MS)
  const tooLate = new Promise<never>((_resolve, reject) => {
    patience.addEventListener('abort', () => reject(new Error('no answer in time')), { once: true })
  })
  return Promise.race([ask(), tooLate]).then(
    () => 'ok' as const,
    () => 'away' as const,
  )
}
