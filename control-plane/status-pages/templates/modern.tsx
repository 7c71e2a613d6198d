import type { Template } from './page.ts'
import { Components } from './parts/components.tsx'
import { Footer, Masthead, Overall, StaleNotice, Subscribe, Updated } from './parts/frame.tsx'
import { OpenIncidents } from './parts/incidents.tsx'
import { Maintenance } from './parts/maintenance.tsx'
import { PastIncidents } from './parts/past.tsx'

/** Cards on a wide grid, a chart in each. */
export const modern: Template = {
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
