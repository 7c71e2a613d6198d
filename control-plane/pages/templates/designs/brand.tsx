import { Components } from '../parts/components.tsx'
import { Footer, Masthead, Overall, StaleNotice, Subscribe } from '../parts/frame.tsx'
import { OpenIncidents } from '../parts/incidents/incidents.tsx'
import { Maintenance } from '../parts/incidents/maintenance.tsx'
import { PastIncidents } from '../parts/incidents/past-incidents.tsx'
import type { PageTemplate } from '../template.ts'

/** Colour and logo of the customer are prominent, with the status in large type. */
export const brand: PageTemplate = {
  voice: name => ({
    components: 'How our services are doing',
    noComponents: `${name} is setting this page up. Our services will be listed here soon.`,
    openIncidents: 'What we are working on',
    maintenance: 'Coming up',
    pastIncidents: 'The last two weeks',
    quiet: 'All quiet. No incidents.',
    subscribe: 'Keep me posted',
  }),
  Layout: page => (
    <>
      <header class="hero">
        <div class="top">
          <Masthead page={page} />
          <Subscribe page={page} />
        </div>
        <Overall page={page} />
      </header>
      <main>
        <StaleNotice view={page.view} />
        <OpenIncidents page={page} />
        <Components page={page} />
        <Maintenance page={page} />
        <PastIncidents page={page} />
      </main>
      <Footer page={page} />
    </>
  ),
}
