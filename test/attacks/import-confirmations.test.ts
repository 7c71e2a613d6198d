import t from 'tap'
import { createPostgres, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { awayFromMidnight } from '../support/midnight.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { startSmtp } from '../support/smtp.ts'
import { waitFor } from '../support/wait.ts'

await awayFromMidnight()

const smtp = await startSmtp(t)
const api = await startApi(t, { SMTP_URL: smtp.url, CONFIRMATIONS_PER_ORGANIZATION: '20' })
const mails = (count: number, name: string) => Array.from({ length: count }, (_, i) => `${name}${i}@victims.example`)
const channel = (to: string[]) => ({ name: `To ${to[0]}`, type: 'email', config: { to } })
const importAs = (key: string, file: object) =>
  api.call('POST', '/import?dry_run=false', { key, body: { version: 1, ...file } })

t.test('A file that needs more confirmations than a day allows is refused with a Retry-After', async t => {
  const { key } = await api.tenant()
  const alert_channels = [channel(mails(15, 'a')), channel(mails(15, 'b'))]
  const { status, body, headers } = await importAs(key, { alert_channels })
  t.match(
    { status, body },
    { status: 429, body: { error: { code: 'rate_limited', message: /20 confirmations a day/ } } },
  )
  t.ok(Number(headers.get('retry-after')) > 0)
  t.equal((await api.call('GET', '/alerts/channels', { key })).body.meta.total, 0)
  t.equal((await importAs(key, { alert_channels: alert_channels.slice(1) })).status, 200, 'nothing was counted')
})

t.test('A long import does not delay mail channels of other organizations', async t => {
  const { key } = await api.tenant()
  const other = await api.tenant()
  const monitors = (minutes: number) => [
    {
      ...{ name: 'Shop', type: 'http', url: 'https://shop.example/', regions: ['us-east'] },
      rules: [{ channel: 'Hook', remind_every_minutes: minutes }],
    },
  ]
  const hook = { name: 'Hook', type: 'webhook', config: { url: 'https://hooks.example/' } }
  t.equal((await importAs(key, { alert_channels: [hook], monitors: monitors(30) })).status, 200)
  const db = createPostgres(api.databaseUrl, 2)
  t.teardown(() => db.destroy())
  // the import needs these rows after its channels
  const lock = await openTransaction(db)
  await query(lock, 'SELECT FROM alert_rules FOR UPDATE')
  const importing = importAs(key, { alert_channels: [hook, channel(mails(1, 'new'))], monitors: monitors(60) })
  const sql = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  await waitFor(async () => (await query(db, sql)).length > 0, { label: 'the import waits' })
  const body = channel(mails(1, 'other'))
  t.equal((await api.call('POST', '/alerts/channels', { key: other.key, body })).status, 201)
  t.equal((await query(db, sql)).length, 1, 'the import still waits')
  await lock.rollback()
  t.equal((await importing).status, 200)
})
