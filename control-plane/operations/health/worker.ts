import type { Metrics } from '../../../shared/process/metrics.ts'
import { monotonicMs } from '../../foundation/platform/time/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../../foundation/platform/time/loop.ts'
import type { HealthFacts, WaitingWork } from './facts.ts'
import { type EngineClients, readHealthFacts } from './facts-reader.ts'
import { assessHealth } from './findings/all-findings.ts'
import { HEALTH_SUBJECTS, type HealthFinding } from './findings/health-finding.ts'

const INTERVAL_MS = 10_000
/** Without a reader of the metrics, the facts are read this often, so that its first reading is not older. */
const UNREAD_INTERVAL_MS = 60_000
/** Metrics that were not read for this long have no reader. Prometheus reads them once a minute or more often. */
const UNREAD_AFTER_MS = 150_000

/** Publishes facts about the engines as metrics. Any number of processes may do so. */
export function startHealthWorker(context: LoopTools & EngineClients, intervalMs = INTERVAL_MS): Loop {
  const show = createGauges(context.metrics)
  let readMs = Number.NEGATIVE_INFINITY
  let shownMs = Number.NEGATIVE_INFINITY
  const loop = startLoop('health', intervalMs, context, async () => {
    const startedMs = monotonicMs()
    if (startedMs - readMs > UNREAD_AFTER_MS && startedMs - shownMs < UNREAD_INTERVAL_MS) return
    shownMs = startedMs
    const facts = await readHealthFacts(context)
    show(facts, assessHealth(facts))
  })
  context.metrics.beforeRender(() => {
    const wasUnread = monotonicMs() - readMs > UNREAD_AFTER_MS
    readMs = monotonicMs()
    if (wasUnread) loop.wake()
  })
  return loop
}

function createGauges(metrics: Metrics): (facts: HealthFacts, findings: HealthFinding[]) => void {
  const findings = metrics.gauge('picket_health_findings', 'Number of problems', ['subject'])
  const bytes = metrics.gauge('picket_stream_bytes', 'Size of a stream', ['stream'])
  const maxBytes = metrics.gauge('picket_stream_max_bytes', 'How large a stream may grow', ['stream'])
  const sequence = metrics.gauge('picket_stream_last_sequence', 'Sequence of the newest message of a stream', [
    'stream',
  ])
  const history = metrics.gauge('picket_history_waiting_seconds', 'Age of the oldest message not recorded', ['stream'])
  const deliveries = metrics.gauge('picket_deliveries_due_seconds', 'How long the oldest delivery has been due')
  const fanOuts = metrics.gauge('picket_fan_outs_waiting', 'Events whose deliveries are not queued')
  const fanOutAge = metrics.gauge('picket_fan_outs_waiting_seconds', 'Age of the oldest of these events')
  const all = [bytes, maxBytes, sequence, history, deliveries, fanOuts, fanOutAge]

  return ({ postgres, nats }, found) => {
    // an unreachable engine has no value instead of an old one
    for (const gauge of all) gauge.reset()
    for (const subject of HEALTH_SUBJECTS) {
      findings.set({ subject }, found.filter(finding => finding.subject === subject && !finding.isHealthy).length)
    }
    for (const stream of nats?.streams ?? []) {
      bytes.set({ stream: stream.name }, stream.bytes)
      if (stream.maxBytes !== null) maxBytes.set({ stream: stream.name }, stream.maxBytes)
      sequence.set({ stream: stream.name }, stream.lastSequence)
    }
    for (const { stream, oldestAtMs } of nats?.recorders ?? []) {
      // an unknown age has no value: 0 is healthy
      if (nats!.nowMs !== null || oldestAtMs === null) history.set({ stream }, secondsSince(nats!.nowMs, oldestAtMs))
    }
    if (postgres === null) return
    deliveries.set(waitingSeconds(postgres.nowMs, postgres.deliveriesDue))
    fanOuts.set(postgres.fanOuts.count)
    fanOutAge.set(waitingSeconds(postgres.nowMs, postgres.fanOuts))
  }
}

const waitingSeconds = (nowMs: number, { sinceMs }: WaitingWork) => secondsSince(nowMs, sinceMs)

const secondsSince = (nowMs: number | null, sinceMs: number | null) =>
  nowMs === null || sinceMs === null ? 0 : Math.max(0, nowMs - sinceMs) / 1_000
