import t from 'tap'
import { createOwnFaultDetector } from '../../control-plane/foundation/platform/network/own-faults.ts'
import { createPostgres, type Db, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import {
  changeDependency,
  createDependency,
  syncCatalogFeeds,
} from '../../control-plane/integrations/vendors/dependencies/dependency-actions.ts'
import {
  deleteDependency,
  findDependency,
} from '../../control-plane/integrations/vendors/dependencies/dependency-store.ts'
import type { DependencyCreate } from '../../control-plane/integrations/vendors/dependencies/schema.ts'
import { claimDueFeeds } from '../../control-plane/integrations/vendors/feed-reading/feed-store.ts'
import { refreshFeed } from '../../control-plane/integrations/vendors/feed-reading/refresh-actions.ts'
import { toResolverFailure } from '../../shared/egress/failure.ts'
import { createEgress } from '../../shared/egress/index.ts'
import { createDatabase } from '../support/database.ts'
import { startTarget } from '../support/target.ts'
import { insertTenant } from '../support/tenant.ts'
import { listVendorEvents, startVendorSite, type VendorSite } from '../support/vendors.ts'
import { insertChannel } from '../support/verdict.ts'

const { url } = await createDatabase(t)
/** two pools that act as two processes */
const pool = { max: 8, acquireMs: 300_000 }
const [db, other] = [createPostgres(url, pool), createPostgres(url, pool)]
t.teardown(() => Promise.all([db.destroy(), other.destroy()]))
const egress = createEgress({ allow: ['127.0.0.0/8'] })
const { checkLiteral } = egress
const startMs = Date.now()
const at = (minute: number) => new Date(startMs + minute * 60_000)
const OUTAGE = { id: 'o', name: 'Outage' }

async function newProject(): Promise<{ projectId: string; channelId: string }> {
  const { projectId } = await insertTenant(db)
  const channelId = await insertChannel(db, projectId, [])
  await subscribe(projectId, channelId)
  return { projectId, channelId }
}
const subscribe = (projectId: string, channelId: string) =>
  execute(
    db,
    `INSERT INTO alert_subscriptions (id, project_id, alert_channel_id, alert_type, created_at, updated_at)
     VALUES (gen_random_uuid(), ?, ?, 'dependency_incident', now(), now())`,
    [projectId, channelId],
  )
const track = (projectId: string, site: VendorSite, body: DependencyCreate = {}, minute = 0) =>
  createDependency(
    { db, checkLiteral },
    projectId,
    { name: 'Acme', status_url: site.statusUrl, feed_type: 'statuspage', ...body },
    at(minute),
  )

/**
 * Runs one round of a worker at a minute. Returns the outcome of each feed that was due. `meanwhile`: what happens between the
 * claims and the requests.
 */
async function read(minute: number, on: Db = db, timeoutMs = 30_000, meanwhile = async () => {}): Promise<string[]> {
  const tools = {
    db: on,
    egress,
    ownFaults: createOwnFaultDetector(),
    timeoutMs,
    intervalMs: 60_000,
    jitterMs: () => 0,
    now: () => at(minute),
  }
  const due = await claimDueFeeds(on, { now: at(minute), leaseMs: 54_000, limit: 100 })
  await meanwhile()
  return Promise.all(due.map(feed => refreshFeed(feed, tools)))
}
const readSeverities = async (projectId: string, id: string) => (await findDependency(db, projectId, id))?.severities
const readEventNames = async (id: string) => (await listVendorEvents(db, id)).map(({ name }) => name)
/** Deletes all dependencies, so that each test begins without due feeds. */
const deleteAll = () => execute(db, 'DELETE FROM dependencies')

t.test('An incident of a vendor is announced to subscribers once when it begins and once when it ends', async t => {
  const site = await startVendorSite(t)
  const { projectId } = await newProject()
  site.report({ id: 'old', name: 'Old' })
  const id = await track(projectId, site)
  t.same(await read(0), ['changed'])
  site.report({ id: 'old', name: 'Old' }, OUTAGE)
  t.same(await read(1), ['changed'])
  t.same(await read(2), ['same'])
  site.report({ id: 'old', name: 'Old' })
  for (const minute of [3, 4, 5]) await read(minute)
  t.same(await listVendorEvents(db, id), [
    { name: 'vendor.down', title: 'Outage', deliveries: 1 },
    { name: 'vendor.resolved', title: 'Outage', deliveries: 1 },
  ])
  await deleteAll()
})

t.test('A feed is read once for all projects and processes, and deleted without a dependency', async t => {
  const site = await startVendorSite(t)
  const projects = await Promise.all([newProject(), newProject(), newProject()])
  const ids = await Promise.all(projects.map(({ projectId }) => track(projectId, site)))
  await Promise.all([read(0), read(0, other)])
  t.equal(site.reads(), 1)
  site.report(OUTAGE)
  await Promise.all([read(1), read(1, other), read(1), read(1, other)])
  t.equal(site.reads(), 2)
  for (const id of ids) t.same(await readEventNames(id), ['vendor.down'])
  for (const [i, id] of ids.entries()) await deleteDependency(db, projects[i]!.projectId, id)
  await read(2)
  t.equal(site.reads(), 2)
  t.same(await query(db, 'SELECT id FROM vendor_feeds WHERE url LIKE ?', [`${site.statusUrl}%`]), [])
})

t.test('An unchanged feed is requested with validators and changes no dependency', async t => {
  const site = await startVendorSite(t)
  const { projectId } = await newProject()
  const id = await track(projectId, site)
  site.report(OUTAGE)
  await read(0)
  t.equal(site.requests.at(-1)?.headers['if-none-match'], undefined)
  site.behave({ kind: 'answer', status: 304, body: '' })
  t.same([await read(1), await read(2)], [['same'], ['same']])
  t.equal(site.requests.at(-1)?.headers['if-none-match'], '"2"')
  t.match(await findDependency(db, projectId, id), { severities: ['major'], lastError: null, readAt: at(2) })
  await deleteAll()
})

t.test('An entry without an update ends after a day, also when its feed has not changed', async t => {
  const target = await startTarget(t)
  const { projectId } = await newProject()
  const publish = (...items: string[]) =>
    target.behave({
      kind: 'answer',
      headers: { etag: '"1"' },
      body: `<rss version="2.0"><channel><title>t</title>${items.join('')}</channel></rss>`,
    })
  publish()
  const id = await createDependency(
    { db, checkLiteral },
    projectId,
    { name: 'Acme', status_url: target.url, feed_type: 'rss' },
    at(0),
  )
  await read(0)
  publish(`<item><title>Database outage</title><guid>1</guid><pubDate>${at(1).toUTCString()}</pubDate></item>`)
  await read(1)
  t.same(await readEventNames(id), ['vendor.down'])
  const isConditional = () => target.requests.at(-1)?.headers['if-none-match'] === '"1"'
  await read(2)
  t.ok(isConditional(), 'a recent entry cannot end by its age, so the request is conditional')
  for (const minute of [1_445, 1_446, 1_447]) await read(minute)
  t.same(await readEventNames(id), ['vendor.down', 'vendor.resolved'])
  await deleteAll()
})

/** `timeoutMs` for those that time out */
const FAILURES: [title: string, break_: (site: VendorSite) => unknown, error: RegExp, timeoutMs?: number][] = [
  ['responds with 503', site => site.behave({ kind: 'answer', status: 503 }), /status 503/],
  ['is a web page', site => site.behave({ kind: 'answer', body: '<html>Sorry</html>' }), /is a web page/],
  ['hangs', site => site.behave({ kind: 'hang', after: 'headers' }), /timed out|deadline|in time|time/, 500],
  ['is endless', site => site.behave({ kind: 'big', bytes: 1_000_000_000, chunked: true }), /larger than 5 MiB/],
  ['redirects to a private address', site => site.behave({ kind: 'redirect', to: 'http://10.0.0.1/' }), /10\.0\.0\.1/],
  ['refuses connections', site => site.close(), /refused/i],
]
for (const [title, break_, error, timeoutMs] of FAILURES) {
  t.test(`A feed that ${title} shows an error and changes no incident`, async t => {
    const site = await startVendorSite(t)
    const { projectId } = await newProject()
    const id = await track(projectId, site)
    await read(0)
    site.report(OUTAGE)
    await read(1)
    await break_(site)
    t.same(await read(2, db, timeoutMs), ['failed'])
    t.match(await findDependency(db, projectId, id), { lastError: error, failures: 1, severities: ['major'] })
    t.same(await read(3, db, timeoutMs), ['failed'])
    t.same(await read(4), [], 'the interval grows')
    t.same(await readEventNames(id), ['vendor.down'])
    await deleteAll()
  })
}

t.test('A suspended process does not overwrite a later read of another process', async t => {
  const site = await startVendorSite(t)
  const { projectId } = await newProject()
  const id = await track(projectId, site)
  await read(0)
  const [stale] = await claimDueFeeds(db, { now: at(1), leaseMs: 30_000, limit: 100 })
  site.report(OUTAGE)
  await read(2, other)
  site.report()
  const tools = {
    db,
    egress,
    ownFaults: createOwnFaultDetector(),
    timeoutMs: 30_000,
    intervalMs: 60_000,
    jitterMs: () => 0,
    now: () => at(3),
  }
  await refreshFeed(stale!, tools)
  t.match(await findDependency(db, projectId, id), { severities: ['major'], readAt: at(2) })
  t.same(await readEventNames(id), ['vendor.down'])
  await deleteAll()
})

t.test('A dependency on a known feed gets its report, and only later incidents are announced', async t => {
  const site = await startVendorSite(t)
  const [first, late] = [await newProject(), await newProject()]
  await track(first.projectId, site)
  site.report(OUTAGE)
  await read(0)
  const id = await track(late.projectId, site, {}, 0.5)
  t.match(await findDependency(db, late.projectId, id), { severities: ['major'] })
  t.equal(site.reads(), 1)
  site.report(OUTAGE, { id: 'b', name: 'Slow', impact: 'minor' })
  await read(1)
  t.same(await listVendorEvents(db, id), [{ name: 'vendor.degraded', title: 'Slow', deliveries: 1 }])
  await deleteAll()
})

t.test('Hundreds of dependencies on one feed get one event each, with several processes', async t => {
  const site = await startVendorSite(t)
  const projects = await Promise.all([newProject(), newProject()])
  const ids = await Promise.all(Array.from({ length: 130 }, (_, i) => track(projects[i % 2]!.projectId, site)))
  await read(0)
  site.report(OUTAGE)
  await Promise.all([read(1), read(1, other)])
  await Promise.all([read(2), read(2, other)])
  const events = await Promise.all(ids.map(id => listVendorEvents(db, id)))
  t.same(
    events.filter(ofDependency => ofDependency.length !== 1 || ofDependency[0]?.deliveries !== 1),
    [],
  )
  await deleteAll()
})

t.test('An override decides which events a channel gets, with or without a subscription', async t => {
  const site = await startVendorSite(t)
  const { projectId, channelId } = await newProject()
  const pager = await insertChannel(db, projectId, [])
  const overrides = [
    { alert_channel_id: channelId, on_down: false, on_resolved: false },
    { alert_channel_id: pager, on_degraded: false },
  ]
  const id = await track(projectId, site, { overrides })
  await read(0)
  site.report({ ...OUTAGE, impact: 'minor' })
  await read(1)
  site.report(OUTAGE)
  await read(2)
  const deliveries = await query<{ channel: string; event: string }>(
    db,
    `SELECT channel_id AS channel, event_name AS event FROM deliveries WHERE subject = ? ORDER BY created_at, id`,
    [`vendor:${id}`],
  )
  t.same(deliveries, [
    { channel: channelId, event: 'vendor.degraded' },
    { channel: pager, event: 'vendor.down' },
  ])
  await deleteAll()
})

t.test('A change of components or feed announces no existing incident', async t => {
  const [site, next] = [await startVendorSite(t), await startVendorSite(t)]
  const { projectId } = await newProject()
  const id = await track(projectId, site, { components: ['Web', 'EU'] })
  const change = (body: object, minute: number) =>
    changeDependency({ db, checkLiteral }, projectId, id, body, at(minute))
  site.report({ ...OUTAGE, components: [{ name: 'Web,EU' }] })
  await read(0)
  t.same(await readSeverities(projectId, id), [])
  await change({ components: ['Web,EU'] }, 0.2)
  t.same(await readSeverities(projectId, id), ['major'])
  next.report({ id: 'n', name: 'Next', components: [{ name: 'Web,EU' }] })
  await change({ status_url: next.statusUrl }, 0.4)
  t.match(await findDependency(db, projectId, id), { severities: [], feedUrl: `${next.statusUrl}api/v2/summary.json` })
  await read(1)
  t.same(await readSeverities(projectId, id), ['major'])
  t.same(await listVendorEvents(db, id), [])
  await deleteAll()
})

t.test(
  'An incident of a component that is no longer tracked is closed after two reads, also of the same report',
  async t => {
    for (const isDuringRead of [false, true]) {
      const site = await startVendorSite(t)
      const { projectId } = await newProject()
      const id = await track(projectId, site, { components: ['Web'] })
      const change = (minute: number) =>
        changeDependency({ db, checkLiteral }, projectId, id, { components: ['EU'] }, at(minute))
      site.impair('Web')
      await read(0)
      t.same(await read(1), ['same'])
      if (!isDuringRead) await change(1.5)
      await read(2, db, 30_000, isDuringRead ? () => change(2) : undefined)
      t.same(await readSeverities(projectId, id), isDuringRead ? ['critical'] : [])
      await read(3)
      t.same(await readSeverities(projectId, id), [])
      t.same(await read(4), ['same'])
      await deleteAll()
    }
  },
)

t.test('A dependency moves to the new address of its vendor in the catalog', async t => {
  const site = await startVendorSite(t)
  const { projectId } = await newProject()
  const [moved, own] = [await track(projectId, site), await track(projectId, site)]
  site.report(OUTAGE)
  await read(0)
  await execute(db, `UPDATE dependencies SET slug = 'github', name = 'Code', components = '{Actions}' WHERE id = ?`, [
    moved,
  ])
  await Promise.all([syncCatalogFeeds(db, at(1)), syncCatalogFeeds(other, at(1))])
  await syncCatalogFeeds(db, at(2))
  t.match(await findDependency(db, projectId, moved), {
    name: 'Code',
    components: ['Actions'],
    feedUrl: 'https://www.githubstatus.com/api/v2/summary.json',
    severities: [],
    updatedAt: at(1),
  })
  t.match(await findDependency(db, projectId, own), { feedUrl: `${site.statusUrl}api/v2/summary.json` })
  t.same(await listVendorEvents(db, moved), [])
  await deleteAll()
})

t.test('A feed with hundreds of new incidents stores a limited number', async t => {
  const site = await startVendorSite(t)
  const { projectId } = await newProject()
  const id = await track(projectId, site)
  await read(0)
  for (let minute = 1; minute <= 4; minute++) {
    const made = Array.from({ length: 150 }, (_, i) => ({ id: `${minute} ${i}`, name: `Made up ${minute} ${i}` }))
    site.report(...made)
    await read(minute)
  }
  const [kept] = await query<{ count: number }>(db, 'SELECT count(*) FROM vendor_incidents WHERE dependency_id = ?', [
    id,
  ])
  t.ok(kept!.count <= 500, `${kept!.count} incidents`)
  t.equal((await readEventNames(id)).filter(name => name === 'vendor.down').length, 10)
  await deleteAll()
})

t.test('A large feed that gets no turn in the thread has an error of Picket, and is not a failed read', async t => {
  await deleteAll()
  const target = await startTarget(t)
  const body = `<rss version="2.0"><channel><title>t</title>${'<a b="1" c="2"/>'.repeat(20_000)}</channel></rss>`
  target.behave({ kind: 'answer', body })
  const { projectId } = await newProject()
  const ids: string[] = []
  // one is parsed and 16 wait
  for (let i = 0; i < 24; i++) {
    const address = { name: `Acme ${i}`, status_url: `${target.url}${i}`, feed_type: 'rss', category: 'cloud' } as const
    ids.push(await createDependency({ db, checkLiteral }, projectId, address, at(0)))
  }
  const outcomes = await read(0)
  t.same([...new Set(outcomes)].sort(), ['changed', 'deferred'])
  const dependencies = await Promise.all(ids.map(id => findDependency(db, projectId, id)))
  const deferred = dependencies.filter(dependency => dependency?.readAt === null)
  t.equal(deferred.length, outcomes.filter(outcome => outcome === 'deferred').length)
  for (const dependency of deferred)
    t.match(dependency, { failures: 0, lastError: /^Picket could not parse the feed: / })
  const soon = await claimDueFeeds(db, { now: at(0.2), leaseMs: 54_000, limit: 100 })
  t.equal(soon.length, deferred.length, 'they are read again after 10 s')
})

t.test('Feeds that our resolver cannot find are read again soon, and do not count as failed', async t => {
  const { projectId } = await newProject()
  const resolver = async () => {
    throw toResolverFailure('ESERVFAIL')
  }
  const tools = {
    db,
    egress: createEgress({ allow: [], resolver }),
    ownFaults: createOwnFaultDetector(),
    timeoutMs: 30_000,
    intervalMs: 60_000,
    jitterMs: () => 0,
    now: () => at(0),
  }
  for (const name of ['a', 'b', 'c']) {
    const status_url = `https://status.${name}.example`
    await createDependency({ db, checkLiteral }, projectId, { name, status_url, feed_type: 'statuspage' }, at(0))
  }
  const outcomes: string[] = []
  for (const feed of await claimDueFeeds(db, { now: at(0), leaseMs: 30_000, limit: 100 }))
    outcomes.push(await refreshFeed(feed, tools))
  t.same(outcomes, ['failed', 'failed', 'deferred'])
  t.same((await claimDueFeeds(db, { now: new Date(at(0).getTime() + 10_000), leaseMs: 0, limit: 9 })).length, 1)
  await deleteAll()
})
