import type { ShownStatus } from '../../parts/status.tsx'
import type { BoardRow } from './board-row.ts'

/** A part of a query: a word, or a field with a value. `isNot`: rows with it do not match. `isOpen`: its quote is not closed. */
type Term = { field: Field | 'word'; value: string; isNot: boolean; isOpen: boolean }

const FIELDS = ['is', 'tag', 'type', 'region', 'since'] as const
type Field = (typeof FIELDS)[number]

/** What a field accepts, for a field that is not complete. */
const ACCEPTED: Record<Field, string> = {
  is: 'is: accepts up, down, degraded, paused, unknown',
  tag: 'tag: accepts a tag, such as tag:shop or tag:"web shop"',
  type: 'type: accepts a type of monitor, such as type:http',
  region: 'region: accepts a region, such as region:eu-west',
  since: 'since: accepts ages such as <1h, >30m or <7d',
}

const STATUSES: readonly ShownStatus[] = ['up', 'down', 'degraded', 'paused', 'unknown']
const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A query that was understood, and what was not. */
type BoardQuery = { matches(row: BoardRow): boolean; problems: string[] }

/**
 * Parses a query of the list: words (in the name or the cause) and `is:down`, `tag:shop`, `-tag:shop`, `type:http`,
 * `region:eu-west` (the region is failing), `since:<1h` (the status is younger). Quotes keep spaces together. All parts must
 * match. A part that is not understood or not complete, such as `is:`, is a problem, and is ignored.
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

/** A field without a value, or a text after an optional field: in quotes, whose end may be missing, or up to a space. */
const TERM = /(-?)(is|tag|type|region|since):(?=\s|$)|(-?)(?:(\w+):)?(?:"([^"]*)("?)|([^\s"]\S*))/g

function splitTerms(text: string): Term[] {
  return [...text.matchAll(TERM)].map(([whole, minus = '', name, otherMinus, otherName, quoted, quote, bare = '']) => {
    const isNot = (otherMinus ?? minus) === '-'
    const field = FIELDS.find(one => one === (otherName ?? name))
    const isOpen = quoted !== undefined && quote === ''
    if (field) return { field, value: (quoted ?? bare).toLowerCase(), isNot, isOpen }
    const word = isNot ? whole.slice(1) : whole
    return { field: 'word', value: word.replaceAll('"', '').toLowerCase(), isNot, isOpen }
  })
}

/** The test of a term, or what is wrong with it. */
function buildTest({ field, value, isOpen }: Term, nowMs: number): ((row: BoardRow) => boolean) | string {
  if (isOpen) return 'a quote needs an end, as in tag:"web shop"'
  if (value === '') return field === 'word' ? 'quotes need a text, as in "front page"' : ACCEPTED[field]
  switch (field) {
    case 'is':
      if (!STATUSES.some(status => status === value)) return ACCEPTED.is
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
  if (sign === undefined) return ACCEPTED.since
  const boundaryMs = nowMs - Number(count) * UNITS[unit!]!
  return ({ sinceMs }) => sinceMs !== null && (sign === '<' ? sinceMs >= boundaryMs : sinceMs < boundaryMs)
}
