import type { DisplayStatus, OverallStatus, PageView } from '../../core/types.ts'
import type { PageIncident } from './page-data.ts'

type Overall = PageView['overall']

const FROM_BEST: readonly OverallStatus[] = [
  'operational',
  'unknown',
  'maintenance',
  'degraded',
  'partial_outage',
  'outage',
]

/**
 * The sentence at the top of a page: the worst of its components and its open manual incidents. Unknown components are
 * left out while any status is known, but all systems are down only when all are known (docs/design/status-pages.md#overall-status).
 */
export function computeOverallStatus(
  components: readonly DisplayStatus[],
  open: readonly Pick<PageIncident, 'source' | 'severity'>[],
): Overall {
  const manual = open.filter(({ source }) => source === 'manual').map(({ severity }) => STATUS_BY_SEVERITY[severity])
  return [summarizeComponents(components), ...manual].reduce((worst, next) =>
    getRank(next) > getRank(worst) ? next : worst,
  )
}

const getRank = ({ status }: Overall) => FROM_BEST.indexOf(status)

/** The status of a page with an open manual incident. */
const STATUS_BY_SEVERITY: Record<PageIncident['severity'], Overall> = {
  minor: { status: 'degraded', sentence: 'There is a minor incident' },
  major: { status: 'partial_outage', sentence: 'There is a major incident' },
  critical: { status: 'outage', sentence: 'There is a critical incident' },
}

function summarizeComponents(components: readonly DisplayStatus[]): Overall {
  const known = components.filter(status => status !== 'unknown')
  const has = (status: (typeof known)[number]) => known.includes(status)
  if (known.length === 0) return { status: 'unknown', sentence: 'The status is unknown' }
  if (components.every(status => status === 'outage')) return { status: 'outage', sentence: 'All systems are down' }
  if (has('outage')) return { status: 'partial_outage', sentence: 'Some systems are down' }
  if (has('degraded')) return { status: 'degraded', sentence: 'Some systems are degraded' }
  if (has('maintenance')) return { status: 'maintenance', sentence: 'Maintenance is under way' }
  const isWhole = known.length === components.length
  return {
    status: 'operational',
    sentence: isWhole ? 'All systems are operational' : 'All monitored systems are operational',
  }
}
