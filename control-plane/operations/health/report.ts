import { formatDuration } from '../../alerting/events/duration.ts'
import type { HealthFacts } from './facts.ts'
import { isAllHealthy } from './findings/all-findings.ts'
import { HEALTH_SUBJECTS, type HealthFinding } from './findings/health-finding.ts'

const sortFindings = (findings: readonly HealthFinding[]) =>
  findings.toSorted((a, b) => HEALTH_SUBJECTS.indexOf(a.subject) - HEALTH_SUBJECTS.indexOf(b.subject))

/** For a terminal: first what is not well with what to do about it, then what is. */
export function formatReport(findings: readonly HealthFinding[], nowMs: number): string {
  const troubles = sortFindings(findings).filter(finding => !finding.isHealthy)
  const headline =
    troubles.length === 0 ? 'All is well.' : `${troubles.length} of ${findings.length} points are not well:`
  const wells = sortFindings(findings).filter(finding => finding.isHealthy)
  return [
    headline,
    ...troubles.flatMap(({ text, sinceMs, todo }) => [
      `  NOT WELL  ${text}${formatSince(sinceMs, nowMs)}.`,
      `            ${todo}`,
    ]),
    ...wells.map(({ text }) => `  well      ${text}.`),
  ].join('\n')
}

function formatSince(sinceMs: number | null, nowMs: number): string {
  if (sinceMs === null) return ''
  return `, since ${new Date(sinceMs).toISOString().replace(/\.\d+Z$/, 'Z')} (${formatDuration(nowMs - sinceMs)})`
}

/** The same for programs. */
export function toReportDocument(findings: readonly HealthFinding[], nowMs: number) {
  return {
    well: isAllHealthy(findings),
    read_at: new Date(nowMs).toISOString(),
    findings: sortFindings(findings).map(({ subject, isHealthy: well, text, sinceMs, todo }) => ({
      ...{ subject, well, text, todo },
      since: sinceMs === null ? null : new Date(sinceMs).toISOString(),
    })),
  }
}

/** The moment of the facts: PostgreSQL's time, as everything else that is written down. */
export const getReadAtMs = ({ machineMs, postgres }: HealthFacts): number => postgres?.nowMs ?? machineMs
