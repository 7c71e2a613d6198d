import type { ComponentView, DayView } from '../../core/types.ts'
import { STATUS_LETTERS, type StatusLetter } from '../labels.ts'
import { findCurrentMedian } from '../parts/charts/chart-path.ts'
import { buildBarLabel, groupDayRuns } from '../parts/charts/day-runs.ts'
import { Days } from '../parts/charts/days.tsx'
import { formatMs } from '../parts/charts/response-chart.tsx'
import { renderSparkline } from '../parts/charts/sparkline.ts'
import { ComponentName, Components, type RowComponent } from '../parts/components.tsx'
import { Maintenance } from '../parts/incidents/maintenance.tsx'
import { PageLayout } from '../parts/page-layout.tsx'
import { StatusLabel } from '../parts/status-icons.tsx'
import type { PageTemplate } from '../template.ts'

/** The output of a shell. */
export const terminal: PageTemplate = {
  voice: name => ({
    components: 'status --days 90',
    noComponents: `${name}: no components registered`,
    openIncidents: 'incidents --open',
    maintenance: 'maintenance --upcoming',
    pastIncidents: 'incidents --log --days 14',
    quiet: 'no incidents',
    subscribe: 'subscribe',
  }),
  Layout: page => (
    <PageLayout page={page} end={<Prompt />}>
      <Components page={page} row={Line} />
      <Maintenance page={page} />
    </PageLayout>
  ),
}

const Prompt = () => (
  <p class="prompt" aria-hidden="true">
    <span class="cursor" />
  </p>
)

const Line: RowComponent = ({ component }) => (
  <li class="component" id={`c-${component.id}`}>
    <ComponentName component={component} />
    <StatusLabel status={component.status} />
    <Days component={component} bar={TextBar} />
    <Latency component={component} />
  </li>
)

const GLYPHS: Record<StatusLetter, string> = { o: '|', d: ':', x: 'x', m: '~', u: '.' }

/** One character per day. */
const TextBar = ({ days }: { days: readonly DayView[] }) => (
  <span class="bar" role="img" aria-label={buildBarLabel(days)}>
    {groupDayRuns(days).map(({ status, from, to }) => (
      <span class={STATUS_LETTERS[status]}>{GLYPHS[STATUS_LETTERS[status]].repeat(to - from + 1)}</span>
    ))}
  </span>
)

function Latency({ component }: { component: ComponentView }) {
  const current = findCurrentMedian(component)
  if (current === null) return null
  const values = component.responseTimes?.map(({ medianMs }) => medianMs) ?? []
  return (
    <p class="latency">
      response <span aria-hidden="true">{renderSparkline(values)}</span> {formatMs(current)}
    </p>
  )
}
