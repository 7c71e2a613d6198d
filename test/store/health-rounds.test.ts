import t from 'tap'
import { createClickhouse } from '../../control-plane/foundation/platform/clickhouse.ts'
import { startHealthWorker } from '../../control-plane/operations/health/worker.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics, type Metrics } from '../../shared/process/metrics.ts'
import { startRawServer } from '../support/raw-server.ts'
import { waitFor } from '../support/wait.ts'

/** A short interval of the rounds of the health worker, so that several of them are before its round without a reader. */
const ROUND_MS = 200

/** Metrics, and the number of rounds of a loop that have ended, which is counted without reading the metrics. */
function createRoundCount() {
  const metrics = createMetrics()
  const counters = new Map<string, ReturnType<Metrics['counter']>>()
  const counter: Metrics['counter'] = (name, help, labels) => {
    const created = metrics.counter(name, help, labels)
    counters.set(name, created)
    return created
  }
  const countRounds = async () => {
    const { values } = await counters.get('picket_loop_rounds_total')!.get()
    return values.reduce((sum, { value }) => sum + value, 0)
  }
  return { metrics: { ...metrics, counter }, countRounds }
}

t.test('the engines are asked in each round only while something reads the metrics', async t => {
  let asked = 0
  const port = await startRawServer(t, socket => {
    asked++
    socket.destroy()
  })
  const clickhouse = createClickhouse(`http://127.0.0.1:${port}`)
  const { metrics, countRounds } = createRoundCount()
  const context = { log: createLog('test', 'silent'), metrics, db: null, nats: null, clickhouse }
  const worker = startHealthWorker(context, ROUND_MS)
  t.teardown(async () => {
    await worker.stop()
    await clickhouse.close()
  })
  const untilRounds = (count: number) =>
    waitFor(async () => (await countRounds()) >= count, { label: `the end of ${count} rounds` })
  await waitFor(() => asked > 0)
  await untilRounds(1)
  const perRound = asked

  await untilRounds((await countRounds()) + 3)
  t.equal(asked, perRound, 'only at the start')

  await metrics.render()
  await waitFor(() => asked > perRound)
  t.pass('a first reading asks at once')
  const before = asked
  await waitFor(() => asked >= before + 2 * perRound, { label: 'questions in the next rounds' })
})
