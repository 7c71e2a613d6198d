import { formatDuration } from '../../core/format.ts'
import { canWrite, toKeyShortcut, useFrame } from '../../core/frame-context.ts'
import { call, type OperationResponse } from '../../core/operations.ts'
import { AsCall } from '../../parts/calls/as-call.tsx'
import { OperationButton } from '../../parts/forms/operation-form.tsx'
import { Facts } from '../../parts/layout/section.tsx'
import { Moment } from '../../parts/moment.tsx'
import { NeedsRole } from '../../parts/needs-role.tsx'
import { getShownStatus, Status } from '../../parts/status.tsx'
import { computeDurationMs, type Members, namePerson, Severity, STATUS_NAMES } from './incident-words.tsx'

type Detail = OperationResponse<'readIncident'>['data']
type HeadProps = { incident: Detail; members: Members }

/** The title, the state with its duration, and the facts of an incident. */
export const IncidentHead = ({ incident, members }: HeadProps) => (
  <>
    <div class="screen-head">
      <div>
        <h1 dir="auto">{incident.title}</h1>
        <StateSentence incident={incident} members={members} />
      </div>
      <Actions incident={incident} />
    </div>
    <div class="because">
      <IncidentFacts incident={incident} />
    </div>
  </>
)

function StateSentence({ incident, members }: HeadProps) {
  const { me, nowMs } = useFrame()
  const { status, acknowledged_at: at, acknowledged_by: userId } = incident
  const isOpen = status !== 'resolved'
  const duration = formatDuration(computeDurationMs(incident, nowMs))
  return (
    <p class="sentence">
      <Severity incident={incident} />
      {isOpen ? `, ${STATUS_NAMES[status].toLowerCase()}, open for ${duration}` : `, resolved, lasted ${duration}`}
      {at !== null && (
        <>
          , acknowledged by {namePerson(userId, me, members)} after{' '}
          {formatDuration(Date.parse(at) - Date.parse(incident.started_at))}
        </>
      )}
      {at === null && isOpen && <span class="down">, not acknowledged</span>}.
    </p>
  )
}

function Actions({ incident: { id, status, acknowledged_at: at } }: { incident: Detail }) {
  const { me } = useFrame()
  if (!canWrite(me)) return <NeedsRole what="Acknowledging and changing the incident" needed="editor" />
  const isOpen = status !== 'resolved'
  const acknowledgement = call('acknowledgeIncident', { path: { id } })
  const resolution = call('updateIncident', { path: { id }, body: { status: 'resolved' } })
  return (
    <>
      <div class="actions incident-actions" id="acknowledge">
        {isOpen && at === null && (
          <OperationButton
            isMain
            action={`/incidents/${id}/acknowledge`}
            text="Acknowledge"
            shortcut={toKeyShortcut(me, 'a')}
            call={acknowledgement}
          />
        )}
        {isOpen && <OperationButton action={`/incidents/${id}/resolve`} text="Resolve" call={resolution} />}
        <a class="button" href={`/incidents/${id}/edit`} aria-keyshortcuts={toKeyShortcut(me, 'e')}>
          Edit
        </a>
      </div>
      {isOpen && <AsCall calls={{ ...(at === null && { acknowledged: acknowledgement }), resolved: resolution }} />}
    </>
  )
}

function PostmortemLink({ incident: { id, postmortem, postmortem_published_at: at } }: { incident: Detail }) {
  const { me } = useFrame()
  if (postmortem === null && !canWrite(me)) return <>None</>
  const state = at === null ? 'Draft' : 'Published'
  return <a href={`/incidents/${id}/postmortem`}>{postmortem === null ? 'Write one' : state}</a>
}

/** How many monitors are named. An incident may have 1,000. */
const MAX_MONITORS = 20

function IncidentFacts({ incident }: { incident: Detail }) {
  const {
    monitors,
    possible_causes: causes,
    caused_by_monitor_id: parentId,
    started_at: from,
    resolved_at: to,
  } = incident
  const more = monitors.length - MAX_MONITORS
  return (
    <Facts
      rows={[
        ['Started', <Moment at={from} />],
        ['Resolved', to && <Moment at={to} />],
        ['Opened', incident.source === 'automatic' ? 'automatically, by the status of the monitor' : 'by hand'],
        [
          monitors.length === 1 ? 'Monitor' : 'Monitors',
          monitors.length === 0 ? null : (
            <ul class="inline">
              {monitors.slice(0, MAX_MONITORS).map(({ id, name, status }) => (
                <li key={id}>
                  <a href={`/monitors/${id}`} dir="auto">
                    {name}
                  </a>{' '}
                  <Status status={getShownStatus({ status, is_paused: false })} />
                </li>
              ))}
              {more > 0 && <li class="soft">and {more} more</li>}
            </ul>
          ),
        ],
        ['Post-mortem', <PostmortemLink incident={incident} />],
        ['Likely cause', parentId && <a href={`/monitors/${parentId}`}>The outage of a parent monitor</a>],
        [
          'Possible causes',
          causes.length === 0 ? null : (
            <ul>
              {causes.map(({ dependency_id: id, name, title, source_url: url }) => (
                <li key={`${id} ${title}`}>
                  <span dir="auto">{name}</span>:{' '}
                  <a href={url} dir="auto" rel="noreferrer">
                    {title}
                  </a>
                </li>
              ))}
            </ul>
          ),
        ],
      ]}
    />
  )
}
