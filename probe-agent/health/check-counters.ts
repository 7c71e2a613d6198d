import { type Outcome, STATUS_OF_OUTCOME } from '../../shared/checks/result.ts'

export type CheckCount = { type: string; outcome: string; checks: number }

/** Counts finished checks since the start by type and outcome: every attempt, including checks on demand. */
export type CheckCounters = {
  count: (type: string, outcome: Outcome) => void
  list: () => CheckCount[]
}

export function createCheckCounters(): CheckCounters {
  const byType = new Map<string, CheckCount[]>()

  function getRows(type: string): CheckCount[] {
    const known = byType.get(type)
    if (known) return known
    const rows = Object.values(STATUS_OF_OUTCOME).map(outcome => ({ type, outcome, checks: 0 }))
    byType.set(type, rows)
    return rows
  }

  return {
    count(type, outcome) {
      getRows(type)[outcome]!.checks++
    },
    list: () => [...byType.values()].flat().filter(({ checks }) => checks > 0),
  }
}
