import type { MaintenanceView } from '../../../core/types.ts'
import { formatComponentNames } from '../../labels.ts'
import type { TemplatePage } from '../../template.ts'
import { Moment } from '../moment.tsx'
import { StatusIcon } from '../status-icons.tsx'

/** Running and planned maintenance windows; nothing when there are none. */
export function Maintenance({ page: { view, voice } }: { page: TemplatePage }) {
  return (
    <div id="maintenance" data-live>
      {view.maintenance.length > 0 && (
        <section class="windows" aria-labelledby="maintenance-title">
          <h2 id="maintenance-title">{voice.maintenance}</h2>
          {view.maintenance.map(window => (
            <Window window={window} />
          ))}
        </section>
      )}
    </div>
  )
}

const Window = ({ window: { name, description, isRunning, startsAt, endsAt, ...affected } }: WindowProps) => (
  <article class="incident window m">
    <h3 dir="auto">
      <StatusIcon sign="m" />
      {name}
    </h3>
    <p class="meta">
      {isRunning && <b class="running">In progress · </b>}
      <Moment at={startsAt} /> – <Moment at={endsAt} since={startsAt} />
      {affected.componentNames.length > 0 && (
        <>
          {' · '}
          <span dir="auto">{formatComponentNames(affected)}</span>
        </>
      )}
    </p>
    {description && (
      <p class="text" dir="auto">
        {description}
      </p>
    )}
  </article>
)

type WindowProps = { window: MaintenanceView }
