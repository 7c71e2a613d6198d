import { buildAddress, parsePage } from '../../../core/address.ts'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call, type OperationResponse, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { DeleteForm } from '../../../parts/forms/delete-form.tsx'
import { Pager } from '../../../parts/layout/pager.tsx'
import { Section } from '../../../parts/layout/section.tsx'
import { Loaded } from '../../../parts/layout/states.tsx'
import { Ago, Moment } from '../../../parts/moment.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { Status } from '../../../parts/status.tsx'
import { DependencySettings } from './dependency-settings.tsx'
import {
  type DependencyRecord,
  SEVERITY_NAMES,
  STATE_NAMES,
  toShownStatus,
  type VendorIncidentRecord,
} from './dependency-words.ts'
import { FeedSettings } from './feed-settings.tsx'

/** `/dependencies/:id` */
export const dependencyScreen = screen({
  path: '/dependencies/:id',
  area: 'monitors',
  record: 'dependency',
  queries: ({ params: { id = '' }, search }) => ({
    dependency: read('readDependency', { path: { id } }),
    incidents: read('listDependencyIncidents', { path: { id }, query: { per_page: 20, page: parsePage(search) } }),
    channels: read('listAlertChannels', { query: { per_page: 100 } }),
  }),
  title: ({ results }) => results.dependency.data!.data.name,
  Body: ({ results }) => {
    const { me, navigate } = useFrame()
    const dependency = results.dependency.data!.data
    const path = { id: dependency.id }
    return (
      <>
        <p class="trail">
          <a href="/dependencies">Dependencies</a>
        </p>
        <h1 dir="auto">{dependency.name}</h1>
        <Condition dependency={dependency} />
        <Section id="incidents" title="Incidents">
          <Loaded result={results.incidents} what="The incidents">
            {list => <Incidents dependency={dependency} list={list} />}
          </Loaded>
        </Section>
        <Section id="settings" title="Who is alerted">
          <NeedsRole what="Changing who is alerted" needed="editor" />
          <Loaded result={results.channels} what="The alert channels">
            {({ data }) => <DependencySettings key={dependency.id} dependency={dependency} channels={data} />}
          </Loaded>
        </Section>
        <Section id="feed" title="Feed">
          <FeedSettings key={dependency.id} dependency={dependency} />
        </Section>
        {canWrite(me) && (
          <Section id="delete" title="Delete">
            <DeleteForm
              what="dependency"
              name={dependency.name}
              consequences="Its incidents are deleted too, also as possible causes of your incidents. This cannot be undone."
              call={call('deleteDependency', { path })}
              onDone={() => navigate('/dependencies')}
            />
          </Section>
        )}
      </>
    )
  },
})

const Condition = ({ dependency }: { dependency: DependencyRecord }) => (
  <>
    <p class="figures-line">
      <Status status={toShownStatus(dependency.status)} />
      <VendorLink address={dependency.status_url} text={dependency.status_url} />
      <span class="soft">
        {dependency.last_checked_at ? (
          <>
            last read <Ago at={dependency.last_checked_at} />
          </>
        ) : (
          'not read yet'
        )}
      </span>
    </p>
    {dependency.last_error !== null && (
      <p class="degraded" dir="auto">
        The feed cannot be read: {dependency.last_error}. This does not mean that the vendor has an incident.
      </p>
    )}
  </>
)

function Incidents({
  dependency,
  list: { data, meta },
}: {
  dependency: DependencyRecord
  list: OperationResponse<'listDependencyIncidents'>
}) {
  if (meta.total === 0) return <p class="soft">The vendor has reported no incident since it is tracked.</p>
  return (
    <>
      <ul class="list">
        {data.map(incident => (
          <IncidentLine key={incident.id} incident={incident} />
        ))}
      </ul>
      <Pager
        meta={meta}
        what="incidents"
        buildPath={page => buildAddress(`/dependencies/${dependency.id}`, { page })}
      />
    </>
  )
}

const IncidentLine = ({ incident }: { incident: VendorIncidentRecord }) => {
  const isOpen = incident.resolved_at === null
  const tone = !isOpen || incident.severity === 'none' ? 'soft' : incident.severity === 'minor' ? 'degraded' : 'down'
  return (
    <li>
      <VendorLink address={incident.source_url} text={incident.title} />
      <p class="small">
        <span class={tone}>
          {SEVERITY_NAMES[incident.severity]}, {STATE_NAMES[incident.status].toLowerCase()}
        </span>{' '}
        <span class="soft">
          since <Moment at={incident.started_at} />
          {incident.resolved_at !== null && (
            <>
              {' '}
              until <Moment at={incident.resolved_at} />
            </>
          )}
          {incident.components.length > 0 && <bdi> · {incident.components.join(', ')}</bdi>}
        </span>
      </p>
    </li>
  )
}

/** A link to a page of the vendor; a text when the address is not one of the web. */
const VendorLink = ({ address, text }: { address: string; text: string }) =>
  /^https?:\/\//i.test(address) ? (
    <a href={address} rel="noreferrer" dir="auto">
      {text}
    </a>
  ) : (
    <bdi>{text}</bdi>
  )
