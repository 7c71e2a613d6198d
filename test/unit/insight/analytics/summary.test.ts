import t from 'tap'
import {
  buildUptimeWindows,
  computeUptimeByWindow,
  type WindowStatusTime,
} from '../../../../control-plane/insight/analytics/summary/summary.ts'

t.test('Windows end now, the longest first', async t => {
  t.same(buildUptimeWindows(new Date('2026-08-31T12:00:00Z')), [
    { name: '90d', since: new Date('2026-06-02T12:00:00Z') },
    { name: '30d', since: new Date('2026-08-01T12:00:00Z') },
    { name: '7d', since: new Date('2026-08-24T12:00:00Z') },
    { name: '24h', since: new Date('2026-08-30T12:00:00Z') },
  ])
})

t.test('Uptime is the good share of known time, cut to four decimals', async t => {
  const times: WindowStatusTime[] = [
    { window: '24h', status: 'up', seconds: 600 },
    { window: '24h', status: 'degraded', seconds: 200 },
    { window: '24h', status: 'down', seconds: 200 },
    { window: '7d', status: 'down', seconds: 1 },
    { window: '90d', status: 'up', seconds: 2 },
    { window: '90d', status: 'down', seconds: 1 },
  ]
  t.same(computeUptimeByWindow(times), { '24h': 80, '7d': 0, '30d': null, '90d': 66.6666 })
})
