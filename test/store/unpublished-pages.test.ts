import { randomBytes } from 'node:crypto'
import t from 'tap'
import { DEFAULT_LIMITS } from '../../control-plane/accounts/plans/plans.ts'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createSigner } from '../../control-plane/foundation/platform/crypto/signer.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { changePage } from '../../control-plane/pages/admin/page-actions.ts'
import { subscribe } from '../../control-plane/pages/subscribers/actions.ts'
import { notifySubscribers } from '../../control-plane/pages/subscribers/notice-actions.ts'
import { openIncident } from '../../control-plane/verdict/incidents/api/actions.ts'
import { createDatabase } from '../support/database.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { refuseDeliveries } from '../support/refused-deliveries.ts'
import { insertStatusPage } from '../support/status-pages.ts'
import { insertSubscribers, PUBLIC_URL } from '../support/subscribers.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertChannel } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'
import { runWhileLocked } from '../support/while-held.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())
const secretKey = randomBytes(32)
const subscribing = {
  db,
  secrets: createSecretCipher(secretKey),
  sign: createSigner(secretKey, 'page subscribers'),
  limits: DEFAULT_LIMITS,
}

const tools = { db, publicUrl: PUBLIC_URL, limits: DEFAULT_LIMITS, checkLiteral: () => null }

type Page = { id: string; name: string; publicUrl: string }
const address = { kind: 'email' as const, text: 'ann@example.com' }

const messages: [string, (page: Page) => Promise<unknown>][] = [
  ['notice', () => notifySubscribers(db, PUBLIC_URL, new Date())],
  ['confirmation', page => subscribe(subscribing, page, { address, componentIds: null }, new Date())],
]
/** A published page with one confirmed subscriber, and an incident that it is due to be sent. */
async function insertWaitingPage(slug: string) {
  const tenant = await insertTenant(db)
  const { projectId } = tenant
  const id = await insertStatusPage(db, projectId, slug)
  const channelId = await insertChannel(db, projectId, [])
  await insertSubscribers(db, { projectId, pageId: id, channelId, componentIds: null, rows: [{ id, config: '00' }] })
  await openIncident(tools, tenant, { title: 'Outage', message: 'Words.' }, new Date())
  return { id, projectId, tenant }
}

const countPending = async (projectId: string) => {
  const sql = `SELECT FROM deliveries WHERE project_id = ? AND status = 'pending' AND subscriber_id IS NOT NULL`
  return (await query(db, sql, [projectId])).length
}

for (const [name, send] of messages)
  t.test(`A ${name} that is being queued while its page is unpublished is not sent`, async t => {
    const { id, projectId } = await insertWaitingPage(name)
    let unpublishing: Promise<unknown> = Promise.resolve()
    await runWhileLocked(
      db,
      tx => execute(tx, 'LOCK TABLE events IN SHARE MODE'),
      () => send({ id, name, publicUrl: `${PUBLIC_URL}/status/${name}` }),
      async () => {
        unpublishing = changePage(tools, projectId, id, { is_published: false }, new Date())
        await Promise.race([
          unpublishing,
          waitFor(async () => (await countWaiting()) === 2, { label: 'a second wait' }),
        ])
      },
    )
    await unpublishing
    const unsent = `SELECT count(*) FILTER (WHERE status <> 'skipped') AS count FROM deliveries WHERE project_id = ?`
    t.same(await query(db, unsent, [projectId]), [{ count: 0 }])
  })

t.test('A page that an import has locked does not delay the notices of other pages', async t => {
  const [locked, other] = [await insertWaitingPage('locked'), await insertWaitingPage('other')]
  const tx = await openTransaction(db)
  await query(tx, 'SELECT FROM status_pages WHERE id = ? FOR UPDATE', [locked.id])
  const now = new Date()
  const next = await notifySubscribers(db, PUBLIC_URL, now)
  t.equal(await countPending(other.projectId), 1)
  t.equal(await countPending(locked.projectId), 0)
  t.ok(next! > now, 'it is tried again later')
  await tx.rollback()
  await notifySubscribers(db, PUBLIC_URL, next!)
  t.equal(await countPending(locked.projectId), 1)
})

t.test('A page whose notices cannot be stored delays no other, and sends them when the fault is over', async t => {
  const [broken, other] = [await insertWaitingPage('broken'), await insertWaitingPage('after-broken')]
  // the faults of both orders, because it is not certain which page comes first
  for (const [failing, free] of [
    [broken, other],
    [other, broken],
  ] as const) {
    const acceptAgain = await refuseDeliveries(db, failing.projectId)
    for (const { tenant } of [failing, free])
      await openIncident(tools, tenant, { title: 'Outage', message: 'Words.' }, new Date())
    const [before, freeBefore] = [await countPending(failing.projectId), await countPending(free.projectId)]
    const skipped: string[] = []
    const skip = (error: unknown, pageId: string) => void skipped.push(`${(error as Error).message} ${pageId}`)
    const now = new Date()
    const next = await notifySubscribers(db, PUBLIC_URL, now, skip)
    t.match(skipped.join(), new RegExp(`refused ${failing.id}$`))
    t.ok((await countPending(free.projectId)) > freeBefore, 'the other page is sent')
    t.equal(await countPending(failing.projectId), before)
    t.ok(next! > now, 'it is tried again later')
    await acceptAgain()
    await notifySubscribers(db, PUBLIC_URL, next!, skip)
    t.ok((await countPending(failing.projectId)) > before)
  }
})

async function countWaiting(): Promise<number> {
  const sql = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  return (await query(db, sql)).length
}
