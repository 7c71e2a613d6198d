import t from 'tap'
import { startLoop } from '../../../../control-plane/foundation/platform/time/loop.ts'
import { createLog } from '../../../../shared/process/log.ts'
import { createMetrics } from '../../../../shared/process/metrics.ts'
import { waitFor } from '../../../support/wait.ts'

const INTERVAL_MS = 3_600_000

t.test('A round that failed is repeated after the wait for that, not after the interval', async t => {
  let rounds = 0
  const round = async () => {
    if (++rounds === 1) throw new Error('PostgreSQL is unreachable')
  }
  const tools = { log: createLog('test', 'silent'), metrics: createMetrics() }
  const loop = startLoop('test', INTERVAL_MS, tools, round, { retryMs: 1_000 })
  t.teardown(() => loop.stop())
  await waitFor(async () => rounds === 2, { label: 'the second round' })
})
