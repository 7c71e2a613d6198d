import { pluralize } from '../../../../alerting/channels/notices/wording.ts'
import { formatDuration } from '../../../../alerting/events/duration.ts'
import type { IncidentView, UpdateView } from '../../../core/types.ts'
import { formatComponentNames, INCIDENT_LABELS, SEVERITY_LABELS, SEVERITY_LETTERS } from '../../labels.ts'
import type { TemplatePage } from '../../template.ts'
import { Moment } from '../moment.tsx'
import { StatusIcon } from '../status-icons.tsx'

/** Open incidents with all their public updates; nothing when none is open. */
export function OpenIncidents({ page: { view, voice } }: { page: TemplatePage }) {
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
  <article class={`incident ${SEVERITY_LETTERS[incident.severity]}`} id={`incident-${incident.id}`}>
    <h3 dir="auto">
      <StatusIcon sign={SEVERITY_LETTERS[incident.severity]} />
      {incident.title}
    </h3>
    <p class="meta">
      {SEVERITY_LABELS[incident.severity]} · since <Moment at={incident.startedAt} />
      <Affected incident={incident} />
    </p>
    <Updates updates={incident.updates} />
  </article>
)

/** A resolved incident: the last update is visible, the others can be expanded. */
export const PastIncident = ({ incident }: { incident: IncidentView }) => (
  <article class="incident past" id={`incident-${incident.id}`}>
    <h4 dir="auto">{incident.title}</h4>
    <p class="meta">
      {SEVERITY_LABELS[incident.severity]}
      {incident.resolvedAt !== null && <> · resolved after {formatIncidentDuration(incident)}</>}
      <Affected incident={incident} />
    </p>
    {incident.updates.length > 0 && <PastUpdates updates={incident.updates} />}
    {incident.postmortem !== null && <Postmortem {...incident.postmortem} />}
  </article>
)

const Postmortem = ({ text, publishedAt }: NonNullable<IncidentView['postmortem']>) => (
  <details class="earlier">
    <summary>Post-mortem</summary>
    <p class="meta">
      <Moment at={publishedAt} />
    </p>
    <p class="text" dir="auto">
      {text}
    </p>
  </details>
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
            {earlier.length} earlier {pluralize(earlier.length, 'update')}
          </summary>
          <Updates updates={earlier} />
        </details>
      )}
    </>
  )
}

const Updates = ({ updates }: { updates: readonly UpdateView[] }) => (
  <ol class="updates">
    {updates.map(({ status, message, at }) => (
      <li>
        <b>{INCIDENT_LABELS[status]}</b> <Moment at={at} />
        <p class="text" dir="auto">
          {message}
        </p>
      </li>
    ))}
  </ol>
)

const Affected = ({ incident }: { incident: IncidentView }) =>
  incident.componentNames.length === 0 ? null : (
    <>
      {' · '}
      <span dir="auto">{formatComponentNames(incident)}</span>
    </>
  )

function formatIncidentDuration({ startedAt, resolvedAt }: IncidentView): string {
  return resolvedAt === null ? '' : formatDuration(Date.parse(resolvedAt) - Date.parse(startedAt))
}
