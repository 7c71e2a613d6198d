import t from 'tap'
import { computeReconnectDelayMs } from '../../../probe-agent/fleet/reconnect-delay.ts'

t.test('Reconnect delays are spread and grow with the number of failures', async t => {
  const rows: [failures: number, isRefused: boolean, soonestMs: number, latestMs: number][] = [
    [1, false, 500, 1000],
    [2, false, 500, 2000],
    [3, false, 500, 4000],
    [4, false, 500, 4000],
    [1000, false, 500, 4000],
    [1, true, 30_000, 60_000],
  ]
  for (const [failures, isRefused, soonestMs, latestMs] of rows) {
    t.equal(computeReconnectDelayMs(failures, isRefused, 0), soonestMs)
    t.equal(computeReconnectDelayMs(failures, isRefused, 1), latestMs)
  }
})
