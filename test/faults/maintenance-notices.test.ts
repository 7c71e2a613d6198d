import t from 'tap'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createDatabaseClock } from '../support/database-clock.ts'
import { keepOpen } from '../support/open-transaction.ts'
import { startPicket } from '../support/picket.ts'
import type { Program } from '../support/processes.ts'
import { startReceiver } from '../support/receiver.ts'
import { startSmtp } from '../support/smtp.ts'
import { waitFor } from '../support/wait.ts'

// takes about 75 s

t.setTimeout(900_000)

const PUBLIC_URL = 'https://picket.example.com'
const MINUTE_MS = 60_000

const [smtp, receiver] = [await startSmtp(t), await startReceiver(t)]
const picket = await startPicket(t, { regions: [], env: { SMTP_URL: smtp.url, PUBLIC_URL, ROLES: 'api' } })
const db = createPostgres(picket.databaseUrl, 4)
t.teardown(() => db.destroy())

/** The clock of the sending processes. The API was started before and has the correct time. */
const clock = await createDatabaseClock(db)
const setMinute = (minute: number) => clock.setAhead(minute * MINUTE_MS)
const startSender = () => picket.addControlPlane({ ROLES: 'schedule,deliver' })

const browse = (url: string, form?: Record<string, string>) =>
  fetch(url.replace(PUBLIC_URL, picket.origin), {
    ...(form && { method: 'POST', body: new URLSearchParams(form) }),
  })

/** Creates a published page with one component, and subscribes an address and a webhook. Returns the id of the monitor. */
async function publishPage(): Promise<string> {
  const make = async (path: string, body: object) => (await picket.api.post(path, body)).body.data.id as string
  const monitorId = await make('/monitors', { name: 'Shop', type: 'http', url: 'https://shop.example.com/' })
  const page = await make('/status-pages', { name: 'Acme', slug: 'acme' })
  await make(`/status-pages/${page}/components`, { name: 'Shop', monitor_id: monitorId })
  await picket.api.put(`/status-pages/${page}`, { is_published: true })
  const form = `${PUBLIC_URL}/status/acme/subscribe`
  await browse(form, { email: 'ann@example.com' })
  await browse(form, { webhook: receiver.url })
  const [mail] = await smtp.waitFor(1)
  const [hook] = await receiver.waitFor(1)
  const link = /https:\S+\/subscription\/confirm\?\S+/.exec(mail?.text ?? '')?.[0] ?? ''
  for (const url of [link, hook?.json.data.confirm_url]) t.equal((await browse(url, {})).status, 200)
  return monitorId
}

/** Kills a process while its transaction waits for a table, before it commits. */
async function killAtTable(table: string, start: () => Promise<Program>): Promise<void> {
  await db.transaction(async tx => {
    await keepOpen(tx)
    await execute(tx, `LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`)
    const program = await start()
    const waiting = `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = '${table}'::regclass`
    await waitFor(async () => (await query(db, waiting)).length > 0, { label: `a process that waits for ${table}` })
    await program.kill9()
  })
}

/** Kills a process when its mail and its webhook have arrived and neither was answered. */
async function killInFlight(start: () => Promise<Program>): Promise<void> {
  const [mails, hooks] = [smtp.mails.length, receiver.received.length]
  smtp.replyWith('hang')
  receiver.answerWith('hang')
  const program = await start()
  await smtp.waitFor(mails + 1)
  await receiver.waitFor(hooks + 1)
  await program.kill9()
}

/** The feed of the page. A page that PostgreSQL did not return within a second is shown as it was before. */
const readFeed = () =>
  waitFor(
    async () => {
      const answer = await browse(`${PUBLIC_URL}/status/acme/feed.atom`)
      return answer.headers.has('x-service-stale-since') ? null : answer.text()
    },
    { label: 'a feed that is not stale' },
  )

/** Waits until everything that was queued has been delivered. */
async function untilDelivered(notices: number): Promise<void> {
  const delivered = `SELECT count(*) AS count FROM deliveries WHERE event_name = 'page.notice' AND status = 'delivered'`
  const isDone = async () => (await query<{ count: number }>(db, delivered))[0]?.count === notices
  await waitFor(isDone, { label: `${notices} delivered notices` })
}

t.test('Each subscriber gets each notice about maintenance when processes are killed while they send', async t => {
  let sender = await startSender()
  const monitorId = await publishPage()
  const after = (minutes: number) => new Date(Date.now() + minutes * MINUTE_MS).toISOString()
  const window = {
    ...{ title: 'Move', monitor_ids: [monitorId], announce_minutes: 60 },
    ...{ starts_at: after(120), ends_at: after(180) },
  }
  t.equal((await picket.api.post('/maintenance-windows', window)).status, 201)
  /** The running process finds the next stage. */
  const advanceTo = async (minute: number) => {
    await setMinute(minute)
    return sender
  }

  await killInFlight(() => advanceTo(70))
  // leases of the killed process have ended
  await setMinute(72)
  sender = await startSender()
  await untilDelivered(2)

  await killAtTable('page_notices', () => advanceTo(121))
  await killInFlight(startSender)
  await setMinute(123)
  sender = await startSender()
  await untilDelivered(4)

  await killAtTable('deliveries', () => advanceTo(181))
  await killInFlight(startSender)
  await setMinute(183)
  await startSender()
  await untilDelivered(6)

  const stages = ['announced', 'begun', 'ended'].map(stage => `maintenance.${stage}`)
  const hooks = receiver.received.filter(({ json }) => json.event === 'page.notice')
  t.same(
    hooks.map(({ json }) => json.data.changes[0].event),
    stages.flatMap(stage => [stage, stage]),
    'each notice came once more after its process was killed',
  )
  for (const header of ['x-service-delivery', 'webhook-id'])
    t.equal(new Set(hooks.map(({ headers }) => headers[header])).size, 3, `both have the same ${header}`)
  t.equal(new Set(hooks.map(({ rawBody }) => rawBody)).size, 3, 'both have the same bytes')
  const mails = smtp.mails.slice(1)
  t.same(
    mails.map(({ headers }) => headers.subject),
    ['Planned maintenance', 'Maintenance in progress', 'Maintenance completed'].flatMap(stage => [
      `[Acme] ${stage}: Move`,
      `[Acme] ${stage}: Move`,
    ]),
  )
  t.equal(new Set(mails.map(({ headers }) => headers['message-id'])).size, 3, 'both have the same Message-ID')
  t.same(await query(db, 'SELECT FROM page_notices'), [], 'nothing is left to send')
  t.same(await query(db, `SELECT FROM deliveries WHERE status <> 'delivered'`), [])
  t.match(
    (await readFeed()).replace(/&lt;.*?&gt;/g, ''),
    /Completed.*In progress.*Announced/s,
    'the feed has each stage',
  )
})
