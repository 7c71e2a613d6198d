import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createDeliveryQueue } from '../support/delivery-queue.ts'
import { PATIENT_DELIVERY } from '../support/delivery-worker.ts'
import { startReceiver } from '../support/receiver.ts'
import { waitFor } from '../support/wait.ts'

// takes about 30 s

/** Counts deliveries by id, and stores nothing else. */
async function startCounter(t: Test) {
  const arrivals = new Map<string, number>()
  const server = createServer((request, response) => {
    const id = String(request.headers['x-service-delivery'])
    arrivals.set(id, (arrivals.get(id) ?? 0) + 1)
    request.resume().on('end', () => response.end())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close().closeAllConnections())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, arrivals }
}

t.test('10,000 simultaneous deliveries arrive, each once for each attempt, and the process stays small', async t => {
  const queue = await createDeliveryQueue(t)
  const counter = await startCounter(t)
  const channels = await Promise.all(Array.from({ length: 20 }, () => queue.channel(counter.url)))
  const worker = queue.startWorker(t, { timing: PATIENT_DELIVERY })
  const ids: string[] = []
  let maxBytes = 0
  const beforeBytes = process.memoryUsage().rss
  const watching = setInterval(() => {
    maxBytes = Math.max(maxBytes, process.memoryUsage().rss - beforeBytes)
  }, 50)
  for (let part = 0; part < 20; part++) {
    const about = Array.from({ length: 500 }, (_, i) => `monitor:${part}-${i}`)
    ids.push(...(await queue.send(channels[part]!, ...about)))
  }
  await waitFor(() => counter.arrivals.size === ids.length, { label: '10,000 deliveries' })
  await worker.stop()
  clearInterval(watching)
  t.same(new Set(counter.arrivals.keys()), new Set(ids))
  const attempts = await query<{ id: string; made: number }>(
    queue.db,
    'SELECT id, jsonb_array_length(attempts) AS made FROM deliveries',
  )
  t.same(
    attempts.filter(({ id, made }) => counter.arrivals.get(id)! > made),
    [],
    'each request has a recorded attempt',
  )
  const delivered = 'SELECT status, count(*) AS count FROM deliveries GROUP BY status'
  t.same(await query(queue.db, delivered), [{ status: 'delivered', count: 10_000 }])
  t.ok(maxBytes < 300 * 2 ** 20, `${Math.round(maxBytes / 2 ** 20)} MB more than before`)
})

t.test('One receiver of 200 that hangs does not delay the others', async t => {
  const queue = await createDeliveryQueue(t)
  const counter = await startCounter(t)
  const hanging = await startReceiver(t)
  hanging.always('hang')
  const channels = await Promise.all(Array.from({ length: 199 }, () => queue.channel(counter.url)))
  const stuck = await queue.channel(hanging.url)
  // no attempt ends, so no other one follows it
  queue.startWorker(t, { timing: PATIENT_DELIVERY })
  t.teardown(hanging.close)

  await queue.send(stuck, ...Array.from({ length: 500 }, (_, i) => `monitor:${i}`))
  await hanging.waitFor(8)
  // `npm run bench` measures how long each takes
  for (let round = 0; round < 4; round++) {
    const ids = await queue.sendToAll(channels, `monitor:round-${round}`)
    await waitFor(() => ids.every(id => counter.arrivals.has(id)), { label: `round ${round}` })
  }
  t.same(await queue.statuses(stuck), { pending: 500 }, 'the others did not wait for it')
  t.equal(hanging.received.length, 8, 'the receiver that hangs has eight requests and no more')
})

t.test('An idle queue sends one query in ten seconds', async t => {
  const queue = await createDeliveryQueue(t)
  const statements: string[] = []
  const metrics = createMetrics()
  const worker = queue.startWorker(t, { metrics })
  const rounds = async (loop: string) => {
    const { text } = await metrics.render()
    return Number(new RegExp(`picket_loop_rounds_total\\{loop="${loop}",outcome="ok"\\} (\\d+)`).exec(text)?.[1] ?? 0)
  }
  worker.wake()
  await waitFor(async () => (await rounds('deliver')) >= 2, { label: 'the first rounds' })
  queue.db.on('query', ({ sql }) => statements.push(sql))
  // the listener is woken once more after it has connected; the first round without a wake-up counts
  let waitedMs = 0
  while (waitedMs < 5_000) {
    statements.length = 0
    const [before, sinceMs] = [await rounds('deliver'), performance.now()]
    await waitFor(async () => (await rounds('deliver')) > before, {
      label: 'a round without a reason',
    })
    waitedMs = performance.now() - sinceMs
  }
  t.equal(statements.length, 1, statements.join('\n'))
})
