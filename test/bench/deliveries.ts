/**
 * The delivery queue alone, in one process: deliveries a second, time from the commit to the first attempt, the effect of a
 * hanging receiver on the others, and the cost of an idle queue. The receiver is a separate process.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createDeliveryQueue, type DeliveryQueue } from '../support/delivery-queue.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import { type Figure, figure, percentile } from './rig.ts'

const DELIVERIES = 10_000
const SAMPLES = 300
const SENDERS = 8
const IDLE_SECONDS = 30

export async function benchDeliveries(t: Teardown): Promise<Figure[]> {
  const queue = await createDeliveryQueue(t)
  const receiver = await startFastReceiver(t)
  const one = await throughput(t, queue, receiver.url, 1)
  const many = await throughput(t, queue, receiver.url, 100)
  const worker = queue.startWorker(t)
  const waits = await firstAttempts(queue, receiver)
  const thousand = await hangingReceiver(t, queue, receiver)
  await worker.stop()
  const idle = await idleQueries(t, queue)
  const p99 = percentile(waits, 0.99)
  return [
    figure('deliveries a second on one process, one channel', one.toLocaleString('en'), '≥ 1,000', one >= 1_000),
    figure('the same, 100 channels', many.toLocaleString('en'), '≥ 1,000', many >= 1_000),
    figure(
      `commit → first attempt arrives (p50 / p99 of ${SAMPLES})`,
      `${percentile(waits, 0.5)} / ${p99} ms`,
      'p99 ≤ 250 ms',
      p99 <= 250,
    ),
    figure(
      'the same over 999 channels in a row, before and while another receiver hangs (p99)',
      `${thousand.before} / ${thousand.during} ms`,
    ),
    figure('queries of an idle queue in 10 s', idle.toFixed(1), '≤ 1', idle <= 1),
  ]
}

/** Fills the queue, starts a worker, and returns the deliveries a second until the queue is empty. */
async function throughput(t: Teardown, queue: DeliveryQueue, url: string, channels: number): Promise<number> {
  const ids = await Promise.all(Array.from({ length: channels }, () => queue.channel(url)))
  const each = DELIVERIES / channels
  for (const id of ids) {
    for (let sent = 0; sent < each; sent += 1_000) {
      const count = Math.min(1_000, each - sent)
      await queue.send(id, ...Array.from({ length: count }, (_, i) => `monitor:${sent + i}`))
    }
  }
  await query(queue.db, 'ANALYZE')
  const startedMs = performance.now()
  const worker = queue.startWorker(t)
  const lanes = async () => (await query<{ n: number }>(queue.db, 'SELECT count(*) AS n FROM delivery_lanes'))[0]!.n
  await waitFor(async () => (await lanes()) === 0, { timeoutMs: 120_000, label: 'an empty queue' })
  const seconds = (performance.now() - startedMs) / 1_000
  await worker.stop()
  return Math.round(DELIVERIES / seconds)
}

type Counting = { url: string; arrivedAtMs: (id: string) => number | undefined }

async function firstAttempts(queue: DeliveryQueue, receiver: Counting): Promise<number[]> {
  const channel = await queue.channel(receiver.url)
  const waits: number[] = []
  for (let i = 0; i < SAMPLES; i++) {
    const [id] = await queue.send(channel, `monitor:${i}`)
    const committedMs = Date.now()
    const atMs = await waitFor(() => receiver.arrivedAtMs(id!), { everyMs: 2, label: 'a first attempt' })
    waits.push(Math.max(0, atMs - committedMs))
  }
  return waits
}

async function hangingReceiver(t: Teardown, queue: DeliveryQueue, receiver: Counting) {
  const channels = await Promise.all(Array.from({ length: 999 }, () => queue.channel(receiver.url)))
  const hanging = await startReceiver(t)
  hanging.always('hang')
  const stuck = await queue.channel(hanging.url)
  const p99 = async (subject: string) => {
    const sent: { id: string; committedMs: number }[] = []
    const sender = async (first: number) => {
      for (let i = first; i < channels.length; i += SENDERS) {
        const [id] = await queue.send(channels[i]!, subject)
        sent.push({ id: id!, committedMs: Date.now() })
      }
    }
    await Promise.all(Array.from({ length: SENDERS }, (_, i) => sender(i)))
    await waitFor(() => sent.every(({ id }) => receiver.arrivedAtMs(id)), { timeoutMs: 30_000, label: subject })
    return percentile(
      sent.map(({ id, committedMs }) => Math.max(0, receiver.arrivedAtMs(id)! - committedMs)),
      0.99,
    )
  }
  await p99('monitor:warm')
  const before = await p99('monitor:before')
  await queue.send(stuck, ...Array.from({ length: 1_000 }, (_, i) => `monitor:${i}`))
  await hanging.waitFor(8)
  const during = await p99('monitor:during')
  await query(queue.db, 'DELETE FROM alert_channels WHERE id = ?', [stuck])
  await hanging.close()
  return { before, during }
}

async function idleQueries(t: Teardown, queue: DeliveryQueue): Promise<number> {
  const worker = queue.startWorker(t)
  await sleep(1_000)
  let statements = 0
  const count = () => {
    statements++
  }
  queue.db.on('query', count)
  await sleep(IDLE_SECONDS * 1_000)
  queue.db.off('query', count)
  await worker.stop()
  return statements / (IDLE_SECONDS / 10)
}

async function startFastReceiver(t: Teardown): Promise<Counting> {
  const child = fork(import.meta.filename, ['receive'])
  t.teardown(() => child.kill())
  const [port] = (await once(child, 'message')) as [number]
  const arrivals = new Map<string, number>()
  child.on('message', (batch: [string, number][]) => {
    for (const [id, atMs] of batch) if (!arrivals.has(id)) arrivals.set(id, atMs)
  })
  return { url: `http://127.0.0.1:${port}/`, arrivedAtMs: id => arrivals.get(id) }
}

if (process.argv[2] === 'receive') {
  let batch: [string, number][] = []
  const server = createServer((request, response) => {
    batch.push([String(request.headers['x-service-delivery']), Date.now()])
    request.resume().on('end', () => response.end())
  })
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
  setInterval(() => {
    if (batch.length > 0) process.send!(batch)
    batch = []
  }, 5)
}
