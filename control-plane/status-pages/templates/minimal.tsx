import type { Template } from './page.ts'
import { ComponentName, Components, type Row } from './parts/components.tsx'
import { Days } from './parts/days.tsx'
import { Footer, Masthead, Overall, StaleNotice, Subscribe } from './parts/frame.tsx'
import { OpenIncidents } from './parts/incidents.tsx'
import { Maintenance } from './parts/maintenance.tsx'
import { PastIncidents } from './parts/past.tsx'
import { ResponseChart } from './parts/response-chart.tsx'
import { StatusMark } from './parts/signs.tsx'

/** One quiet column. */
export const minimal: Template = {
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
    <>
      <header class="top">
        <Masthead page={page} />
        <Subscribe page={page} />
      </header>
      <main>
        <StaleNotice page={page} />
        <Overall page={page} />
        <OpenIncidents page={page} />
        <Maintenance page={page} />
        <Components page={page} row={QuietRow} />
        <PastIncidents page={page} />
      </main>
      <Footer page={page} />
    </>
  ),
}

/** The chart is there for who opens the bar. */
const QuietRow: Row = ({ component }) => (
  <li class="component" id={`c-${component.id}`}>
    <ComponentName component={component} />
    <StatusMark status={component.status} />
    <Days component={component}>
      <ResponseChart component={component} />
    </Days>
  </li>
)
