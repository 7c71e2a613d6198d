import type { ShownStatus } from '../parts/status.tsx'
import type { BoardRow } from './board.ts'

/** A part of a query: a word, or a field with a value. `isNot`: rows with it do not match. */
type Term = { field: Field | 'word'; value: string; isNot: boolean }

const FIELDS = ['is', 'tag', 'type', 'region', 'since'] as const
type Field = (typeof FIELDS)[number]

const STATUSES: readonly ShownStatus[] = ['up', 'down', 'degraded', 'paused', 'unknown']
const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A query that was understood, and what was not. */
export type BoardQuery = { matches(row: BoardRow): boolean; problems: string[] }

/**
 * Parses a query of the list: words (in the name or the cause) and `is:down`, `tag:shop`, `-tag:shop`, `type:http`,
 * `region:eu-west` (the region is failing), `since:<1h` (the status is younger). Quotes keep spaces together. All parts must
 * match. A part that is not understood is a problem, and is ignored.
 */
export function parseBoardQuery(text: string, nowMs: number): BoardQuery {
  const problems: string[] = []
  const tests = splitTerms(text).flatMap(term => {
    const test = buildTest(term, nowMs)
    if (typeof test === 'string') {
      problems.push(test)
      return []
    }
    return [(row: BoardRow) => test(row) !== term.isNot]
  })
  return { matches: row => tests.every(test => test(row)), problems }
}

function splitTerms(text: string): Term[] {
  const pattern = /(-?)(?:(\w+):)?(?:"([^"]*)"|(\S+))/g
  return [...text.matchAll(pattern)].flatMap(([whole, minus, name, quoted, bare]) => {
    const field = FIELDS.find(one => one === name)
    const isNot = minus === '-'
    const value = (quoted ?? bare ?? '').toLowerCase()
    if (field) return { field, value, isNot }
    const word = isNot ? whole.slice(1) : whole
    return { field: 'word', value: word.replaceAll('"', '').toLowerCase(), isNot }
  })
}

/** The test of a term, or what is wrong with it. */
function buildTest({ field, value }: Term, nowMs: number): ((row: BoardRow) => boolean) | string {
  switch (field) {
    case 'is':
      if (!STATUSES.some(status => status === value)) return `is: accepts ${STATUSES.join(', ')}`
      return row => row.status === value
    case 'tag':
      return row => row.tags.some(tag => tag.toLowerCase() === value)
    case 'type':
      return row => row.type === value
    case 'region':
      return row => row.bars.some(({ name, state }) => name === value && state === 'failing')
    case 'since':
      return buildAgeTest(value, nowMs)
    default:
      return row => row.name.toLowerCase().includes(value) || row.cause?.toLowerCase().includes(value) === true
  }
}

function buildAgeTest(value: string, nowMs: number): ((row: BoardRow) => boolean) | string {
  const [, sign, count, unit] = /^([<>])(\d{1,4})([mhd])$/.exec(value) ?? []
  if (sign === undefined) return 'since: accepts ages such as <1h, >30m or <7d'
  const limitMs = nowMs - Number(count) * UNITS[unit!]!
  return ({ sinceMs }) => sinceMs !== null && (sign === '<' ? sinceMs >= limitMs : sinceMs < limitMs)
}
