import t from 'tap'
import { createPostgres, execute, query } from '../../../control-plane/foundation/platform/postgres/client.ts'
import type { PageIncident } from '../../../control-plane/pages/public/view/page-data.ts'
import {
  listNoticedMaintenance,
  listPageIncidents,
  listPageMaintenance,
} from '../../../control-plane/pages/public/view/page-data-store.ts'
import { createDatabase } from '../../support/database.ts'
import { insertPage } from '../../support/stored-page.ts'

// one connection: the blocks that it reads are counted
const db = createPostgres((await createDatabase(t)).url, 1)
t.teardown(() => db.destroy())

const DAY_MS = 86_400_000
const now = new Date()
const daysAgo = (days: number) => new Date(now.getTime() - days * DAY_MS)

/** A page with open and resolved incidents, each with the same number of updates `1`, `2` …, filled up to `length` characters. */
async function scene(size: { open: number; resolved: number; updates: number; length: number }) {
  const page = await insertPage(db, now)
  const ids: string[] = []
  for (let i = 0; i < size.open; i++) ids.push(await page.incident({ title: `Open ${i}` }))
  for (let i = 0; i < size.resolved; i++) {
    ids.push(await page.incident({ title: `Resolved ${i}`, resolvedAt: daysAgo(1) }))
  }
  await execute(
    db,
    `INSERT INTO incident_updates (id, incident_id, status, message, is_internal, created_at)
     SELECT CAST(lpad(to_hex(n), 8, '0') || substr(gen_random_uuid()::text, 9) AS uuid), id, 'investigating',
       rpad(n || ' ', :length, 'ä'), false, now()
     FROM unnest(CAST(:ids AS uuid[])) AS id, generate_series(1, :updates) AS n`,
    { ids, ...size },
  )
  return { ...page, ids, list: () => listPageIncidents(db, page.projectId, [], daysAgo(90), daysAgo(14)) }
}

const parseNumbers = ({ updates }: PageIncident) => updates.map(({ message }) => Number.parseInt(message, 10))
const newest = (from: number, count: number) => Array.from({ length: count }, (_, i) => from - i)
const countBytes = (incidents: PageIncident[]) =>
  incidents
    .flatMap(({ updates, postmortem }) => [...updates.map(({ message }) => message), postmortem?.text ?? ''])
    .reduce((sum, text) => sum + Buffer.byteLength(text), 0)

t.test('A page has at most 512 KiB of incident texts: the last updates, of open incidents first', async t => {
  const page = await scene({ open: 50, resolved: 10, updates: 100, length: 5_000 })
  const incidents = await page.list()
  const bytes = countBytes(incidents)
  t.ok(bytes <= 512 * 1024 && bytes > 500 * 1024, `${bytes} bytes`)
  t.equal(incidents.length, 60)
  t.same(
    incidents.slice(0, 50).map(parseNumbers),
    Array.from({ length: 50 }, () => [100]),
  )
  t.same(
    incidents.slice(50).map(parseNumbers),
    Array.from({ length: 10 }, (_, i) => (i < 2 ? [100] : [])),
  )
})

t.test(
  'A page has at most 2,000 updates: the five newest of each incident, then all of open and of new ones',
  async t => {
    const page = await scene({ open: 10, resolved: 30, updates: 100, length: 10 })
    const oldest = page.ids[10]!
    await execute(
      db,
      `UPDATE incidents SET postmortem = 'A cable was cut.', postmortem_published_at = now() WHERE id = ?`,
      [oldest],
    )
    const incidents = await page.list()
    t.equal(incidents.flatMap(({ updates }) => updates).length, 1_999)
    t.same(
      incidents.slice(0, 18).map(parseNumbers),
      Array.from({ length: 18 }, () => newest(100, 100)),
    )
    t.same(parseNumbers(incidents[18]!), newest(100, 94))
    t.same(
      incidents.slice(19).map(parseNumbers),
      Array.from({ length: 21 }, () => newest(100, 5)),
    )
    t.equal(incidents.at(-1)?.id, oldest)
    t.equal(incidents.at(-1)?.postmortem?.text, 'A cable was cut.')
  },
)

t.test('Post-mortems count as texts of a page', async t => {
  const page = await scene({ open: 0, resolved: 60, updates: 0, length: 0 })
  await execute(
    db,
    `UPDATE incidents SET postmortem = repeat('ä', 10000), postmortem_published_at = now() WHERE project_id = ?`,
    [page.projectId],
  )
  const incidents = await page.list()
  t.same(
    incidents.map(({ postmortem }) => postmortem !== null),
    Array.from({ length: 60 }, (_, i) => i < 26),
    'those of the newest incidents',
  )
  t.ok(countBytes(incidents) <= 512 * 1024)
})

/** The blocks of texts of updates that this connection has read so far. A long text is stored in blocks apart from its row. */
async function countTextBlocks(): Promise<number> {
  await query(db, 'SELECT pg_stat_force_next_flush()')
  const [row] = await query<{ blocks: number }>(
    db,
    `SELECT CAST(toast_blks_hit + toast_blks_read AS int) AS blocks FROM pg_statio_user_tables WHERE relname = 'incident_updates'`,
  )
  return row!.blocks
}

t.test('The texts that a page leaves out are not read', async t => {
  const page = await scene({ open: 40, resolved: 0, updates: 100, length: 10 })
  await execute(
    db,
    `UPDATE incident_updates u SET message = (SELECT string_agg(md5(u.id::text || n), '') FROM generate_series(1, 312) AS n)
     WHERE incident_id = ANY (CAST(:ids AS uuid[]))`,
    { ids: page.ids },
  )
  const before = await countTextBlocks()
  t.ok(before > 4_000, 'each text is stored apart')
  t.equal((await page.list()).flatMap(({ updates }) => updates).length, 52)
  const read = (await countTextBlocks()) - before
  t.ok(read > 0 && read < 2_000, `${read} blocks for 52 of 4,000 texts`)
})

t.test(
  'A page has at most 256 KiB of descriptions of maintenance: of the next periods, and of the newest in feeds',
  async t => {
    const page = await insertPage(db, now)
    const monitor = await page.monitor('up')
    const at = (hours: number) => new Date(now.getTime() + hours * 3_600_000)
    const id = await page.maintenance(monitor, 'Move', at(1), at(1.5))
    await execute(db, `UPDATE maintenance_windows SET description = repeat('x', 10000) WHERE id = ?`, [id])
    await execute(
      db,
      `WITH hours AS (SELECT CAST(:now AS timestamptz) + n * interval '1 hour' AS at FROM generate_series(2, 60) AS n),
       periods AS (INSERT INTO maintenance_periods
         SELECT :projectId, :monitor, :id, at, at + interval '30 minutes' FROM hours)
     INSERT INTO maintenance_notices (window_id, starts_at, ends_at, stage, sent_at)
     SELECT :id, at, at + interval '30 minutes', 'announced', :now FROM hours`,
      { now, projectId: page.projectId, monitor, id },
    )
    await execute(db, 'INSERT INTO maintenance_window_monitors (window_id, monitor_id) VALUES (?, ?)', [id, monitor])
    const horizon = { now, recent: daysAgo(14), soon: daysAgo(-14) }
    const described = (periods: { description: string | null }[]) =>
      periods.map(({ description }) => description !== null)
    const markFirst = (count: number) => Array.from({ length: count }, (_, i) => i < 26)
    t.same(described(await listPageMaintenance(db, [monitor], horizon)), markFirst(60))
    t.same(described(await listNoticedMaintenance(db, page.projectId, [monitor], horizon)), markFirst(59))
  },
)
