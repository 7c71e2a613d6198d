import { formatDateRange } from '../../dates.ts'
import type { TemplatePage } from '../../template.ts'
import { Day } from '../moment.tsx'
import { PastIncident } from './incidents.tsx'
import { groupPastDays } from './past-days.ts'

/** The incidents of the last two weeks, by day. */
export function PastIncidents({ page: { view, voice } }: { page: TemplatePage }) {
  const blocks = groupPastDays(view)
  // every day belongs to an open incident
  if (blocks.length === 0) return <section id="past" data-live hidden />
  return (
    <section id="past" data-live class="past-days" aria-labelledby="past-title">
      <h2 id="past-title">{voice.pastIncidents}</h2>
      {blocks.map(block =>
        'date' in block ? (
          <div class="day">
            <h3>
              <Day date={block.date} />
            </h3>
            {block.incidents.map(incident => (
              <PastIncident incident={incident} />
            ))}
          </div>
        ) : (
          <p class="quiet">
            <b>{formatDateRange(block.from, block.to)}</b> {voice.quiet}
          </p>
        ),
      )}
    </section>
  )
}
