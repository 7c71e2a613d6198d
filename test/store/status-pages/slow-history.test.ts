import t from 'tap'
import { migrateClickhouse } from '../../../control-plane/foundation/migrations/clickhouse/index.ts'
import { createClickhouse } from '../../../control-plane/foundation/platform/clickhouse.ts'
import { createPostgres, execute } from '../../../control-plane/foundation/platform/postgres/client.ts'
import { createViewReader } from '../../../control-plane/pages/public/view/view-reader.ts'
import { createClickhouseDatabase } from '../../support/clickhouse.ts'
import { createDatabase } from '../../support/database.ts'
import { insertPage } from '../../support/stored-page.ts'
import { HANG_MS } from '../../support/wait.ts'

const db = createPostgres((await createDatabase(t)).url, 5)
const database = await createClickhouseDatabase(t)
await migrateClickhouse(database.url)
const clickhouse = createClickhouse(database.url, { readTimeoutMs: HANG_MS })
t.teardown(async () => {
  await clickhouse.close()
  await db.destroy()
})

const HOUR_MS = 3_600_000
const now = new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS)
/** Further reads of a page wait (control-plane/foundation/platform/clickhouse.ts). */
const MAX_READS_PER_PAGE = 3

const read = createViewReader({
  ...{ db, clickhouse, publicUrl: 'http://picket.test' },
  ...{ now: () => now, historyTimeoutMs: HANG_MS },
})

/** A page that shows one monitor. */
async function createPage() {
  const page = await insertPage(db, now)
  const monitorId = await page.monitor('up', [[new Date(now.getTime() - HOUR_MS), 'up']])
  await page.component('Shop', monitorId)
  return {
    slug: page.slug,
    setName: (name: string) => execute(db, 'UPDATE status_pages SET name = ? WHERE id = ?', [name, page.pageId]),
    /** Sets the median response time of today. A larger one replaces a smaller one. */
    setMedian: (p50: number) =>
      clickhouse.insert({
        table: 'latency_hourly (monitor_id, hour, region, count, p50, computed_at)',
        values: [{ monitor_id: monitorId, hour: now.getTime() / 1_000, region: '', count: 1, p50, computed_at: p50 }],
        format: 'JSONEachRow',
      }),
    /** ClickHouse answers this page nothing until the returned function is called. */
    async blockHistory() {
      const acquire = () => clickhouse.reads.turns.acquire(`page ${page.pageId}`)
      const turns = await Promise.all(Array.from({ length: MAX_READS_PER_PAGE }, acquire))
      return () => {
        for (const end of turns) end()
      }
    },
  }
}

type Loaded = NonNullable<Awaited<ReturnType<typeof read>>>

const getShown = ({ view }: Loaded) => {
  const [section] = view.sections
  const times = section?.kind === 'component' ? section.component.responseTimes : null
  return { name: view.name, medianMs: times?.at(-1)?.medianMs }
}
/** The same page, with response times that have to be read again. */
const withOldTimes = (page: Loaded): Loaded => ({
  ...page,
  medians: page.medians && { ...page.medians, loadedMs: Number.NEGATIVE_INFINITY },
})

t.test(
  'A change of a page is shown at once while ClickHouse is slow; response times follow with the next read',
  async t => {
    const { slug, setName, setMedian, blockHistory } = await createPage()
    await setMedian(50)
    const first = (await read({ slug }, null))!
    t.same(getShown(first), { name: 'Acme', medianMs: 50 })

    await setMedian(80)
    const unblock = await blockHistory()
    await setName('Acme Cloud')
    const second = (await read({ slug }, withOldTimes(first)))!
    t.same(getShown(second), { name: 'Acme Cloud', medianMs: 50 }, 'the last known response times')
    unblock()

    // gets its turns after the late read has ended
    const unblockAgain = await blockHistory()
    const third = (await read({ slug }, withOldTimes(second)))!
    t.same(getShown(third), { name: 'Acme Cloud', medianMs: 80 }, 'the response times that arrived late')
    t.equal(await read({ slug }, third), third, 'used once; then the page is unchanged')
    unblockAgain()
  },
)

t.test('A page that was never shown waits for its response times', async t => {
  const [shownBefore, added] = [await createPage(), await createPage()]
  const first = (await read({ slug: shownBefore.slug }, null))!
  await added.setMedian(50)
  const unblocks = [await shownBefore.blockHistory(), await added.blockHistory()]
  let isRead = false
  const reading = read({ slug: added.slug }, null).finally(() => {
    isRead = true
  })
  await shownBefore.setName('Acme Cloud')
  t.same(getShown((await read({ slug: shownBefore.slug }, withOldTimes(first)))!), {
    name: 'Acme Cloud',
    medianMs: null,
  })
  t.notOk(isRead, 'still waits when a page that was shown before does not any more')
  for (const unblock of unblocks) unblock()
  t.same(getShown((await reading)!), { name: 'Acme', medianMs: 50 })
})
