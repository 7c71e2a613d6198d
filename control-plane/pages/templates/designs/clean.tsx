import type { PageView } from '../../core/types.ts'
import { formatPercent } from '../labels.ts'
import { findCurrentMedian } from '../parts/charts/chart-path.ts'
import { DayList, PillBar } from '../parts/charts/days.tsx'
import { formatMs, ResponseChart } from '../parts/charts/response-chart.tsx'
import { ComponentName, Components, type RowComponent } from '../parts/components.tsx'
import { Maintenance } from '../parts/incidents/maintenance.tsx'
import { PageLayout } from '../parts/page-layout.tsx'
import { StatusLabel } from '../parts/status-icons.tsx'
import type { PageTemplate } from '../template.ts'

/** A dense list like a table: one line per component, which can be expanded. */
export const clean: PageTemplate = {
  voice: name => ({
    components: 'Components',
    noComponents: `No components have been added to ${name}.`,
    openIncidents: 'Open incidents',
    maintenance: 'Maintenance',
    pastIncidents: 'Past incidents',
    quiet: 'No incidents.',
    subscribe: 'Subscribe to updates',
  }),
  Layout: page => (
    <PageLayout page={page}>
      <Maintenance page={page} />
      <Components page={page} row={Line} head={<Columns view={page.view} />} />
    </PageLayout>
  ),
}

/** Decorative: each figure has its unit. */
const Columns = ({ view }: { view: PageView }) => (
  <p class="line columns" aria-hidden="true">
    <span>Component</span>
    <span>90 days</span>
    <span>{view.showUptimePercentage && 'Uptime'}</span>
    <span>{view.showResponseTimes && 'Response'}</span>
    <span>Status</span>
  </p>
)

const Line: RowComponent = ({ component }) => {
  const { id, days, status, uptimePercent } = component
  const current = findCurrentMedian(component)
  const cells = (
    <>
      <ComponentName component={component} />
      {days && days.length > 0 ? <PillBar days={days} /> : <span class="bar none">not monitored</span>}
      <span class="figure">{uptimePercent === null ? '' : `${formatPercent(uptimePercent)} %`}</span>
      <span class="figure ms">{current === null ? '' : formatMs(current)}</span>
      <StatusLabel status={status} />
    </>
  )
  if (!days || days.length === 0) {
    return (
      <li class="component" id={`c-${id}`}>
        <div class="line">{cells}</div>
      </li>
    )
  }
  return (
    <li class="component" id={`c-${id}`}>
      <details class="days" data-to={days.at(-1)?.date} data-many={days.length}>
        <summary class="line">{cells}</summary>
        <DayList days={days} />
        <ResponseChart component={component} />
      </details>
    </li>
  )
}
