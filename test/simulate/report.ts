import type { RecordedFault } from './oracle/chronicle.ts'
import type { Finding, SimulationReport } from './oracle/evaluate.ts'
import type { Spread } from './oracle/figures.ts'

const FINDINGS_SHOWN = 60

/** Formats virtual time as day and time of day. */
function formatTime(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const two = (n: number) => String(n).padStart(2, '0')
  const [day, hour, minute] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3_600) % 24,
    Math.floor(seconds / 60) % 60,
  ]
  return `day ${day} ${two(hour)}:${two(minute)}:${two(seconds % 60)}`
}

export function formatReport(report: SimulationReport): string {
  const {
    seed,
    days,
    checks,
    liveSets,
    faults,
    outages,
    longOutages,
    detection,
    causes,
    findings,
    failures,
    kinds,
    unchecked,
    alerts,
  } = report
  const { results, redelivered, repeated, missing, maxMs } = report.history
  return [
    `seed ${seed}: ${days} days, ${checks} checks, ${faults} faults, ${liveSets} changes of live sets, ${unchecked} times without a status`,
    `results: ${Object.entries(kinds)
      .map(([kind, count]) => `${kind} ${count}`)
      .join(', ')}`,
    `history: ${results} results stored, ${redelivered} messages redelivered, ${repeated} rows repeated, ${missing} missing; without a fault acknowledged within ${(maxMs / 1000).toFixed(1)} s`,
    '',
    `outages: ${outages.all} (${outages.plain} without a fault or a change under way)`,
    formatCounts(outages),
    `of at least 1.5 intervals: ${longOutages.all}`,
    formatCounts(longOutages),
    `maintenance windows: ${alerts.windows}, alerts withheld: ${alerts.withheld}, sent afterwards: ${alerts.sentLater}`,
    '',
    'what                cause                                                          regions    count',
    ...causes.map(
      ({ what, cause, regions, count }) => `${what.padEnd(20)}${cause.padEnd(63)}${regions.padEnd(11)}${count}`,
    ),
    causes.length === 0 ? '(none)' : '',
    '',
    ...formatTable('from the beginning of an outage to `down`, in seconds, without a fault under way', detection.plain),
    '',
    ...formatTable(
      'the same, all outages',
      detection.all.filter(({ group }) => !group.includes('timeout')),
    ),
    '',
    ...findings.slice(0, FINDINGS_SHOWN).map(formatFinding),
    findings.length > FINDINGS_SHOWN ? `and ${findings.length - FINDINGS_SHOWN} more (--json shows all)` : '',
    failures.length === 0 ? 'all aims are met' : `NOT MET: ${failures.join('; ')}`,
  ].join('\n')
}

const formatCounts = ({ reported, notReported, tooShort, missed, late }: SimulationReport['longOutages']) =>
  `  reported: ${reported}, of them ${late} late; not reported: ${notReported}, of them ${tooShort} shorter than what is guaranteed and ${missed} missed`

function formatTable(title: string, spreads: readonly Spread[]): string[] {
  const head = `${title.padEnd(80)}\n${''.padEnd(52)}count    p50    p95    p99    max  of the limit`
  return [
    head,
    ...spreads.map(({ group, count, p50, p95, p99, max, ofLimit }) => {
      const numbers = [p50, p95, p99, max].map(n => n.toFixed(1).padStart(7)).join('')
      return `${group.padEnd(50)}${String(count).padStart(7)}${numbers}${`${Math.round(ofLimit * 100)} %`.padStart(14)}`
    }),
  ]
}

function formatFinding({ what, index, monitorId, atMs, regions, cause, details, faults, isBroken }: Finding): string {
  const head = `${isBroken ? '!' : ' '} ${what}: monitor ${index} (${monitorId}), ${regions} regions, ${formatTime(atMs)}: ${details}; ${cause}`
  return [head, ...faults.map(fault => `      ${formatFault(fault)}`)].join('\n')
}

const formatFault = ({ kind, place, fromMs, toMs }: RecordedFault) =>
  `${kind} ${place} from ${formatTime(fromMs)} for ${Math.round((toMs - fromMs) / 1000)} s`
