import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { formatCount, formatNumber } from '../../core/format.ts'
import { canWrite, useFrame } from '../../core/frame-context.ts'
import { type OperationError, read } from '../../core/operations.ts'
import { type Result, type ScreenLocation, screen } from '../../core/screen.ts'
import { AreaTabs } from '../../parts/layout/area-tabs.tsx'
import { Pager } from '../../parts/layout/pager.tsx'
import { useRowKeys } from '../../parts/layout/row-keys.ts'
import { Section } from '../../parts/layout/section.tsx'
import { Empty, Failure, Loaded } from '../../parts/layout/states.tsx'
import {
  buildListPath,
  type IncidentFilter,
  isFiltered,
  OPEN_STATUSES,
  parseFilter,
  toQueries,
} from './incident-filter.ts'
import { IncidentFilters } from './incident-filters.tsx'
import { IncidentTable } from './incident-table.tsx'
import type { Incident, Members } from './incident-words.tsx'

type List = { data: Incident[]; meta: { page: number; per_page: number; total: number; total_pages: number } }

/** All incidents: open ones first, then resolved ones page by page. */
export const incidentListScreen = screen({
  path: '/incidents',
  area: 'incidents',
  queries: location => {
    const { open, resolved } = toQueries(location.search)
    const monitorId = location.search.get('monitor_id')
    return {
      ...(open && { open: read('listIncidents', { query: open }) }),
      ...(resolved && { resolved: read('listIncidents', { query: resolved }) }),
      ...(monitorId && { monitor: read('readMonitor', { path: { id: monitorId } }) }),
      unacknowledged: read('listIncidents', { query: { status: OPEN_STATUSES, per_page: 100 } }),
      members: read('listMembers', { query: { per_page: 100 } }),
    }
  },
  title: () => 'Incidents',
  Body: ({ results: { open, resolved, monitor, unacknowledged, members }, ...location }) => {
    const filter = parseFilter(location.search)
    const list = { filter, location, members: members.data?.data ?? null }
    const { me } = useFrame()
    const isEmpty = [open, resolved].every(one => !one || one.data?.meta.total === 0)
    return (
      <>
        <div class="screen-head">
          <div>
            <h1>Incidents</h1>
            <Sentence incidents={unacknowledged.data?.data ?? null} total={unacknowledged.data?.meta.total ?? 0} />
            <Failure result={unacknowledged} what="The numbers of open incidents" />
          </div>
          {canWrite(me) && (
            <a class="button main" href="/incidents/new">
              Open an incident
            </a>
          )}
        </div>
        <AreaTabs area="incidents" current="/incidents" />
        <IncidentFilters filter={filter} monitorName={monitor?.data?.data.name ?? null} />
        {isEmpty ? (
          <NoIncidents filter={filter} />
        ) : (
          <KeyedRows incidents={open?.data?.data ?? []}>
            {open && <Part {...list} id="open" title="Open" result={open} />}
            {resolved && <Part {...list} id="resolved" title="Resolved" result={resolved} />}
          </KeyedRows>
        )}
      </>
    )
  },
})

/** What is open in the whole project, whatever the filters are. */
function Sentence({ incidents, total }: { incidents: Incident[] | null; total: number }) {
  if (incidents === null) return null
  if (total === 0) return <p class="sentence soft">No incident is open.</p>
  return (
    <p class="sentence">
      {formatCount(total, 'incident')} open, {describeAcknowledged(incidents, total)}.
    </p>
  )
}

/** How many open incidents are not acknowledged, among those that were read: the newest of `total`. */
export function describeAcknowledged(incidents: readonly Pick<Incident, 'acknowledged_at'>[], total: number): string {
  const waiting = incidents.filter(({ acknowledged_at: at }) => at === null).length
  if (total <= incidents.length) return waiting > 0 ? `${waiting} not acknowledged` : 'all acknowledged'
  return `${waiting} of the newest ${incidents.length} not acknowledged`
}

/** The rows with their keys. `incidents`: those that can be acknowledged by `a`. */
function KeyedRows({ incidents, children }: { incidents: readonly Incident[]; children: ComponentChildren }) {
  const { me, execute } = useFrame()
  const [last, setLast] = useState<{ title: string; error: OperationError | null } | null>(null)
  const sent = useRef(new Set<string>()).current
  const acknowledge = async (row: HTMLElement | null) => {
    const incident = incidents.find(({ id }) => id === row?.dataset.id)
    if (!incident || incident.acknowledged_at !== null || sent.has(incident.id)) return
    const { id, title } = incident
    sent.add(id)
    const outcome = await execute('acknowledgeIncident', { path: { id } })
    sent.delete(id)
    setLast({ title, error: 'error' in outcome ? outcome.error : null })
  }
  const list = useRowKeys(canWrite(me) ? { a: row => void acknowledge(row) } : {})
  return (
    <div ref={list}>
      <p class="hidden" role="status">
        {last && !last.error && `${last.title} is acknowledged.`}
      </p>
      {last?.error && (
        <p class="wrong" role="alert">
          <bdi>{last.title}</bdi> was not acknowledged: {last.error.message}.
        </p>
      )}
      {children}
    </div>
  )
}

type PartProps = {
  id: 'open' | 'resolved'
  title: string
  result: Result<List>
  filter: IncidentFilter
  location: ScreenLocation
  members: Members
}

function Part({ id, title, result, filter, members }: PartProps) {
  // with both parts on the page, a part without incidents is left out
  if (result.data?.meta.total === 0 && result.error === null && filter.status === null) return null
  const count = result.data && <span class="soft">{formatNumber(result.data.meta.total)}</span>
  return (
    <Section id={id} title={title} aside={count}>
      <Loaded result={result} what={`${title} incidents`}>
        {({ data, meta }) => (
          <>
            <IncidentTable incidents={data} members={members} />
            <More id={id} meta={meta} filter={filter} />
          </>
        )}
      </Loaded>
    </Section>
  )
}

/** The pages of a part. Open incidents have pages only when nothing else is listed. */
function More({ id, meta, filter }: Pick<PartProps, 'id' | 'filter'> & { meta: List['meta'] }) {
  if (id === 'open' && filter.status === null) {
    const left = meta.total - meta.per_page
    return left > 0 ? (
      <p class="pager">
        <a href={buildListPath({ ...filter, status: 'open' }, 2)}>{formatNumber(left)} more open incidents</a>
      </p>
    ) : null
  }
  return <Pager meta={meta} what="incidents" buildPath={page => buildListPath(filter, page)} />
}

const NoIncidents = ({ filter }: { filter: IncidentFilter }) =>
  isFiltered(filter) ? (
    <Empty text="No incident matches these filters.">
      <a href="/incidents">Show all incidents</a>
    </Empty>
  ) : (
    <Empty text="There has been no incident. When a monitor goes down, its incident appears here.">
      <a href="/monitors">Monitors</a>
    </Empty>
  )
