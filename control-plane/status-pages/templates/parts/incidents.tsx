import { titled } from '../../../channels/wording.ts'
import { humanDuration } from '../../../events/duration.ts'
import type { IncidentView, UpdateView } from '../../types.ts'
import { INCIDENT_WORDS, SEVERITY_SIGNS, SEVERITY_WORDS } from '../../words.ts'
import type { Page } from '../page.ts'
import { Moment } from './moment.tsx'
import { Sign } from './signs.tsx'

/** Open incidents with all their public updates; nothing at all where none is open. */
export function OpenIncidents({ page: { view, voice } }: { page: Page }) {
  const { openIncidents } = view
  return (
    <div id="open" data-live>
      {openIncidents.length > 0 && (
        <section class="open" aria-labelledby="open-title">
          <h2 id="open-title">{voice.openIncidents}</h2>
          {openIncidents.map(incident => (
            <OpenIncident incident={incident} />
          ))}
        </section>
      )}
    </div>
  )
}

const OpenIncident = ({ incident }: { incident: IncidentView }) => (
  <article class={`incident ${SEVERITY_SIGNS[incident.severity]}`} id={`incident-${incident.id}`}>
    <h3 dir="auto">
      <Sign sign={SEVERITY_SIGNS[incident.severity]} />
      {incident.title}
    </h3>
    <p class="meta">
      {SEVERITY_WORDS[incident.severity]} · since <Moment at={incident.startedAt} />
      <Affected names={incident.componentNames} />
    </p>
    <Updates updates={incident.updates} />
  </article>
)

/** Resolved: what was said last in sight, the rest a click away. */
export const PastIncident = ({ incident }: { incident: IncidentView }) => (
  <article class="incident past" id={`incident-${incident.id}`}>
    <h4 dir="auto">{incident.title}</h4>
    <p class="meta">
      {SEVERITY_WORDS[incident.severity]}
      {incident.resolvedAt !== null && <> · resolved after {durationOf(incident)}</>}
      <Affected names={incident.componentNames} />
    </p>
    {incident.updates.length > 0 && <PastUpdates updates={incident.updates} />}
  </article>
)

function PastUpdates({ updates }: { updates: readonly UpdateView[] }) {
  const [last, ...earlier] = updates
  if (!last) return null
  return (
    <>
      <Updates updates={[last]} />
      {earlier.length > 0 && (
        <details class="earlier">
          <summary>
            {earlier.length} earlier {titled(earlier.length, 'update')}
          </summary>
          <Updates updates={earlier} />
        </details>
      )}
    </>
  )
}

export const Updates = ({ updates }: { updates: readonly UpdateView[] }) => (
  <ol class="updates">
    {updates.map(({ status, message, at }) => (
      <li>
        <b>{INCIDENT_WORDS[status]}</b> <Moment at={at} />
        <p class="text" dir="auto">
          {message}
        </p>
      </li>
    ))}
  </ol>
)

const Affected = ({ names }: { names: readonly string[] }) =>
  names.length === 0 ? null : (
    <>
      {' · '}
      <span dir="auto">{names.join(', ')}</span>
    </>
  )

function durationOf({ startedAt, resolvedAt }: IncidentView): string {
  return resolvedAt === null ? '' : humanDuration(Date.parse(resolvedAt) - Date.parse(startedAt))
}
