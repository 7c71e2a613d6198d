import t from 'tap'
import {
  computeDependencyStatus,
  type DependencyWithFeed,
} from '../../../../control-plane/integrations/vendors/dependencies/response.ts'
import { computeNextFetchAt } from '../../../../control-plane/integrations/vendors/feed-reading/fetch-interval.ts'
import type { VendorSeverity, VendorStatus } from '../../../../control-plane/integrations/vendors/feeds/report.ts'

type Row = [
  title: string,
  dependency: {
    severities?: VendorSeverity[]
    vendorStatus?: VendorStatus | null
    failures?: number
    components?: string[]
  },
  status: VendorStatus,
]
const ROWS: Row[] = [
  ['a vendor without trouble', {}, 'operational'],
  ['one whose feed has no word for all of it', { vendorStatus: 'unknown' }, 'operational'],
  ['one with a minor incident', { severities: ['minor', 'none'] }, 'degraded'],
  ['one with a major incident beside it', { severities: ['minor', 'major'] }, 'down'],
  ['one that says so of itself', { vendorStatus: 'degraded' }, 'degraded'],
  [
    'one that says so, but not of the components that count',
    { vendorStatus: 'down', components: ['API'] },
    'operational',
  ],
  ['one whose feed was never read', { vendorStatus: null }, 'unknown'],
  ['one whose feed failed twice', { failures: 2, severities: ['major'] }, 'down'],
  ['one whose feed failed three times', { failures: 3, severities: ['major'] }, 'unknown'],
]
for (const [title, dependency, status] of ROWS) {
  t.test(`${title} is ${status}`, async t => {
    const found = { severities: [], vendorStatus: 'operational', failures: 0, components: [], ...dependency }
    t.equal(computeDependencyStatus(found as unknown as DependencyWithFeed), status)
  })
}

t.test('a feed is read each minute, and one that fails later and later, a quarter of an hour at most', async t => {
  const from = new Date('2026-11-20T12:00:00.000Z')
  const seconds = (failures: number, intervalMs = 60_000) =>
    (computeNextFetchAt(failures, intervalMs, from, () => 0).getTime() - from.getTime()) / 1_000
  t.same(
    [0, 1, 2, 3, 4, 5, 6, 100].map(failures => seconds(failures)),
    [60, 60, 120, 240, 480, 900, 900, 900],
  )
  t.equal(seconds(3, 3_600_000), 3_600, 'never sooner than usual')
})
