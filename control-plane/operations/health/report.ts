import { formatDuration } from '../../alerting/events/duration.ts'
import type { HealthFacts } from './facts.ts'
import { isAllHealthy } from './findings/all-findings.ts'
import { HEALTH_SUBJECTS, type HealthFinding } from './findings/health-finding.ts'

const sortFindings = (findings: readonly HealthFinding[]) =>
  findings.toSorted((a, b) => HEALTH_SUBJECTS.indexOf(a.subject) - HEALTH_SUBJECTS.indexOf(b.subject))

/** The report for a terminal: first problems with what to do, then the rest. */
export function formatReport(findings: readonly HealthFinding[], nowMs: number): string {
  const problems = sortFindings(findings).filter(finding => !finding.isHealthy)
  const headline =
    problems.length === 0 ? 'No problems found.' : `${problems.length} of ${findings.length} checks found a problem:`
  const healthy = sortFindings(findings).filter(finding => finding.isHealthy)
  return [
    headline,
    ...problems.flatMap(({ text, sinceMs, todo }) => [
      `  PROBLEM  ${text}${formatSince(sinceMs, nowMs)}.`,
      `           ${todo}`,
    ]),
    ...healthy.map(({ text }) => `  ok       ${text}.`),
  ].join('\n')
}

function formatSince(sinceMs: number | null, nowMs: number): string {
  if (sinceMs === null) return ''
  return `, since ${new Date(sinceMs).toISOString().replace(/\.\d+Z$/, 'Z')} (${formatDuration(nowMs - sinceMs)})`
}

/** The report for programs. */
export function toReportDocument(findings: readonly HealthFinding[], nowMs: number) {
  return {
    well: isAllHealthy(findings),
    read_at: new Date(nowMs).toISOString(),
    findings: sortFindings(findings).map(({ subject, isHealthy, text, sinceMs, todo }) => ({
      ...{ subject, well: isHealthy, text, todo },
      since: sinceMs === null ? null : new Date(sinceMs).toISOString(),
    })),
  }
}

/** The time of the facts: PostgreSQL's, or the machine's without an answer. */
export const getReadAtMs = ({ machineMs, postgres }: HealthFacts): number => postgres?.nowMs ?? machineMs
