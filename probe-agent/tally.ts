import { type Outcome, STATUS_OF_OUTCOME } from '../shared/result.ts'

export type TallyRow = { type: string; outcome: string; checks: number }

/** How many checks ended since the start, by type and outcome: every attempt, also those asked for. */
export type Tally = {
  count: (type: string, outcome: Outcome) => void
  rows: () => TallyRow[]
}

export function createTally(): Tally {
  const byType = new Map<string, TallyRow[]>()

  function rowsOf(type: string): TallyRow[] {
    const known = byType.get(type)
    if (known) return known
    const rows = Object.values(STATUS_OF_OUTCOME).map(outcome => ({ type, outcome, checks: 0 }))
    byType.set(type, rows)
    return rows
  }

  return {
    count(type, outcome) {
      rowsOf(type)[outcome]!.checks++
    },
    rows: () => [...byType.values()].flat().filter(({ checks }) => checks > 0),
  }
}
