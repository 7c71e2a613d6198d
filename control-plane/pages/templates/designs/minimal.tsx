import { Days } from '../parts/charts/days.tsx'
import { ResponseChart } from '../parts/charts/response-chart.tsx'
import { ComponentName, Components, type RowComponent } from '../parts/components.tsx'
import { Maintenance } from '../parts/incidents/maintenance.tsx'
import { PageLayout } from '../parts/page-layout.tsx'
import { StatusLabel } from '../parts/status-icons.tsx'
import type { PageTemplate } from '../template.ts'

/** A single column. */
export const minimal: PageTemplate = {
  voice: name => ({
    components: 'Services',
    noComponents: `${name} has not listed any services yet. They will appear here.`,
    openIncidents: 'Happening now',
    maintenance: 'Planned work',
    pastIncidents: 'Past two weeks',
    quiet: 'Nothing to report.',
    subscribe: 'Subscribe',
  }),
  Layout: page => (
    <PageLayout page={page}>
      <Maintenance page={page} />
      <Components page={page} row={QuietRow} />
    </PageLayout>
  ),
}

/** The chart is visible when the bar is opened. */
const QuietRow: RowComponent = ({ component }) => (
  <li class="component" id={`c-${component.id}`}>
    <ComponentName component={component} />
    <StatusLabel status={component.status} />
    <Days component={component}>
      <ResponseChart component={component} />
    </Days>
  </li>
)
