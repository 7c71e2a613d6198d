/** What the charts of response times show at one time, in words. Pure. */
import { formatCount, formatMs, formatTime } from '../../core/format.ts'
import type { Mark } from './axes.tsx'
import type { LatencyStep } from './latency-chart.tsx'

const PHASE_NAMES = [
  ['dns_ms', 'DNS'],
  ['connect_ms', 'connect'],
  ['tls_ms', 'TLS'],
  ['first_byte_ms', 'first byte'],
  ['transfer_ms', 'transfer'],
] as const

/** `22 Nov 2026, 14:05:00: p50 400 ms, p95 700 ms, p99 900 ms, 120 checks; first byte 300 ms; outage` */
export function describeMoment(
  atMs: number,
  steps: readonly LatencyStep[],
  stepMs: number,
  marks: readonly Mark[],
  timeZone: string,
): string {
  const step = steps.find(({ at }) => Date.parse(at) <= atMs && atMs < Date.parse(at) + stepMs)
  const percentiles = step
    ? `p50 ${formatMs(step.p50)}, p95 ${formatMs(step.p95)}, p99 ${formatMs(step.p99)}, ${formatCount(step.count, 'check')}`
    : 'no successful check'
  const phases = step?.phases
    ? PHASE_NAMES.filter(([key]) => step.phases![key] > 0).map(
        ([key, name]) => `${name} ${formatMs(step.phases![key])}`,
      )
    : []
  const there = marks
    .filter(({ fromMs, toMs }) => fromMs < atMs + stepMs && toMs >= atMs)
    .map(({ kind, text }) => (kind === 'change' ? text : kind))
  const parts = [percentiles, phases.join(', '), [...new Set(there)].join(', ')].filter(part => part !== '')
  return `${formatTime(atMs, timeZone)}: ${parts.join('; ')}`
}
