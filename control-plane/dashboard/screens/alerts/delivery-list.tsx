import { EVENT_NAMES } from '../../../alerting/events/catalog.ts'
import { DIGEST_EVENT } from '../../../alerting/events/digest.ts'
import { buildAddress, parsePage } from '../../core/address.ts'
import { read } from '../../core/operations.ts'
import { screen } from '../../core/screen.ts'
import { FilterChoice, FilterForm } from '../../parts/forms/filter-form.tsx'
import { AreaTabs } from '../../parts/layout/area-tabs.tsx'
import { Pager } from '../../parts/layout/pager.tsx'
import { Empty, Loaded } from '../../parts/layout/states.tsx'
import { ChannelChoice } from './channel-choice.tsx'
import { DeliveryTable } from './delivery-table.tsx'
import { type Channel, nameEvent, STATUS_NAMES } from './delivery-words.tsx'

const NAMES = ['status', 'event', 'alert_channel_id', 'incident_id', 'monitor_id'] as const
type Filter = Partial<Record<(typeof NAMES)[number], string>>

const parseFilter = (search: URLSearchParams): Filter =>
  Object.fromEntries(NAMES.flatMap(name => (search.get(name) ? [[name, search.get(name)]] : [])))

const buildLogPath = (filter: Filter, page = 1) => buildAddress('/log', { ...filter, page: page === 1 ? null : page })

/** The alert log: every delivery to a channel, newest first. */
export const deliveryListScreen = screen({
  path: '/log',
  area: 'alerts',
  queries: ({ search }) => {
    const filter = parseFilter(search)
    return {
      log: read('listAlertLog', { query: { ...filter, page: parsePage(search) } }),
      channels: read('listAlertChannels', { query: { per_page: 100 } }),
      ...(filter.incident_id && { incident: read('readIncident', { path: { id: filter.incident_id } }) }),
      ...(filter.monitor_id && { monitor: read('readMonitor', { path: { id: filter.monitor_id } }) }),
    }
  },
  title: () => 'Deliveries',
  Body: ({ results: { log, channels, incident, monitor }, search }) => {
    const filter = parseFilter(search)
    const known = channels.data?.data ?? null
    const names = { incident: incident?.data?.data.title ?? null, monitor: monitor?.data?.data.name ?? null }
    return (
      <>
        <h1>Deliveries</h1>
        <AreaTabs area="alerts" current="/log" />
        <Filters filter={filter} channels={known} names={names} />
        <Loaded result={log} what="The deliveries">
          {({ data, meta }) =>
            meta.total === 0 ? (
              <NoDeliveries isFiltered={Object.keys(filter).length > 0} />
            ) : (
              <>
                <DeliveryTable deliveries={data} channels={known} />
                <Pager meta={meta} what="deliveries" buildPath={page => buildLogPath(filter, page)} />
              </>
            )
          }
        </Loaded>
      </>
    )
  },
})

type FiltersProps = {
  filter: Filter
  channels: readonly Channel[] | null
  names: { incident: string | null; monitor: string | null }
}

function Filters({ filter, channels, names }: FiltersProps) {
  return (
    <FilterForm filter={buildLogPath(filter)} path="/log" what="deliveries" isFiltered={Object.keys(filter).length > 0}>
      <FilterChoice
        name="status"
        label="Status"
        all="Any status"
        value={filter.status ?? null}
        options={Object.entries(STATUS_NAMES)}
      />
      <ChannelChoice channels={channels} value={filter.alert_channel_id ?? null} />
      <FilterChoice
        name="event"
        label="Event"
        all="Any event"
        value={filter.event ?? null}
        options={[...EVENT_NAMES, DIGEST_EVENT].map(event => [event, nameEvent(event)] as const)}
      />
      <KeptFilter filter={filter} name="incident_id" what="Incident" text={names.incident} />
      <KeptFilter filter={filter} name="monitor_id" what="Monitor" text={names.monitor} />
    </FilterForm>
  )
}

type KeptProps = { filter: Filter; name: 'incident_id' | 'monitor_id'; what: string; text: string | null }

/** A filter that links set. It can be removed, but not chosen. */
function KeptFilter({ filter, name, what, text }: KeptProps) {
  const id = filter[name]
  if (!id) return null
  return (
    <span class="tag">
      <input type="hidden" name={name} value={id} />
      {what} <span dir="auto">{text ?? id}</span>{' '}
      <a
        href={buildLogPath({ ...filter, [name]: undefined })}
        aria-label={`Remove the filter by ${what.toLowerCase()}`}
      >
        ✕
      </a>
    </span>
  )
}

const NoDeliveries = ({ isFiltered }: { isFiltered: boolean }) =>
  isFiltered ? (
    <Empty text="No delivery matches these filters.">
      <a href="/log">Show all deliveries</a>
    </Empty>
  ) : (
    <Empty text="Nothing was sent yet. Deliveries appear here when a monitor with an alert channel changes its status.">
      <a href="/settings/channels">Channels</a>
    </Empty>
  )
