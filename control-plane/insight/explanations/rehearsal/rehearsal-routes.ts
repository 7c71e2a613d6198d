import { createFairLimiter } from '../../../../shared/process/fair-limiter.ts'
import type { Metrics } from '../../../../shared/process/metrics.ts'
import type { Clickhouse } from '../../../foundation/platform/clickhouse.ts'
import { isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import { createGoneSignal } from '../../../foundation/web/connections.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import {
  ApiError,
  conflict,
  found,
  rateLimited,
  tooBusy,
  validationError,
} from '../../../foundation/web/server/errors.ts'
import { dataSchema, IdParams, responseSchemas } from '../../../foundation/web/validation/schemas.ts'
import { computeUpdate, type MonitorTools } from '../../../monitoring/monitors/actions.ts'
import { findMonitor } from '../../../monitoring/monitors/store.ts'
import { hasSingleSource } from '../votes/current-state.ts'
import { describeChange } from './limits.ts'
import type { OutagePeriod, OutagePeriods } from './periods.ts'
import { type RehearsalOutcome, rehearse } from './rehearsal-actions.ts'
import { DEFAULT_DAYS, MAX_DAYS, MAX_PERIODS, RehearsalBody, RehearsalRecord } from './rehearsal-schema.ts'

type RehearsalContext = Pick<MonitorTools, 'secrets' | 'checkLiteral'> & {
  db: Db
  clickhouse: Clickhouse
  metrics: Metrics
}

const MAX_CONCURRENT = 2
const MAX_WAITING = 2
const WAIT_TIMEOUT_MS = 20_000
const RETRY_AFTER_S = 10
const DAY_MS = 86_400_000

/** What the verdict would have decided with other settings (docs/design/rehearsal.md). */
export function rehearsalRoutes(app: App, context: RehearsalContext): void {
  const turns = createTurns(context.metrics)
  app.post(
    '/monitors/:id/rehearse',
    {
      config: { isPatient: true },
      schema: {
        summary: 'Rehearse changed settings on past checks',
        description:
          'Repeats the verdict over the stored checks of a period as if the settings had been other ones. Changes nothing.',
        tags: ['Monitors'],
        params: IdParams,
        body: RehearsalBody,
        response: responseSchemas(200, dataSchema(RehearsalRecord), 400, 403, 404, 409, 429, 503),
      },
    },
    async (request, reply) => {
      const caller = getCaller(request)
      const { id } = request.params
      const at = now()
      const monitor = found(isId(id) && (await findMonitor(context.db, caller.projectId, id)), 'monitor')
      if (hasSingleSource(monitor)) throw conflict('only monitors that probes check can be rehearsed')
      const { settings, ...requested } = request.body
      const changed = await computeUpdate(context, caller, monitor, settings, at).catch(namePaths)
      if (hasSingleSource(changed.monitor)) throw conflict('only monitors that probes check can be rehearsed')
      const span = parseSpan(requested, at.getTime())
      const tools = { ...context, gone: createGoneSignal(reply) }
      const outcome = await turns.run(caller.projectId, () =>
        rehearse(tools, monitor, describeChange(monitor, changed.monitor), span, at.getTime()),
      )
      return { data: toResponse(monitor.id, span, outcome) }
    },
  )
}

/** The settings are a part of the body, so the paths of their problems begin there. */
function namePaths(error: unknown): never {
  const details = error instanceof ApiError ? error.extra.details : undefined
  if (!details) throw error
  throw validationError(details.map(({ path, message }) => ({ path: `settings.${path}`, message })))
}

function createTurns(metrics: Metrics) {
  const waiting = metrics.gauge('picket_api_rehearsals_waiting', 'Rehearsals that wait for their turn')
  const refused = metrics.counter('picket_api_rehearsals_refused_total', 'Refused rehearsals', ['why'])
  return createFairLimiter({
    ...{ maxConcurrent: MAX_CONCURRENT, maxConcurrentPerKey: 1, maxWaitingPerKey: MAX_WAITING },
    waitTimeoutMs: WAIT_TIMEOUT_MS,
    onWaiting: change => waiting.inc(change),
    refuse(why) {
      refused.inc({ why })
      if (why === 'late') return tooBusy('other rehearsals take too long')
      return rateLimited(`${MAX_WAITING} rehearsals of this project are already waiting`, RETRY_AFTER_S)
    },
  })
}

function parseSpan({ from, to }: { from?: string; to?: string }, nowMs: number): { fromMs: number; toMs: number } {
  const toMs = Math.min(to ? Date.parse(to) : nowMs, nowMs)
  const fromMs = from ? Date.parse(from) : toMs - DEFAULT_DAYS * DAY_MS
  if (fromMs >= toMs) throw validationError([{ path: 'from', message: 'from must be before to and before now' }])
  if (toMs - fromMs <= MAX_DAYS * DAY_MS) return { fromMs, toMs }
  throw validationError([{ path: 'from', message: `from and to must not be more than ${MAX_DAYS} days apart` }])
}

function toResponse(monitorId: string, { fromMs, toMs }: { fromMs: number; toMs: number }, outcome: RehearsalOutcome) {
  const { before, after, delayMs, sentence, attempts, reasons, limits } = outcome
  const lists = [before, after].flatMap(one => (one ? [one.outages, one.degradations] : []))
  const isShortened = lists.some(list => list.length > MAX_PERIODS)
  const message = `Only the first ${MAX_PERIODS} outages and degradations are listed.`
  return {
    monitor_id: monitorId,
    from: new Date(fromMs),
    to: new Date(toMs),
    sentence,
    before: toOutages(before),
    after: after && toOutages(after),
    detected_later_ms: delayMs,
    checks: attempts,
    approximate: reasons.length > 0,
    reasons,
    limits: isShortened ? [...limits, { code: 'list_shortened', message }] : limits,
  }
}

const toOutages = ({ outages, degradations }: OutagePeriods) => ({
  outage_count: outages.length,
  degradation_count: degradations.length,
  outages: outages.slice(0, MAX_PERIODS).map(toPeriod),
  degradations: degradations.slice(0, MAX_PERIODS).map(toPeriod),
})

const toPeriod = ({ fromMs, toMs, detectedAfterMs }: OutagePeriod) => ({
  from: new Date(fromMs),
  to: toMs === null ? null : new Date(toMs),
  detected_after_ms: detectedAfterMs,
})
