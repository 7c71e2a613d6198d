import { Components } from '../parts/components.tsx'
import { Footer, Masthead, Overall, StaleNotice, Subscribe, Updated } from '../parts/frame.tsx'
import { OpenIncidents } from '../parts/incidents/incidents.tsx'
import { Maintenance } from '../parts/incidents/maintenance.tsx'
import { PastIncidents } from '../parts/incidents/past-incidents.tsx'
import type { PageTemplate } from '../template.ts'

/** Cards on a wide grid, with a chart in each. */
export const modern: PageTemplate = {
  voice: name => ({
    components: 'Systems',
    noComponents: `No systems yet. As soon as ${name} adds one, its card appears here.`,
    openIncidents: 'Active incidents',
    maintenance: 'Scheduled maintenance',
    pastIncidents: 'Incident history',
    quiet: 'No incidents reported.',
    subscribe: 'Get updates',
  }),
  Layout: page => (
    <>
      <header class="top">
        <Masthead page={page} />
        <Subscribe page={page} />
      </header>
      <main>
        <StaleNotice page={page} />
        <Overall page={page}>
          <p class="as-of">
            As of <Updated at={page.view.at} />
          </p>
        </Overall>
        <OpenIncidents page={page} />
        <Maintenance page={page} />
        <Components page={page} />
        <PastIncidents page={page} />
      </main>
      <Footer page={page} />
    </>
  ),
}
