import t, { type Test } from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { toResolverFailure } from '../../shared/egress/failure.ts'
import { createResolver } from '../../shared/egress/guard/resolve.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createDeliveryQueue } from '../support/delivery-queue.ts'
import { startRawServer } from '../support/raw-server.ts'
import { type Answer, startReceiver } from '../support/receiver.ts'
import { waitFor } from '../support/wait.ts'

/** The kernel has no route for a TCP connection to a broadcast address: connect(2) fails with ENETUNREACH. */
const WITHOUT_ROUTE = '127.255.255.255'

/** A queue with a worker; `resolve` can be replaced. */
async function startQueue(t: Test) {
  const queue = await createDeliveryQueue(t)
  const metrics = createMetrics()
  const network = { resolve: async (_name: string) => ['127.0.0.1'] }
  const worker = queue.startWorker(t, { metrics, resolver: name => network.resolve(name) })
  const channelTo = (url: string, host: string, config = {}) => {
    const address = new URL(url)
    address.hostname = host
    return queue.channel(address.href, config)
  }
  const readFailures = async (channelId: string) => {
    const sql = 'SELECT consecutive_failures AS failures, is_paused AS "isPaused" FROM alert_channels WHERE id = ?'
    return (await query<{ failures: number; isPaused: boolean }>(queue.db, sql, [channelId]))[0]
  }
  /** makes every attempt that waits due now, until each of the deliveries had `count` attempts or has ended */
  const untilAttempted = (ids: string[], count: number) =>
    waitFor(
      async () => {
        const due = `next_attempt_at = now() - interval '1 second'`
        await execute(queue.db, `UPDATE deliveries SET ${due} WHERE status = 'pending' AND next_attempt_at > now()`)
        await execute(
          queue.db,
          `UPDATE delivery_lanes SET ${due} WHERE lease_owner IS NULL AND next_attempt_at > now()`,
        )
        await execute(
          queue.db,
          `UPDATE relay_messages SET ${due} WHERE lease_owner IS NULL AND next_attempt_at > now()`,
        )
        worker.wake()
        worker.wakeRelay()
        const entries = await Promise.all(ids.map(queue.entry))
        return entries.every(({ status, attempts }) => status !== 'pending' || attempts.length >= count)
          ? entries
          : null
      },
      { label: `${count} attempts of each` },
    )
  return { ...queue, metrics, network, channelTo, readFailures, untilAttempted }
}

t.test(
  'Alerts that Picket cannot send without a route arrive once when the route is back, in the order of their lane',
  async t => {
    const { db, network, metrics, channelTo, readFailures, untilAttempted, send, ended } = await startQueue(t)
    const receiver = await startReceiver(t)
    const channelId = await channelTo(receiver.url, 'hooks.example.com')
    await execute(db, 'UPDATE alert_channels SET consecutive_failures = 49 WHERE id = ?', [channelId])
    network.resolve = async () => [WITHOUT_ROUTE]
    const ids = await send(channelId, ...Array.from({ length: 60 }, (_, i) => `monitor:${i}`))
    const [next] = await send(channelId, 'monitor:0')
    for (const { status, attempts } of await untilAttempted(ids, 5)) {
      t.equal(status, 'pending')
      for (const one of attempts)
        t.match(one, { response_code: null, error: /^Picket's network failed, not the receiver: .*no route/ })
    }
    t.same(await readFailures(channelId), { failures: 49, isPaused: false }, 'no failure is counted')
    t.match((await metrics.render()).text, /^picket_delivery_own_faults_total\{fault="network"\} [1-9]/m)
    network.resolve = async () => ['127.0.0.1']
    await untilAttempted(ids, 6)
    for (const id of [...ids, next!]) t.equal((await ended(id)).status, 'delivered')
    t.same(await readFailures(channelId), { failures: 0, isPaused: false })
    const arrived = receiver.received.map(one => one.json.delivery_id)
    t.equal(arrived.length, 61, 'each arrived once')
    t.same(arrived.toSorted(), [...ids, next!].toSorted())
    t.ok(arrived.indexOf(next) > arrived.indexOf(ids[0]))
  },
)

t.test('The next attempt starts by itself, 5 s after the first', async t => {
  const { network, channelTo, send, ended, entry } = await startQueue(t)
  const receiver = await startReceiver(t)
  network.resolve = async () => [WITHOUT_ROUTE]
  const [id] = await send(await channelTo(receiver.url, 'hooks.example.com'), 'monitor:a')
  await waitFor(async () => (await entry(id!)).attempts.length > 0, { label: 'the first attempt' })
  network.resolve = async () => ['127.0.0.1']
  const { status, attempts } = await ended(id!)
  t.equal(status, 'delivered')
  t.equal(receiver.received.length, 1)
  const [before, last] = attempts.slice(-2).map(({ at }) => Date.parse(at))
  t.ok(last! - before! >= 5_000, `${last! - before!} ms`)
})

t.test('Attempts that fail at the receiver count after those that failed in Picket: three are made', async t => {
  const { network, channelTo, readFailures, untilAttempted, send, ended } = await startQueue(t)
  const receiver = await startReceiver(t)
  receiver.always(503)
  const channelId = await channelTo(receiver.url, 'hooks.example.com')
  network.resolve = async () => [WITHOUT_ROUTE]
  const ids = await send(channelId, 'monitor:a')
  await untilAttempted(ids, 4)
  network.resolve = async () => ['127.0.0.1']
  await untilAttempted(ids, 6)
  const { status, attempts } = await ended(ids[0]!)
  t.equal(status, 'failed')
  t.equal(receiver.received.length, 3)
  t.same(
    attempts.slice(-3).map(one => one.response_code),
    [503, 503, 503],
  )
  t.same(await readFailures(channelId), { failures: 1, isPaused: false })
})

t.test('A machine that reaches no DNS server uses up no delivery of its only receiver', async t => {
  const { network, channelTo, readFailures, untilAttempted, send, ended } = await startQueue(t)
  const receiver = await startReceiver(t)
  const channelId = await channelTo(receiver.url, 'hooks.example.com')
  network.resolve = createResolver({ servers: ['127.0.0.1:1'] })
  const ids = await send(channelId, 'monitor:a', 'monitor:b')
  for (const { status } of await untilAttempted(ids, 4)) t.equal(status, 'pending')
  network.resolve = async () => ['127.0.0.1']
  await untilAttempted(ids, 5)
  for (const id of ids) t.equal((await ended(id)).status, 'delivered')
  t.same(await readFailures(channelId), { failures: 0, isPaused: false })
  t.equal(receiver.received.length, 2)
})

t.test('A resolver that fails for all receivers uses up no delivery', async t => {
  const { network, channelTo, readFailures, untilAttempted, send, ended } = await startQueue(t)
  const receiver = await startReceiver(t)
  network.resolve = async () => {
    throw toResolverFailure('ESERVFAIL')
  }
  const channels = await Promise.all(['a.com', 'b.com', 'c.com', 'd.com'].map(host => channelTo(receiver.url, host)))
  const ids = (await Promise.all(channels.map(id => send(id, 'monitor:a')))).flat()
  for (const { status } of await untilAttempted(ids, 6)) t.equal(status, 'pending')
  network.resolve = async () => ['127.0.0.1']
  await untilAttempted(ids, 7)
  for (const id of ids) t.equal((await ended(id)).status, 'delivered')
  for (const id of channels) t.same(await readFailures(id), { failures: 0, isPaused: false })
  t.equal(receiver.received.length, 4)
})

t.test('The built-in relay does not count a fault of Picket against the destination', async t => {
  const { db, network, channelTo, untilAttempted, send, ended } = await startQueue(t)
  const receiver = await startReceiver(t)
  const channelId = await channelTo(receiver.url, 'hooks.example.com', { relay_source_id: 'src_1' })
  network.resolve = async () => [WITHOUT_ROUTE]
  const ids = await send(channelId, 'monitor:a')
  await untilAttempted(ids, 6)
  const sql = `SELECT m.failures, o.consecutive_failures AS "ofDestination", o.opened_at AS "openedAt"
    FROM relay_messages m JOIN relay_destinations o ON o.id = m.destination_id WHERE m.channel_id = ?`
  t.same(await query(db, sql, [channelId]), [{ failures: 0, ofDestination: 0, openedAt: null }])
  network.resolve = async () => ['127.0.0.1']
  await untilAttempted(ids, 7)
  t.equal((await ended(ids[0]!)).status, 'delivered')
  t.equal(receiver.received.length, 1)
})

t.test("A receiver's own fault fails its delivery as before", async t => {
  const { network, channelTo, readFailures, send, ended } = await startQueue(t)
  const closed = await startRawServer(t, () => {})
  const rows: [what: string, host: string, answer: Answer | null, attempts: number][] = [
    ['refused connections', 'refuses.com', null, 3],
    ['connections that are cut', 'resets.com', 'reset', 3],
    ['503', 'fails.com', 503, 3],
    ['a zone that the resolver cannot read', 'broken.com', 200, 3],
    ['another name of that zone', 'also.broken.com', 200, 3],
    ['a third name of that zone', 'third.broken.com', 200, 3],
    ['a name that does not exist', 'missing.com', 200, 3],
    ['an address that the egress guard refuses', 'private.com', 200, 1],
  ]
  network.resolve = async name => {
    if (name.endsWith('broken.com')) throw toResolverFailure('ESERVFAIL')
    if (name === 'missing.com') throw toResolverFailure('ENOTFOUND')
    // no server listens there
    if (name === 'refuses.com') return ['127.0.0.77']
    return [name === 'private.com' ? '10.0.0.1' : '127.0.0.1']
  }
  await Promise.all(
    rows.map(async ([what, host, answer, attempts]) => {
      const receiver = await startReceiver(t)
      receiver.always(answer ?? 200)
      const channelId = await channelTo(answer === null ? `http://x:${closed}/` : receiver.url, host)
      const [id] = await send(channelId, 'monitor:a')
      const end = await ended(id!)
      t.equal(end.status, 'failed', what)
      t.equal(end.attempts.length, attempts, what)
      for (const one of end.attempts) t.notMatch(one.error, /Picket's/, what)
      t.same(await readFailures(channelId), { failures: 1, isPaused: false }, what)
    }),
  )
})
