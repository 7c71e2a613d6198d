import t from 'tap'
import { judgeAnswer } from '../../../control-plane/dashboard/wall/browser/wall-answer.ts'
import { Wall } from '../../../control-plane/dashboard/wall/wall.tsx'
import { buildWall, hideAddresses } from '../../../control-plane/dashboard/wall/wall-data.ts'
import { renderWallPage } from '../../../control-plane/dashboard/wall/wall-document.tsx'
import { layoutTiles, layoutWall } from '../../../control-plane/dashboard/wall/wall-layout.ts'
import { renderHtml } from '../../../control-plane/foundation/web/html/render.ts'
import { TEXT_ATTACKS } from '../../support/attacks.ts'
import { ago, buildBoard, NOW } from '../../support/dashboard-fixtures.ts'

const BOARD = buildBoard([
  {
    id: 'secret-id-1',
    name: 'Checkout',
    status: 'down',
    since: ago(12),
    tags: ['shop', 'prod'],
    cause: 'connect ECONNREFUSED 10.0.0.5:443',
  },
  { id: 'secret-id-2', name: 'Search', status: 'degraded', since: ago(40), tags: ['shop'], cause: 'slower than 2 s' },
  { id: 'secret-id-3', name: 'Quiet one', tags: ['prod'] },
  { id: 'secret-id-4', name: 'Untagged' },
])
const createWall = (query = '', board = BOARD, unreadSince: Date | null = null) =>
  buildWall({ name: 'Office', query, monitors: board.monitors, unreadSince, atMs: NOW })

t.test('A wallboard has each monitor once, by its first tag, and names only those that fail', async t => {
  const wall = createWall()
  t.same(wall.groups, [
    { tag: 'prod', statuses: 'du' },
    { tag: 'shop', statuses: 'w' },
    { tag: null, statuses: 'u' },
  ])
  t.same(
    wall.troubles.map(({ name, cause, since }) => [name, cause, since]),
    [
      ['Checkout', 'connect ECONNREFUSED …', ago(12)],
      ['Search', 'slower than 2 s', ago(40)],
    ],
  )
  const text = JSON.stringify(wall)
  for (const hidden of ['secret-id', 'Quiet one', 'Untagged', '10.0.0.5']) t.notMatch(text, hidden)
  t.match(createWall('tag:shop'), { total: 2 })
  t.match(createWall('is:up'), { total: 2, troubles: [] })
})

t.test('More failing monitors than fit are counted', async t => {
  const many = buildBoard(
    Array.from({ length: 100 }, (_, i) => ({ name: `M${i}`, status: 'down' as const, since: ago(i) })),
  )
  const wall = createWall('', many)
  t.equal(wall.troubles.length + wall.omitted, 100)
  const shownIn = (width: number, height: number) => {
    const size = { width, height, windowWidth: width, windowHeight: height }
    const html = renderHtml(Wall({ data: wall, nowMs: NOW, timeZone: 'UTC', ageMs: 0, size }))
    const tiles = html.match(/<li class="down">/g)!.length
    t.match(html, `and ${100 - tiles} more`)
    return tiles
  }
  t.ok(shownIn(390, 844) < shownIn(1_920, 1_080))
})

t.test('Addresses in causes are hidden, and other words stay', async t => {
  for (const [cause, shown] of [
    ['getaddrinfo ENOTFOUND db.internal.example', 'getaddrinfo ENOTFOUND …'],
    ['redirected to https://login.example.com/x?y=1 too often', 'redirected to … too often'],
    ['connect ETIMEDOUT 2001:db8::7', 'connect ETIMEDOUT …'],
    ['refused by 192.0.2.7:8080', 'refused by …'],
    ['status 503', 'status 503'],
    ['slower than 2.5 s', 'slower than 2.5 s'],
    ['timed out after 10 s', 'timed out after 10 s'],
  ] as const)
    t.equal(hideAddresses(cause), shown)
})

t.test('All bars are inside the screen, for every number of monitors and every shape', async t => {
  for (const count of [1, 40, 1_000, 10_000]) {
    for (const tags of [1, 12]) {
      for (const [width, height] of [
        [1_840, 800],
        [1_840, 300],
        [358, 500],
      ] as const) {
        const groups = Array.from({ length: tags }, (_, i) => ({
          tag: `tag ${i}`,
          statuses: 'u'.repeat(Math.ceil(count / tags)),
        }))
        const laid = layoutWall(groups, width, height)
        const bars = laid.flatMap(({ paths }) =>
          [...paths[0]!.path.matchAll(/M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)/g)].map(match =>
            match.slice(1).map(Number),
          ),
        )
        const label = `${count} monitors, ${tags} tags, ${width} by ${height}`
        t.equal(bars.length, Math.ceil(count / tags) * tags, label)
        if (width === 358 && count === 10_000) continue
        t.ok(
          bars.every(([x, y, w, h]) => x! + w! <= width + 0.01 && (y! + h! <= height + 0.01 || height < 600)),
          label,
        )
      }
    }
  }
  t.same(layoutTiles(2, 1_920, 1_080), { columns: 2, shown: 2 })
})

t.test('Monitors that are unknown are counted, and are not called quiet', t => {
  const size = { width: 1_840, height: 800, windowWidth: 1_920, windowHeight: 1_080 }
  const board = buildBoard([{ name: 'A' }, { name: 'B', status: null }, { name: 'C' }])
  const html = renderHtml(Wall({ data: createWall('', board), nowMs: NOW, timeZone: 'UTC', ageMs: 0, size }))
  t.match(html, '1 unknown of 3 monitors')
  t.notMatch(html, 'are quiet')
  t.end()
})

t.test('A wallboard says since when results are not read, and does not look current', t => {
  const size = { width: 1_840, height: 800, windowWidth: 1_920, windowHeight: 1_080 }
  const show = (unreadSince: Date | null) =>
    renderHtml(Wall({ data: createWall('is:up', BOARD, unreadSince), nowMs: NOW, timeZone: 'UTC', ageMs: 4_000, size }))
  t.match(
    show(new Date(ago(20))),
    /class="wall old".*Results have not been read since 21 Nov 2026, 13:45:30 UTC: this is old/s,
  )
  t.match(show(null), /class="wall quiet"/)
  t.notMatch(show(null), 'not been read')
  t.end()
})

t.test('The page says when it is quiet and when it is old, and its texts are only text', async t => {
  const size = { width: 1_840, height: 800, windowWidth: 1_920, windowHeight: 1_080 }
  const show = (query: string, ageMs: number) =>
    renderHtml(Wall({ data: createWall(query), nowMs: NOW, timeZone: 'UTC', ageMs, size }))
  t.match(show('is:up', 4_000), /class="wall quiet".*All 2 monitors are quiet.*Read 4 s ago/s)
  t.match(show('', 4_000), /class="wall".*1 down, 1 degraded of 4 monitors.*Down for 12 min/s)
  t.match(show('', 180_000), /class="wall old".*No contact for 3 min: this is old/s)
  for (const attack of TEXT_ATTACKS) {
    const board = buildBoard([{ name: attack, status: 'down', since: ago(1), tags: [attack], cause: attack }])
    const page = renderWallPage({ ...createWall('', board), name: attack }, NOW, 'b1')
    const tags = page.match(/<[a-z][^>]*>/gi)!
    t.same(
      tags.filter(tag => /^<(img|iframe|math|details|table)|\s(style|on\w+)=/i.test(tag)),
      [],
    )
    t.equal(tags.filter(tag => /^<script/i.test(tag)).length, 2)
  }
})

t.test('A wallboard shows newer answers only, and is loaded again for a revoked link or another build', async t => {
  const data = createWall()
  const shown = { at: data.at, build: 'b1' }
  const judge = (status: number, body: unknown) => judgeAnswer({ status, body }, shown)
  const later = { ...data, at: new Date(NOW + 15_000).toISOString() }
  t.same(judge(200, { data: later, build: 'b1' }), { kind: 'show', data: later, build: null })
  t.equal(judge(200, { data: { ...data, at: ago(1) }, build: 'b1' }).kind, 'keep', 'an answer that was overtaken')
  t.equal(judge(200, { data: { ...data, at: ago(10) }, build: 'b1' }).kind, 'show', 'the clock was set back')
  t.same(judge(200, { data: later, build: 'b2' }), { kind: 'show', data: later, build: 'b2' })
  t.equal(judge(404, { error: { code: 'not_found', message: 'page not found', status: 404 } }).kind, 'revoked')
  for (const body of [null, {}, 'Not found', { error: 'no such host' }])
    t.equal(judge(404, body).kind, 'keep', 'a 404 of a proxy')
  for (const status of [200, 429, 502]) t.equal(judge(status, null).kind, 'keep')
})
