import type { Metrics } from '../../../../shared/process/metrics.ts'
import { isReadOnlyError, StandbyError } from '../../platform/postgres/read-only.ts'
import type { App } from './app.ts'

/** For each engine whose clock differs from this machine's by more than 3 s: by how many seconds it is ahead. */
type ClockReport = { disagreements(): Record<string, number> }

/** Each resolves when the dependency answers. */
type Dependencies = Record<string, () => Promise<unknown>>

const DEPENDENCY_TIMEOUT_MS = 3_000
const INSIDE = { config: { hosts: 'inside' } } as const

export type ProcessStatus = {
  metrics: Metrics
  /** critical loops that exceeded their limit */
  stuck: () => string[]
  /** dependencies without which the process cannot work */
  required: Dependencies
  /** dependencies that are shown and do not make the process unready */
  optional: Dependencies
  clocks?: ClockReport
}

/** `/healthz`, on both ports: 503 means that this process must be restarted (docs/design/api.md#process-endpoints). */
export function livenessRoutes(app: App, { stuck }: Pick<ProcessStatus, 'stuck'>): void {
  app.get('/healthz', { config: { hosts: 'any' } }, async (_request, reply) => {
    const loops = stuck()
    return loops.length === 0 ? { status: 'ok' } : reply.code(503).send({ status: 'stuck', loops })
  })
}

/** `/readyz` (200: the process can work, so it may receive requests and a rollout may continue) and `/metrics`, on the operator port. */
export function processRoutes(app: App, { metrics, stuck, required, optional, clocks }: ProcessStatus): void {
  app.get('/readyz', INSIDE, async (_request, reply) => {
    const entries = Object.entries({ ...required, ...optional })
    const states = await Promise.all(entries.map(async ([name, ping]) => [name, await pingDependency(ping)] as const))
    const isReady = stuck().length === 0 && states.every(([name, state]) => state === 'ok' || name in optional)
    return reply.code(isReady ? 200 : 503).send({
      status: isReady ? 'ready' : 'not ready',
      dependencies: Object.fromEntries(states),
      // information only: the process does not use its machine's clock, so it stays ready
      ...(clocks && { clock_disagreement_seconds: clocks.disagreements() }),
    })
  })

  app.get('/metrics', INSIDE, async (_request, reply) => {
    const { text, contentType } = await metrics.render()
    return reply.header('content-type', contentType).send(text)
  })
}

async function pingDependency(ping: () => Promise<unknown>): Promise<'ok' | 'away' | 'standby' | 'read-only'> {
  const timeout = AbortSignal.timeout(DEPENDENCY_TIMEOUT_MS)
  const tooLate = new Promise<never>((_resolve, reject) => {
    timeout.addEventListener('abort', () => reject(new Error('no answer in time')), { once: true })
  })
  return Promise.race([ping(), tooLate]).then(
    () => 'ok' as const,
    error => (error instanceof StandbyError ? 'standby' : isReadOnlyError(error) ? 'read-only' : 'away'),
  )
}
