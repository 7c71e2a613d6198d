import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { apply, exchangeApi, exported, listChanges, plan } from '../support/exchange.ts'
import { createResourceApi } from '../support/resource-api.ts'

const api = await createResourceApi(t, exchangeApi)
const MONITOR = { name: 'Shop', type: 'http', url: 'https://shop.example.com/', rules: [] }
const HOUR_MS = 3_600_000
const START_HOUR = Math.floor(Date.now() / HOUR_MS)
const at = (hours: number) => new Date((START_HOUR + hours) * HOUR_MS).toISOString()
const windowAt = (hours: number, title = 'Database maintenance') => ({
  ...{ title, starts_at: at(hours), ends_at: at(hours + 1), monitors: ['Shop'] },
})
type Entry = Partial<ReturnType<typeof windowAt>> & { cron?: string }
const buildFile = (...maintenance_windows: Entry[]) => ({ version: 1, monitors: [MONITOR], maintenance_windows })

const readWindows = (projectId: string) =>
  query<{ id: string; startsAt: Date | null; cron: string | null; title: string }>(
    api.db,
    'SELECT id, starts_at AS "startsAt", cron, title FROM maintenance_windows WHERE project_id = ? ORDER BY id',
    [projectId],
  )

/** Imports a first file whose first window is moved to the past, as if it had ended since. */
async function accountWithEnded(past: ReturnType<typeof windowAt>, ...others: Entry[]) {
  const account = await api.account()
  const first = await apply(account, buildFile({ ...past, starts_at: at(1), ends_at: at(2) }, ...others))
  t.equal(first.status, 200, first.body.error?.message)
  const [ended] = await readWindows(account.projectId)
  await execute(api.db, 'UPDATE maintenance_windows SET starts_at = :starts_at, ends_at = :ends_at WHERE id = :id', {
    ...{ starts_at: past.starts_at, ends_at: past.ends_at, id: ended!.id },
  })
  return { account, stored: await readWindows(account.projectId) }
}

t.test('An entry matches the window with its begin, not an ended one with the same title', async t => {
  const [past, coming] = [windowAt(-30), windowAt(140)]
  const { account, stored } = await accountWithEnded(past, coming)
  for (const file of [buildFile(past, coming), buildFile(coming, past), buildFile(coming)])
    for (const options of ['', '&prune=true']) {
      const { status, body } = await apply(account, file, options)
      t.match({ status, body }, { status: 200, body: { data: { changes: [], warnings: [] } } })
      t.same(await readWindows(account.projectId), stored)
    }
})

t.test('An entry with a new begin moves the window that has not ended', async t => {
  const past = windowAt(-30)
  const { account, stored } = await accountWithEnded(past, windowAt(140))
  const moved = windowAt(150)
  t.same(listChanges(await apply(account, buildFile(moved), '&prune=true')), [
    'update maintenance_window Database maintenance',
  ])
  const after = [stored[0]!, { ...stored[1]!, startsAt: new Date(moved.starts_at) }]
  t.same(await readWindows(account.projectId), after)
  const over = await apply(account, buildFile(windowAt(-50), past, moved), '&prune=true')
  t.match(over.body.data, { changes: [], warnings: [{ path: 'maintenance_windows[0]', message: /has ended/ }] })
  t.same(await readWindows(account.projectId), after, 'an entry that is over moves no window')
})

t.test('An entry that no open window matches is created, and the ended window stays', async t => {
  const { account, stored } = await accountWithEnded(windowAt(-30))
  t.same(listChanges(await apply(account, buildFile(windowAt(20)))), ['create maintenance_window Database maintenance'])
  const [first, second] = await readWindows(account.projectId)
  t.same(first, stored[0])
  t.same(second?.startsAt, new Date(at(20)))
  t.same(listChanges(await plan(account, buildFile(windowAt(20)), '&prune=true')), [])
})

t.test('An entry extends the window with its begin after it has ended', async t => {
  const past = windowAt(-2)
  const { account, stored } = await accountWithEnded(past)
  const [change] = (await apply(account, buildFile({ ...past, ends_at: at(5) }))).body.data.changes
  t.match(change, { action: 'update', id: stored[0]!.id, fields: { ends_at: { to: at(5) } } })
})

t.test('A window that a person has moved to a later time is not deleted by a file with its earlier time', async t => {
  const past = windowAt(-30)
  const { account, stored } = await accountWithEnded(past)
  await execute(api.db, 'UPDATE maintenance_windows SET starts_at = :from, ends_at = :to WHERE id = :id', {
    ...{ from: at(70), to: at(71), id: stored[0]!.id },
  })
  const moved = await readWindows(account.projectId)
  t.match((await apply(account, buildFile(past), '&prune=true')).body.data, {
    changes: [],
    warnings: [{ path: 'maintenance_windows[0]', message: /has ended/ }],
  })
  t.same(await readWindows(account.projectId), moved)
})

t.test('A recurring window that has ended is not moved to another season', async t => {
  const season = (from: number, to: number) => ({
    ...{ title: 'Nightly', cron: '0 2 * * *', duration_minutes: 30, time_zone: 'UTC', monitors: ['Shop'] },
    ...{ starts_at: at(from), ends_at: at(to) },
  })
  const account = await api.account()
  await apply(account, buildFile(season(1, 100)))
  await execute(api.db, 'UPDATE maintenance_windows SET starts_at = ?, ends_at = ?', [at(-200), at(-100)])
  const [ended] = await readWindows(account.projectId)
  t.same(listChanges(await apply(account, buildFile(season(500, 600)))), ['create maintenance_window Nightly'])
  t.same((await readWindows(account.projectId))[0], ended)
  const [change] = (await plan(account, buildFile(season(-200, 50)))).body.data.changes
  t.match(change, { action: 'update', id: ended!.id }, 'its end can be extended')
})

t.test('Recurring windows with one title match by their cron expression, then by title', async t => {
  const nightly = (hour: number, more: object = {}) => ({
    ...{ title: 'Nightly', cron: `0 ${hour} * * *`, duration_minutes: 30, time_zone: 'UTC', monitors: ['Shop'] },
    ...more,
  })
  const account = await api.account()
  const ending = nightly(2, { ends_at: at(100) })
  await apply(account, buildFile(ending, nightly(2), nightly(4)))
  const stored = await readWindows(account.projectId)
  await execute(api.db, 'UPDATE maintenance_windows SET ends_at = ? WHERE id = ?', [at(-10), stored[0]!.id])
  const over = nightly(2, { ends_at: at(-10) })
  for (const file of [buildFile(over, nightly(2), nightly(4)), buildFile(nightly(4), nightly(2))])
    t.same(listChanges(await plan(account, file, '&prune=true')), [])
  const { changes } = (await apply(account, buildFile(nightly(6), nightly(4)), '&prune=true')).body.data
  t.match(changes, [{ action: 'update', id: stored[1]!.id, fields: { cron: { from: '0 2 * * *', to: '0 6 * * *' } } }])
  t.equal(changes.length, 1)
})

t.test('An unchanged export with prune keeps a window whose monitors are all archived', async t => {
  const account = await api.account()
  t.equal((await apply(account, buildFile(windowAt(30)))).status, 200)
  const stored = await readWindows(account.projectId)
  await execute(api.db, 'UPDATE monitors SET deleted_at = now() WHERE project_id = ?', [account.projectId])
  const file = await exported(account)
  t.same(file.maintenance_windows, [])
  const { status, body } = await apply(account, file, '&prune=true')
  t.match({ status, body }, { status: 200, body: { data: { changes: [], delete: 0 } } })
  t.same(await readWindows(account.projectId), stored)
})
