import { formatDuration } from '../../core/format.ts'
import { useFrame } from '../../core/frame-context.ts'
import { Moment } from '../../parts/moment.tsx'
import {
  computeDurationMs,
  type Incident,
  type Members,
  namePerson,
  Severity,
  STATUS_NAMES,
} from './incident-words.tsx'

const MAX_MONITORS = 3

/** Incidents in rows. The whole title is the link. */
export const IncidentTable = ({ incidents, members }: { incidents: readonly Incident[]; members: Members }) => (
  <table class="rows incidents">
    <thead>
      <tr>
        <th scope="col">Severity</th>
        <th scope="col">Incident</th>
        <th scope="col">Monitors</th>
        <th scope="col">Started</th>
        <th scope="col" class="number">
          Duration
        </th>
        <th scope="col">Acknowledged</th>
      </tr>
    </thead>
    <tbody>
      {incidents.map(incident => (
        <IncidentRow key={incident.id} incident={incident} members={members} />
      ))}
    </tbody>
  </table>
)

function IncidentRow({ incident, members }: { incident: Incident; members: Members }) {
  const { nowMs } = useFrame()
  const isOpen = incident.status !== 'resolved'
  return (
    <tr data-id={incident.id}>
      <td class="nowrap">
        <Severity incident={incident} />
      </td>
      <td>
        <a class="row" href={`/incidents/${incident.id}`} dir="auto">
          {incident.title}
        </a>
        {isOpen && <span class="soft small">{STATUS_NAMES[incident.status]}</span>}
      </td>
      <td class="monitors">
        <MonitorNames monitors={incident.monitors} />
      </td>
      <td class="nowrap labelled" data-label="Started">
        <Moment at={incident.started_at} />
      </td>
      <td class="number labelled" data-label={isOpen ? 'Open for' : 'Lasted'}>
        {formatDuration(computeDurationMs(incident, nowMs))}
      </td>
      <td class={`labelled ${isOpen && incident.acknowledged_at === null ? 'down' : 'soft'}`} data-label="Acknowledged">
        <Acknowledged incident={incident} members={members} />
      </td>
    </tr>
  )
}

function MonitorNames({ monitors }: Pick<Incident, 'monitors'>) {
  if (monitors.length === 0) return <span class="soft">none</span>
  const more = monitors.length - MAX_MONITORS
  return (
    <>
      {monitors.slice(0, MAX_MONITORS).map(({ id, name }, i) => (
        <>
          {i > 0 && ', '}
          <a key={id} href={`/monitors/${id}`} dir="auto">
            {name}
          </a>
        </>
      ))}
      {more > 0 && ` and ${more} more`}
    </>
  )
}

function Acknowledged({ incident, members }: { incident: Incident; members: Members }) {
  const { me } = useFrame()
  const { acknowledged_at: at, acknowledged_by: userId, status } = incident
  if (at !== null) return <>by {namePerson(userId, me, members)}</>
  return <>{status === 'resolved' ? 'never' : 'not yet'}</>
}
