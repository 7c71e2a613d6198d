import { formatPercent } from '../../core/format.ts'
import { canWrite, useFrame } from '../../core/frame-context.ts'
import { read } from '../../core/operations.ts'
import { screen } from '../../core/screen.ts'
import { readRange } from '../../core/time-range.ts'
import { DayBars } from '../../parts/charts/day-bars.tsx'
import { useLazyPart } from '../../parts/layout/lazy-part.tsx'
import { Section } from '../../parts/layout/section.tsx'
import { Failure, Loaded, Unread } from '../../parts/layout/states.tsx'
import { NeedsRole } from '../../parts/needs-role.tsx'
import { buildLatencyQuery, ChartsSection } from './charts-section.tsx'
import { buildCheckReads, CheckDrawer } from './checks/check-drawer.tsx'
import { ChecksSection } from './checks/checks-section.tsx'
import { AudienceSection, ConfigurationSection } from './configuration-section.tsx'
import { MonitorControls } from './monitor-controls.tsx'
import { MonitorHead } from './monitor-head.tsx'
import { hasMoreEntries, toChangeMarks } from './setting-changes.ts'
import { TransitionsSection } from './transitions-section.tsx'
import { VotesSection } from './votes-section.tsx'

const loadHeartbeat = async () => (await import('./checks/heartbeats/heartbeat-sections.tsx')).HeartbeatSections

/** `/monitors/:id`, to which alerts lead: what is the case now, why, and what was before. */
export const monitorScreen = screen({
  path: '/monitors/:id',
  area: 'monitors',
  record: 'monitor',
  queries: ({ params, search }, nowMs) => {
    const id = params.id!
    const range = readRange(search, nowMs)
    const { heatStep } = range
    const [from, to] = [new Date(range.fromMs).toISOString(), new Date(range.toMs).toISOString()]
    const isOwnRange = range.name === null
    return {
      monitor: read('readMonitor', { path: { id } }),
      votes: read('listMonitorVotes', { path: { id } }),
      transitions: read('listMonitorTransitions', { path: { id }, query: { per_page: 10 } }),
      checks: read('listMonitorChecks', {
        path: { id },
        query: { ...toChecksQuery(search), ...(isOwnRange && { from, to }) },
      }),
      // the runs of a heartbeat are its newest pings, whichever checks are listed
      ...((isOwnRange || isFiltered(search)) && {
        newestChecks: read('listMonitorChecks', { path: { id }, query: { per_page: PER_PAGE } }),
      }),
      strips: read('listAnalyticsStrips', { query: { monitor_ids: id } }),
      latency: read('readAnalyticsLatency', { query: { ...buildLatencyQuery(id, range), phases: true } }),
      heatmap: read('readAnalyticsHeatmap', { query: { monitor_id: id, from, to, step: heatStep } }),
      uptime: read('readAnalyticsUptime', { query: { monitor_id: id, from, ...(isOwnRange && { to }) } }),
      changes: read('listAuditLog', { query: { monitor_id: id, per_page: 100, from: toDaysStart(nowMs) } }),
      incidents: read('listIncidents', { query: { monitor_id: id, per_page: 5 } }),
      rules: read('listAlertRules', { query: { monitor_id: id, per_page: 100 } }),
      channels: read('listAlertChannels', { query: { per_page: 100 } }),
      guarantee: read('readMonitorGuarantee', { path: { id } }),
      ...buildCheckReads(id, search),
    }
  },
  title: ({ results }) => results.monitor.data!.data.name,
  Body: ({ params, search, results }) => {
    const { me } = useFrame()
    const monitor = results.monitor.data!.data
    const changes = toChangeMarks(results.changes.data, results.rules.data, results.channels.data)
    const Heartbeat = useLazyPart(loadHeartbeat, monitor.type === 'heartbeat')
    return (
      <>
        <MonitorHead monitor={monitor} transitions={results.transitions} />
        <Unread since={results.votes.data?.data.unread_since} />
        {canWrite(me) ? (
          <MonitorControls monitor={monitor} />
        ) : (
          <NeedsRole what="Checking, pausing and changing the monitor" needed="editor" />
        )}
        <VotesSection result={results.votes} isHeartbeat={monitor.type === 'heartbeat'} />
        {Heartbeat && <Heartbeat monitor={monitor} checks={results.newestChecks ?? results.checks} />}
        <Section id="days" title="90 days" aside={<Uptime result={results.strips} />}>
          <Loaded result={results.strips} what="The days">
            {({ data: [strip], meta }) =>
              strip && <DayBars days={strip.days} from={meta.days_from} changes={changes} />
            }
          </Loaded>
          {hasMoreEntries(results.changes.data) && (
            <p class="small soft">
              Only the newest {results.changes.data!.data.length} changes are marked, here and in the charts.
            </p>
          )}
          {/* people without the role admin have no such marks */}
          {results.changes.error?.status !== 403 && (
            <Failure result={results.changes} what="The marks of changed settings" />
          )}
        </Section>
        {monitor.type !== 'heartbeat' && (
          <ChartsSection
            id={params.id!}
            search={search}
            results={results}
            regions={monitor.regions}
            changes={changes}
          />
        )}
        <TransitionsSection result={results.transitions} incidents={results.incidents} />
        <ChecksSection id={params.id!} search={search} result={results.checks} regions={monitor.regions} />
        <div class="columns">
          <AudienceSection monitor={monitor} rules={results.rules} channels={results.channels} />
          <ConfigurationSection monitor={monitor} guarantee={results.guarantee} />
        </div>
        {search.get('check') && (
          <CheckDrawer
            key={search.get('check')}
            monitor={monitor}
            search={search}
            result={results.check ?? results.checks}
            screenshots={results.screenshots}
          />
        )}
      </>
    )
  },
})

const DAY_MS = 86_400_000

/** The start of the first of 90 days. */
const toDaysStart = (nowMs: number): string => new Date((Math.floor(nowMs / DAY_MS) - 90) * DAY_MS).toISOString()

const PER_PAGE = 20
const CHECK_STATUSES = ['up', 'degraded', 'down', 'unknown', 'missed']

/** The filters of the list of checks, from the address. */
function toChecksQuery(search: URLSearchParams) {
  const [region, status, page] = ['region', 'status', 'page'].map(name => search.get(name) ?? '')
  return {
    per_page: PER_PAGE,
    ...(region && { region }),
    ...(status && CHECK_STATUSES.includes(status) && { status }),
    ...(/^[1-9]\d{0,5}$/.test(page ?? '') && { page: Number(page) }),
  }
}

const isFiltered = (search: URLSearchParams): boolean => Object.keys(toChecksQuery(search)).length > 1

const Uptime = ({ result }: { result: { data: { data: { uptime_24h: number | null }[] } | null } }) => {
  const uptime = result.data?.data[0]?.uptime_24h
  return uptime === null || uptime === undefined ? null : <span class="soft">{formatPercent(uptime)} in 24 hours</span>
}
