import t from 'tap'
import { parseBoardQuery } from '../../../control-plane/dashboard/core/board/board-query.ts'
import type { BoardRow } from '../../../control-plane/dashboard/core/board/board-row.ts'

const NOW = Date.parse('2026-11-21T14:00:00Z')
const MINUTE = 60_000

const ROW: BoardRow = {
  ...{ id: '1', name: 'Shop front page', type: 'http', status: 'down', sinceMs: NOW - 90 * MINUTE },
  issue: null,
  parents: [],
  silencedUntilMs: null,
  tags: ['Prod', 'team one', '-old'],
  bars: [
    { name: 'us-east', state: 'failing' },
    { name: 'eu-west', state: 'ok' },
    { name: 'ap-southeast', state: 'none' },
  ],
  cause: 'connection refused',
}

const matches = (text: string, row: Partial<BoardRow> = {}) => parseBoardQuery(text, NOW).matches({ ...ROW, ...row })

t.test('A row matches when all parts of the query match', t => {
  const rows: [query: string, isMatch: boolean][] = [
    ['', true],
    ['   ', true],
    ['shop', true],
    ['SHOP page', true],
    ['page shop', true],
    ['shop mail', false],
    ['"front page"', true],
    ['"page front"', false],
    ['refused', true],
    ['"connection refused"', true],
    ['-shop', false],
    ['-mail', true],
    ['-"front page"', false],
    ['-refused', false],
    ['is:down', true],
    ['is:DOWN', true],
    ['is:up', false],
    ['-is:up', true],
    ['-is:up -is:paused', true],
    ['is:down is:up', false],
    ['tag:prod', true],
    ['tag:PROD', true],
    ['tag:pro', false],
    ['tag:"team one"', true],
    ['tag:team one', false],
    ['-tag:prod', false],
    ['-tag:"team one"', false],
    ['-tag:test', true],
    ['tag:-old', true],
    ['type:http', true],
    ['type:ping', false],
    ['region:us-east', true],
    ['region:eu-west', false],
    ['region:ap-southeast', false],
    ['-region:us-east', false],
    ['since:<2h', true],
    ['since:<90m', true],
    ['since:<89m', false],
    ['since:>89m', true],
    ['since:>90m', false],
    ['since:<7d', true],
    ['-since:<2h', false],
    ['is:down tag:prod shop region:us-east since:<1d', true],
    ['is:down tag:prod mail', false],
  ]
  for (const [query, isMatch] of rows) t.equal(matches(query), isMatch, query)
  t.end()
})

t.test('A word of an unknown field, an address and a lone sign are words', t => {
  for (const text of ['owner:ann', 'https://shop.example/a?b=c', 'a:b:c', '-', '--x', 'shop:', '10:30']) {
    const { problems } = parseBoardQuery(text, NOW)
    t.same(problems, [], text)
    t.equal(matches(text), text === '--x', text)
  }
  t.equal(matches('https://shop.example/', { name: 'Check of https://shop.example/' }), true)
  t.equal(matches('owner:"ann b"', { name: 'of owner:ann b' }), true)
  t.equal(matches('-owner:ann', { name: 'of owner:ann' }), false)
  t.end()
})

t.test('A monitor without a cause or a change of status never matches by them', t => {
  t.equal(matches('refused', { cause: null }), false)
  t.equal(matches('-refused', { cause: null }), true)
  for (const query of ['since:<1d', 'since:>1m']) t.equal(matches(query, { sinceMs: null }), false, query)
  t.end()
})

t.test('A part that is not understood is a problem and is ignored', t => {
  const rows: [query: string, problem: RegExp][] = [
    ['is:broken', /^is: accepts up, down, degraded, paused, unknown$/],
    ['-is:broken', /^is: accepts/],
    ['is:', /^is: accepts up, down, degraded, paused, unknown$/],
    ['-is:', /^is: accepts/],
    ['tag:', /^tag: accepts a tag/],
    ['type:', /^type: accepts a type/],
    ['region:', /^region: accepts a region/],
    ['since:', /^since: accepts/],
    ['tag:"', /^a quote needs an end/],
    ['tag:"team o', /^a quote needs an end/],
    ['"front', /^a quote needs an end/],
    ['-"front', /^a quote needs an end/],
    ['tag:""', /^tag: accepts/],
    ['-""', /^quotes need a text/],
    ['since:1h', /^since: accepts ages such as <1h, >30m or <7d$/],
    ['since:<1w', /^since: accepts/],
    ['since:<h', /^since: accepts/],
    ['since:<99999m', /^since: accepts/],
    ['since:yesterday', /^since: accepts/],
  ]
  for (const [query, problem] of rows) {
    const { problems } = parseBoardQuery(query, NOW)
    t.equal(problems.length, 1, query)
    t.match(problems[0], problem, query)
    t.equal(matches(query), true, `${query}: ignored`)
    t.equal(matches(`is:up ${query}`), false, `${query}: the other parts count`)
  }
  t.equal(parseBoardQuery('is:a since:b is:up', NOW).problems.length, 2)
  t.end()
})

t.test('Queries of any text are parsed in time that grows with their length', t => {
  for (const text of [
    '"'.repeat(20_000),
    '-'.repeat(20_000),
    'a:'.repeat(10_000),
    'is:"'.repeat(5_000),
    ' '.repeat(20_000),
  ])
    t.type(matches(text), 'boolean', text.slice(0, 8))
  t.end()
})
