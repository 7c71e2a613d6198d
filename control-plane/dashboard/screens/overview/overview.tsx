import type { BoardCounts } from '../../core/board/board-row.ts'
import { formatCount, formatNumber, formatPercent } from '../../core/format.ts'
import { canWrite, useFrame } from '../../core/frame-context.ts'
import { type OperationResponse, read } from '../../core/operations.ts'
import { type Result, screen } from '../../core/screen.ts'
import { Section } from '../../parts/layout/section.tsx'
import { Empty, Failure, Loaded } from '../../parts/layout/states.tsx'
import { Ago, Moment } from '../../parts/moment.tsx'
import { OPEN_STATUSES } from '../incidents/incident-filter.ts'
import { SilencesInForce } from '../suppression/silences/silences-in-force.tsx'
import { Attention } from './attention.tsx'
import { FirstMinute } from './first-minute.tsx'
import { NotUp } from './not-up.tsx'
import { ExpirySoon, MaintenanceSoon, RecentChanges } from './recent.tsx'

/** Enough to see what they have in common. */
const MAX_ROWS = 200
const MAX_INCIDENTS = 6
const MAX_CHANGES = 8
/** Monitors whose certificate or domain ends first. Those that have ended stay among them. */
const MAX_ENDS = 50

/** `/`: what is broken now, what is open, what changed, and what needs attention. */
export const overviewScreen = screen({
  path: '/',
  area: 'overview',
  queries: () => ({
    summary: read('readAnalyticsSummary', {}),
    openIncidents: read('listIncidents', { query: { status: OPEN_STATUSES, per_page: MAX_INCIDENTS } }),
    incidents: read('listIncidents', { query: { per_page: 10 } }),
    channels: read('listAlertChannels', { query: { per_page: 100 } }),
    undelivered: read('listAlertLog', { query: { status: 'failed,dead', per_page: 5 } }),
    silences: read('listSilences', { query: { active: true, per_page: 5 } }),
    addresses: read('listMonitors', { query: { status: 'down,degraded', per_page: 100 } }),
    changed: read('listMonitors', { query: { sort: 'changed', per_page: MAX_CHANGES } }),
    expiring: read('listMonitors', { query: { sort: 'expires', paused: false, per_page: MAX_ENDS } }),
    maintenance: read('listMaintenanceWindows', { query: { per_page: 100 } }),
    regions: read('listRegions', {}),
    dependencies: read('listDependencies', { query: { per_page: 100 } }),
  }),
  board: () => ({ text: '-is:up -is:paused', limit: MAX_ROWS, parents: true }),
  title: ({ board }) => (board.data ? formatSentence(board.data.counts) : 'Overview'),
  Body: ({ results, board }) => {
    const { me } = useFrame()
    return (
      <>
        {board.data === null && <h1>Overview</h1>}
        <Loaded result={board} what="The monitors">
          {({ counts, total }) => (
            <div class="screen-head">
              <h1>{total === 0 ? 'Nothing is monitored yet' : formatSentence(counts)}</h1>
              {canWrite(me) && (
                <a class="button main" href="/monitors/new">
                  New monitor
                </a>
              )}
            </div>
          )}
        </Loaded>
        <Figures result={results.summary} />
        {board.data?.total === 0 && <FirstMinute />}
        <Attention {...results} board={board} />
        <NotUp result={board} addresses={results.addresses} dependencies={results.dependencies} />
        <SilencesInForce result={results.silences} />
        <MaintenanceSoon result={results.maintenance} />
        <ExpirySoon result={results.expiring} />
        <Incidents open={results.openIncidents} recent={results.incidents} />
        {board.data?.total !== 0 && <RecentChanges result={results.changed} />}
      </>
    )
  },
})

/** `3 down, 1 degraded, 9,996 quiet` */
function formatSentence({ down, degraded, unknown, up, paused }: BoardCounts): string {
  if (down + degraded + unknown === 0 && up > 0) {
    const all = up === 1 ? 'The monitor is up' : `All ${formatNumber(up)} monitors are up`
    return paused > 0 ? `${all}, ${formatNumber(paused)} paused` : all
  }
  const parts = [
    down > 0 && `${formatNumber(down)} down`,
    degraded > 0 && `${formatNumber(degraded)} degraded`,
    unknown > 0 && `${formatNumber(unknown)} unknown`,
    up > 0 && `${formatNumber(up)} up`,
    paused > 0 && `${formatNumber(paused)} paused`,
  ]
  return parts.filter(Boolean).join(', ')
}

/** The last 24 hours and 30 days in four figures. */
const Figures = ({ result }: { result: Result<OperationResponse<'readAnalyticsSummary'>> }) => (
  <Loaded result={result} what="The figures">
    {({ data: { uptime, checks_24h: checks, incidents } }) => {
      const [day, month] = [uptime['24h'], uptime['30d']]
      return (
        <p class="figures-line soft">
          {day !== null && <span>Uptime {formatPercent(day)} in 24 hours</span>}
          {month !== null && <span>{formatPercent(month)} in 30 days</span>}
          {checks !== null && <span>{formatCount(checks, 'check')} in 24 hours</span>}
          <span>{formatCount(incidents.resolved_24h, 'incident')} resolved in 24 hours</span>
        </p>
      )
    }}
  </Loaded>
)

type Incidents = OperationResponse<'listIncidents'>

/** Open incidents first, then the last ones that are resolved. */
const Incidents = ({ open, recent }: { open: Result<Incidents>; recent: Result<Incidents> }) => (
  <Section id="incidents" title="Incidents" aside={<a href="/incidents">All incidents</a>}>
    <Failure result={open} what="The open incidents" />
    <Loaded result={recent} what="The incidents">
      {({ data }) => <IncidentList open={open.data} recent={data} />}
    </Loaded>
  </Section>
)

function IncidentList({ open, recent }: { open: Incidents | null; recent: Incidents['data'] }) {
  const openOnes = (open?.data ?? recent).filter(({ resolved_at }) => resolved_at === null)
  const resolved = recent.filter(({ resolved_at }) => resolved_at !== null)
  const more = (open?.meta.total ?? 0) - MAX_INCIDENTS
  if (recent.length === 0) return <Empty text="There was no incident yet." />
  return (
    <ul class="list">
      {[...openOnes, ...resolved].slice(0, MAX_INCIDENTS).map(incident => (
        <li key={incident.id}>
          <a class={incident.resolved_at === null ? 'open-incident' : ''} href={`/incidents/${incident.id}`} dir="auto">
            {incident.title}
          </a>{' '}
          <span class="soft">
            {incident.resolved_at === null ? incident.status : 'resolved'} · began <Moment at={incident.started_at} /> (
            <Ago at={incident.started_at} />)
            {incident.resolved_at === null && incident.acknowledged_at === null && ' · not acknowledged'}
          </span>
        </li>
      ))}
      {more > 0 && (
        <li>
          <a href="/incidents?status=open">{formatCount(more, 'more open incident')}</a>
        </li>
      )}
    </ul>
  )
}
