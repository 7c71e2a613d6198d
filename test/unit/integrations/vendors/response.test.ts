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
  ['A vendor without incidents', {}, 'operational'],
  ['A vendor whose feed has no overall status', { vendorStatus: 'unknown' }, 'operational'],
  ['A vendor with a minor incident', { severities: ['minor', 'none'] }, 'degraded'],
  ['A vendor with a minor and a major incident', { severities: ['minor', 'major'] }, 'down'],
  ['A vendor with an overall status of degraded', { vendorStatus: 'degraded' }, 'degraded'],
  [
    'A vendor that is down while the named components are not',
    { vendorStatus: 'down', components: ['API'] },
    'operational',
  ],
  ['A vendor whose feed was never read', { vendorStatus: null }, 'unknown'],
  ['A vendor with two failed reads', { failures: 2, severities: ['major'] }, 'down'],
  ['A vendor with three failed reads', { failures: 3, severities: ['major'] }, 'unknown'],
]
for (const [title, dependency, status] of ROWS) {
  t.test(`${title} is ${status}`, async t => {
    const found = { severities: [], vendorStatus: 'operational', failures: 0, components: [], ...dependency }
    t.equal(computeDependencyStatus(found as unknown as DependencyWithFeed), status)
  })
}

t.test('The interval of a failing feed doubles, up to 15 minutes', async t => {
  const from = new Date('2026-11-20T12:00:00.000Z')
  const seconds = (failures: number, intervalMs = 60_000) =>
    (computeNextFetchAt(failures, intervalMs, from, () => 0).getTime() - from.getTime()) / 1_000
  t.same(
    [0, 1, 2, 3, 4, 5, 6, 100].map(failures => seconds(failures)),
    [60, 60, 120, 240, 480, 900, 900, 900],
  )
  t.equal(seconds(3, 3_600_000), 3_600, 'never below the interval')
})
