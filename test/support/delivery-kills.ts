import { randomInt } from 'node:crypto'
import type { Test } from 'tap'
import { type Db, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createDeliverers } from './deliverers.ts'
import { createDeliveryQueue } from './delivery-queue.ts'
import { startReceiver } from './receiver.ts'
import { waitFor } from './wait.ts'

const CHANNELS = 10

/** How many deliveries each kill adds, three of them about one subject. */
const PER_KILL = 10

/**
 * Kills the delivering process at random moments while it sends, and asserts that every delivery arrives in its order, always
 * with the same bytes, and that nothing is left in the queue.
 */
export async function assertDeliveriesSurviveKills(t: Test, kills: number): Promise<void> {
  const queue = await createDeliveryQueue(t)
  const receiver = await startReceiver(t)
  const channels = await Promise.all(Array.from({ length: CHANNELS }, () => queue.channel(receiver.url)))
  const next = await createDeliverers(t, queue)
  const ids: string[] = []
  const inOrder: string[][] = []

  for (let kill = 0; kill < kills; kill++) {
    const about = Array.from({ length: PER_KILL }, (_, i) => `monitor:${kill}-${Math.max(0, i - 2)}`)
    const sent = await queue.send(channels[kill % CHANNELS]!, ...about)
    ids.push(...sent)
    inOrder.push(sent.slice(0, 3))
    const process = await next()
    await untilAnyMoment(queue.db, () => receiver.received.length, kill % 2 === 0)
    await process.kill9()
    // its leases end now instead of in half a minute
    await execute(queue.db, 'UPDATE delivery_lanes SET next_attempt_at = now() WHERE lease_owner IS NOT NULL')
  }
  t.equal(ids.length, kills * PER_KILL)
  const last = await next()
  const pending = `SELECT count(*) AS count FROM deliveries WHERE status = 'pending'`
  await waitFor(async () => (await query<{ count: number }>(queue.db, pending))[0]?.count === 0, {
    label: 'nothing pending',
  })
  await last.kill9()

  const arrived = new Map<string, Set<string>>()
  for (const { headers, rawBody } of receiver.received) {
    const id = String(headers['x-service-delivery'])
    arrived.set(id, (arrived.get(id) ?? new Set()).add(rawBody))
  }
  t.same(new Set(arrived.keys()), new Set(ids), 'every delivery arrived, and nothing else')
  t.same(
    [...arrived].filter(([, bodies]) => bodies.size !== 1),
    [],
    'one that came again had the same bytes',
  )
  const repeated = receiver.received.length - ids.length
  t.ok(repeated > 0, `${repeated} were on their way when their process died, and came again`)
  const delivered = `SELECT status, count(*) AS count FROM deliveries GROUP BY status`
  t.same(await query(queue.db, delivered), [{ status: 'delivered', count: ids.length }])
  t.same(await query(queue.db, 'SELECT 1 FROM delivery_lanes'), [], 'no lane is left behind')
  const order = [...arrived.keys()]
  const mixed = inOrder.filter(
    ([a, b, c]) => !(order.indexOf(a!) < order.indexOf(b!) && order.indexOf(b!) < order.indexOf(c!)),
  )
  t.same(mixed, [], 'deliveries about one subject arrived in their order')
}

/**
 * While it sends or, unless a delivery must arrive first, at any moment before or after: after a number of queries, which
 * take as long as those of the process on any machine.
 */
async function untilAnyMoment(db: Db, countArrived: () => number, hasToSend: boolean): Promise<void> {
  const enough = countArrived() + 1 + randomInt(PER_KILL - 1)
  if (hasToSend) return void (await waitFor(() => countArrived() >= enough, { everyMs: 1, label: 'arrivals' }))
  for (let left = randomInt(300); left > 0 && countArrived() < enough; left--) await query(db, 'SELECT 1')
  for (let left = randomInt(20); left > 0; left--) await query(db, 'SELECT 1')
}
