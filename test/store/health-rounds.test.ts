import t from 'tap'
import { createClickhouse } from '../../control-plane/foundation/platform/clickhouse.ts'
import { startLoop } from '../../control-plane/foundation/platform/time/loop.ts'
import { startHealthWorker } from '../../control-plane/operations/health/worker.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { startRawServer } from '../support/raw-server.ts'
import { waitFor } from '../support/wait.ts'

/** A short interval of the rounds of the health worker, so that several of them are before its round without a reader. */
const ROUND_MS = 200

t.test('the engines are asked in each round only while something reads the metrics', async t => {
  let asked = 0
  const port = await startRawServer(t, socket => {
    asked++
    socket.destroy()
  })
  const clickhouse = createClickhouse(`http://127.0.0.1:${port}`)
  const tools = { log: createLog('test', 'silent'), metrics: createMetrics() }
  let rounds = 0
  const comparison = startLoop('comparison', ROUND_MS, tools, async () => void rounds++)
  const worker = startHealthWorker({ ...tools, db: null, nats: null, clickhouse }, ROUND_MS)
  t.teardown(async () => {
    await Promise.all([worker.stop(), comparison.stop()])
    await clickhouse.close()
  })
  const untilRounds = (count: number) => waitFor(() => rounds >= count)
  await waitFor(() => asked > 0)
  await untilRounds(rounds + 2)
  const perRound = asked

  await untilRounds(rounds + 3)
  t.equal(asked, perRound, 'only at the start')

  await tools.metrics.render()
  await waitFor(() => asked > perRound)
  t.pass('a first reading asks at once')
  const before = asked
  await waitFor(() => asked >= before + 2 * perRound, { label: 'questions in the next rounds' })
})
