import { formatCount } from '../../core/format.ts'
import { canWrite, useFrame } from '../../core/frame-context.ts'
import { read } from '../../core/operations.ts'
import { screen } from '../../core/screen.ts'
import { Section } from '../../parts/layout/section.tsx'
import { Loaded } from '../../parts/layout/states.tsx'
import type { Timeline } from './axis/axis.ts'
import { AxisList } from './axis/axis-list.tsx'
import { EvidencePair } from './axis/evidence.tsx'
import { IncidentHead } from './incident-head.tsx'
import { UpdateForm } from './update-form.tsx'

/** One incident: its state, what happened on one axis of time, and what can be done. Alerts link here. */
export const incidentScreen = screen({
  path: '/incidents/:id',
  area: 'incidents',
  queries: ({ params: { id = '' } }) => ({
    incident: read('readIncident', { path: { id } }),
    timeline: read('readIncidentTimeline', { path: { id } }),
    members: read('listMembers', { query: { per_page: 100 } }),
  }),
  record: 'incident',
  title: ({ results }) => results.incident.data!.data.title,
  Body: ({ results }) => {
    const incident = results.incident.data!.data
    const members = results.members.data?.data ?? null
    const { me } = useFrame()
    return (
      <>
        <p class="trail">
          <a href="/incidents">Incidents</a>
        </p>
        <IncidentHead incident={incident} members={members} />
        <Section
          id="axis"
          title="What happened"
          aside={<a href={`/log?incident_id=${incident.id}`}>All deliveries of this incident</a>}
        >
          <Loaded result={results.timeline} what="The events">
            {({ data }) => (
              <>
                <AxisList timeline={data} incident={incident} members={members} />
                <Gaps timeline={data} />
              </>
            )}
          </Loaded>
        </Section>
        {results.timeline.data?.data.evidence && (
          <Section id="evidence" title="Evidence">
            <EvidencePair evidence={results.timeline.data.data.evidence} />
          </Section>
        )}
        {canWrite(me) && (
          <Section id="update" title="Add an update">
            <UpdateForm key={incident.id} incident={incident} timeline={results.timeline.data?.data ?? null} />
          </Section>
        )}
      </>
    )
  },
})

const PLURALS: Partial<Record<Timeline['counts'][number]['kind'], string>> = {
  check: 'check',
  transition: 'change of a status',
  delivery: 'delivery',
  withheld_alert: 'withheld alert',
  incident_updated: 'update',
}

/** What the axis does not contain, and why. Changes of the settings are for admins, which needs no word here. */
function Gaps({
  timeline: { omitted, counts, monitors_truncated: isTruncated, monitor_ids: ids },
}: {
  timeline: Timeline
}) {
  const notes = [
    ...omitted
      .filter(({ reason }) => reason === 'unavailable')
      .map(() => 'Checks are not shown: the history cannot be read at the moment.'),
    ...counts
      .filter(({ truncated }) => truncated)
      .map(
        ({ kind, items }) =>
          `There are more than ${items} entries of the kind “${PLURALS[kind] ?? kind}”; these are the first ones.`,
      ),
    ...(isTruncated ? [`Checks and changes of the first ${formatCount(ids.length, 'monitor')} are shown.`] : []),
  ]
  return notes.length > 0 && <p class="missing">{notes.join(' ')}</p>
}
