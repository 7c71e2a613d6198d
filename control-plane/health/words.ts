import { humanDuration } from '../events/duration.ts'
import type { Facts } from './facts.ts'
import { type Finding, SUBJECTS } from './finding.ts'
import { isWell } from './findings.ts'

const inOrder = (findings: readonly Finding[]) =>
  findings.toSorted((a, b) => SUBJECTS.indexOf(a.subject) - SUBJECTS.indexOf(b.subject))

/** For a terminal: first what is not well with what to do about it, then what is. */
export function wordsOf(findings: readonly Finding[], nowMs: number): string {
  const troubles = inOrder(findings).filter(finding => !finding.isWell)
  const headline =
    troubles.length === 0 ? 'All is well.' : `${troubles.length} of ${findings.length} points are not well:`
  const wells = inOrder(findings).filter(finding => finding.isWell)
  return [
    headline,
    ...troubles.flatMap(({ text, sinceMs, todo }) => [
      `  NOT WELL  ${text}${sinceText(sinceMs, nowMs)}.`,
      `            ${todo}`,
    ]),
    ...wells.map(({ text }) => `  well      ${text}.`),
  ].join('\n')
}

function sinceText(sinceMs: number | null, nowMs: number): string {
  if (sinceMs === null) return ''
  return `, since ${new Date(sinceMs).toISOString().replace(/\.\d+Z$/, 'Z')} (${humanDuration(nowMs - sinceMs)})`
}

/** The same for programs. */
export function documentOf(findings: readonly Finding[], nowMs: number) {
  return {
    well: isWell(findings),
    read_at: new Date(nowMs).toISOString(),
    findings: inOrder(findings).map(({ subject, isWell: well, text, sinceMs, todo }) => ({
      ...{ subject, well, text, todo },
      since: sinceMs === null ? null : new Date(sinceMs).toISOString(),
    })),
  }
}

/** The moment of the facts: PostgreSQL's time, as everything else that is written down. */
export const readAtMs = ({ machineMs, postgres }: Facts): number => postgres?.nowMs ?? machineMs
