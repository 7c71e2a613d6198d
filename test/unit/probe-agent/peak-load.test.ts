import t from 'tap'
import { trackPeakLoad } from '../../../probe-agent/health/peak-load.ts'

t.test('Heartbeats and scrapes each see the peaks since their own previous read', async t => {
  const readings = [30, 500, 10, 20, 0].map((ms, running) => ({
    running,
    waiting: 0,
    loopLagMs: ms,
    startDelayMs: ms / 10,
  }))
  const { forHeartbeat, forScrape } = trackPeakLoad(() => readings.shift()!)
  t.match(forHeartbeat(), { running: 0, loopLagMs: 30, startDelayMs: 3 })
  t.match(forHeartbeat(), { running: 1, loopLagMs: 500, startDelayMs: 50 })
  t.match(forScrape(), { running: 2, loopLagMs: 500, startDelayMs: 50 })
  t.match(forHeartbeat(), { running: 3, loopLagMs: 20, startDelayMs: 2 })
  t.match(forScrape(), { running: 4, loopLagMs: 20, startDelayMs: 2 })
})
