import type { Metrics } from '../../shared/metrics.ts'
import { type Loop, type LoopTools, startLoop } from '../platform/loop.ts'
import type { Facts, Waiting } from './facts.ts'
import { type Engines, readFacts } from './facts-reader.ts'
import { type Finding, SUBJECTS } from './finding.ts'
import { findingsOf } from './findings.ts'

const EVERY_MS = 10_000

/** Shows in metrics what no other process counts: how things are in the engines. Any number of processes may do so. */
export function startHealthWorker(context: LoopTools & Engines): Loop {
  const show = createGauges(context.metrics)
  return startLoop('health', EVERY_MS, context, async () => {
    const facts = await readFacts(context)
    show(facts, findingsOf(facts))
  })
}

function createGauges(metrics: Metrics): (facts: Facts, findings: Finding[]) => void {
  const findings = metrics.gauge('picket_health_findings', 'Points that are not well', ['subject'])
  const bytes = metrics.gauge('picket_stream_bytes', 'Size of a stream', ['stream'])
  const maxBytes = metrics.gauge('picket_stream_max_bytes', 'How large a stream may grow', ['stream'])
  const sequence = metrics.gauge('picket_stream_last_sequence', 'Messages that ever came to a stream', ['stream'])
  const history = metrics.gauge('picket_history_waiting_seconds', 'Age of the oldest message not recorded', ['stream'])
  const deliveries = metrics.gauge('picket_deliveries_due_seconds', 'How long the oldest delivery is due')
  const fanOuts = metrics.gauge('picket_fan_outs_waiting', 'Events whose deliveries are not queued')
  const fanOutAge = metrics.gauge('picket_fan_outs_waiting_seconds', 'Age of the oldest of these events')
  const all = [bytes, maxBytes, sequence, history, deliveries, fanOuts, fanOutAge]

  return ({ postgres, nats }, found) => {
    // an engine that is away has no value rather than an old one
    for (const gauge of all) gauge.reset()
    for (const subject of SUBJECTS) {
      findings.set({ subject }, found.filter(finding => finding.subject === subject && !finding.isWell).length)
    }
    for (const stream of nats?.streams ?? []) {
      bytes.set({ stream: stream.name }, stream.bytes)
      if (stream.maxBytes !== null) maxBytes.set({ stream: stream.name }, stream.maxBytes)
      sequence.set({ stream: stream.name }, stream.lastSequence)
    }
    for (const { stream, oldestAtMs } of nats?.recorders ?? []) {
      history.set({ stream }, secondsSince(nats?.nowMs ?? null, oldestAtMs))
    }
    if (postgres === null) return
    deliveries.set(waitingSeconds(postgres.nowMs, postgres.deliveriesDue))
    fanOuts.set(postgres.fanOuts.count)
    fanOutAge.set(waitingSeconds(postgres.nowMs, postgres.fanOuts))
  }
}

const waitingSeconds = (nowMs: number, { sinceMs }: Waiting) => secondsSince(nowMs, sinceMs)

const secondsSince = (nowMs: number | null, sinceMs: number | null) =>
  nowMs === null || sinceMs === null ? 0 : Math.max(0, nowMs - sinceMs) / 1_000
