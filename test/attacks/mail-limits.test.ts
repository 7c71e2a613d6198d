import t from 'tap'
import { enqueueDeliveries } from '../../control-plane/alerting/deliveries/queue/enqueue-actions.ts'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { confirmAddresses } from '../support/addresses.ts'
import { type ApiServer, startApi } from '../support/api-server.ts'
import { awayFromMidnight } from '../support/midnight.ts'
import { startSmtp } from '../support/smtp.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'

await awayFromMidnight()

type Scene = Awaited<ReturnType<typeof createScene>>
type Entry = { id: string; status: string; attempts: { error: string | null }[] }

/** Starts an installation with a mail server and these limits. */
async function createScene(t: Teardown, limits: Record<string, string>) {
  const smtp = await startSmtp(t)
  const api = await startApi(t, { ROLES: 'api,deliver', SMTP_URL: smtp.url, ...limits })
  return { api, smtp, account: (to: string[]) => createAccount(api, to) }
}

/** Creates an account with one email channel whose addresses are confirmed. */
async function createAccount(api: ApiServer, to: string[]) {
  const tenant = await api.tenant('free')
  const { key } = tenant
  await confirmAddresses(api.db, tenant.organizationId, ...to)
  const made = await api.call('POST', '/alerts/channels', { key, body: { name: 'Ops', type: 'email', config: { to } } })
  const { id } = made.body.data
  /** Sends a test. Returns its log entry when it is complete. */
  async function test(): Promise<Entry> {
    const queued = await api.call('POST', `/alerts/channels/${id}/test`, { key })
    const read = async () => (await api.call('GET', `/alerts/log/${queued.body.data.id}`, { key })).body.data
    return waitFor(async () => ((await read()).status === 'pending' ? null : read()), { label: 'the end of a test' })
  }
  return { ...tenant, id, test }
}

const tests = async (account: Awaited<ReturnType<Scene['account']>>, count: number) => {
  const entries = []
  for (let n = 0; n < count; n++) entries.push(await account.test())
  return entries
}

t.test('An email above the daily limit of an organization is skipped with the reason and can be replayed', async t => {
  const { account, api, smtp } = await createScene(t, { MAILS_PER_ORGANIZATION: '3' })
  const one = await account(['ann@ops.example', 'ben@ops.example'])
  const [first, second, third] = await tests(one, 3)
  t.match(first, { status: 'delivered', attempts: [{ error: null }] })
  t.match(second, {
    status: 'delivered',
    attempts: [{ error: /not sent to ben@ops.example: at most 3 emails a day on the free plan/ }],
  })
  t.match(third, { status: 'skipped', attempts: [{ error: /at most 3 emails a day/ }] })
  t.same(
    smtp.mails.map(({ to }) => to),
    [['ann@ops.example', 'ben@ops.example'], ['ann@ops.example']],
  )
  const channel = (await api.call('GET', `/alerts/channels/${one.id}`, { key: one.key })).body.data
  t.match(channel, { is_paused: false, consecutive_failures: 0 }, 'it does not count as a failure of the channel')
  await execute(api.db, 'DELETE FROM mail_counts')
  t.equal((await api.call('POST', `/alerts/log/${third!.id}/retry`, { key: one.key })).status, 200)
  const mails = await smtp.waitFor(3)
  t.same(mails[2]!.to, ['ann@ops.example', 'ben@ops.example'])
  t.match(
    await (await account(['eve@other.example'])).test(),
    { status: 'delivered' },
    'another organization has its own limit',
  )
})

t.test('The limit of an address applies to one organization; another one cannot use it up', async t => {
  const { account } = await createScene(t, { MAILS_PER_RECIPIENT: '2' })
  const noisy = await account(['ann@ops.example', 'ben@ops.example'])
  const entries = await tests(noisy, 3)
  t.same(
    entries.map(({ status }) => status),
    ['delivered', 'delivered', 'skipped'],
  )
  t.match(entries[2]!.attempts, [{ error: /at most 2 emails a day to one address/ }])
  t.match(await (await account(['ann@ops.example'])).test(), { status: 'delivered' })
})

t.test('Above the limit of the installation each organization still sends its first thousand alerts', async t => {
  const { account, api } = await createScene(t, { MAILS_PER_INSTALLATION: '1' })
  const one = await account(['ann@ops.example'])
  t.same(
    (await tests(one, 2)).map(({ status }) => status),
    ['delivered', 'delivered'],
  )
  await execute(api.db, 'UPDATE mail_counts SET used = greatest(used, 1000)')
  t.match(await one.test(), { status: 'skipped', attempts: [{ error: /for the whole installation/ }] })
  t.match(await (await account(['eve@other.example'])).test(), { status: 'delivered' })
})

t.test('Attempts of one delivery count once, and the second attempt goes to the same addresses', async t => {
  const { account, smtp } = await createScene(t, { MAILS_PER_ORGANIZATION: '3' })
  const one = await account(['ann@ops.example', 'ben@ops.example'])
  smtp.replyWith('451 4.3.0 Later')
  t.match(await one.test(), { status: 'delivered', attempts: [{ response_code: 451 }, { response_code: 250 }] })
  smtp.replyWith('451 4.3.0 Later')
  t.match(await one.test(), { status: 'delivered' })
  t.same(
    smtp.mails.map(({ to }) => to),
    [['ann@ops.example', 'ben@ops.example'], ['ann@ops.example']],
  )
})

t.test('A monitor that flaps all day does not suppress the outage of another one', async t => {
  const { account, api } = await createScene(t, { MAILS_PER_RECIPIENT: '3' })
  const { id: channelId, projectId, test } = await account(['ann@ops.example'])
  await test()
  const [event] = await query<{ id: string }>(api.db, 'SELECT id FROM events')
  const notify = async (subject: string) => {
    const delivery = { projectId, channelId, eventId: event!.id, eventName: 'monitor.down', subject }
    const [id] = await api.db.transaction(tx => enqueueDeliveries(tx, [delivery], new Date()))
    const readStatus = () => query<{ status: string }>(api.db, 'SELECT status FROM deliveries WHERE id = ?', [id!])
    return waitFor(
      async () => {
        const [{ status } = { status: 'pending' }] = await readStatus()
        return status === 'pending' ? null : status
      },
      { label: `the end of ${subject}` },
    )
  }
  const flapping = [await notify('monitor:a'), await notify('monitor:a'), await notify('monitor:a')]
  t.same(flapping, ['delivered', 'delivered', 'skipped'])
  t.equal(await notify('monitor:b'), 'delivered', 'the first email of an hour about this monitor')
  t.equal(await notify('monitor:b'), 'skipped')
  t.equal(await notify('incident:c'), 'skipped', 'people can open any number of incidents')
  t.equal(await notify('monitor:d'), 'delivered')
  t.equal(await notify(`digest:${projectId}`), 'delivered', 'a digest may contain the first message about a monitor')
  t.equal(await notify('monitor:f'), 'skipped', 'only up to as many again')
})
