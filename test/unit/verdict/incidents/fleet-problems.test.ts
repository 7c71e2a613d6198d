import t from 'tap'
import {
  findRegionProblems,
  type RegionHealth,
} from '../../../../control-plane/verdict/incidents/operator-incidents/fleet-problems.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1_000)

const seen = (change: Partial<RegionHealth>): RegionHealth => ({
  region: 'eu-west',
  monitors: 3,
  liveProbes: 0,
  drainedProbes: 0,
  noLiveProbeSince: ago(61),
  lastHeartbeatAt: ago(70),
  readAt: NOW,
  ...change,
})

const LONG_MS = 3_600_000

t.test('a region has a problem after 60 s without a live probe, and recovers with one', async t => {
  const rows: [string, Partial<RegionHealth>, number, 'trouble' | 'well' | 'neither'][] = [
    ['61 s without one', {}, LONG_MS, 'trouble'],
    ['59 s without one', { noLiveProbeSince: ago(59) }, LONG_MS, 'neither'],
    ['a live probe', { liveProbes: 1, noLiveProbeSince: null }, LONG_MS, 'well'],
    ['not observed for long enough', {}, 59_000, 'neither'],
    ['no monitor, a probe an hour ago', { monitors: 0, lastHeartbeatAt: ago(3_600) }, LONG_MS, 'trouble'],
    ['no monitor, a probe two days ago', { monitors: 0, lastHeartbeatAt: ago(2 * 86_400) }, LONG_MS, 'well'],
    ['no monitor, never a probe', { monitors: 0, lastHeartbeatAt: null, noLiveProbeSince: null }, LONG_MS, 'well'],
    ['monitors in the region, never a probe', { lastHeartbeatAt: null }, LONG_MS, 'trouble'],
    [
      'monitors since a moment ago, never a probe',
      { lastHeartbeatAt: null, noLiveProbeSince: ago(1) },
      LONG_MS,
      'neither',
    ],
  ]
  for (const [what, change, watchedMs, expected] of rows) {
    const { problems, recoveries } = findRegionProblems([seen(change)], watchedMs)
    t.equal(problems.length > 0 ? 'trouble' : recoveries.length > 0 ? 'well' : 'neither', expected, what)
  }
})

t.test('the problem contains the region, its start and the number of monitors', async t => {
  t.match(findRegionProblems([seen({})], LONG_MS).problems, [
    {
      subject: 'region:eu-west',
      title: 'Region eu-west has no live probe',
      severity: 'critical',
      message: /3 monitors use the region/,
      startedAt: ago(61),
    },
  ])
})
