import type { Template } from './page.ts'
import { Components } from './parts/components.tsx'
import { Footer, Masthead, Overall, StaleNotice, Subscribe } from './parts/frame.tsx'
import { OpenIncidents } from './parts/incidents.tsx'
import { Maintenance } from './parts/maintenance.tsx'
import { PastIncidents } from './parts/past.tsx'

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
        <Components page={page} />
        <PastIncidents page={page} />
      </main>
      <Footer page={page} />
    </>
  ),
}
