import { Components } from '../parts/components.tsx'
import { Updated } from '../parts/frame.tsx'
import { Maintenance } from '../parts/incidents/maintenance.tsx'
import { PageLayout } from '../parts/page-layout.tsx'
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
    <PageLayout page={page} overall={<UpdatedAt at={page.view.at} />}>
      <Maintenance page={page} />
      <Components page={page} />
    </PageLayout>
  ),
}

/** It changes each minute, so screen readers do not announce it. */
const UpdatedAt = ({ at }: { at: string }) => (
  <p class="as-of" id="as-of" data-live aria-live="off">
    As of <Updated at={at} />
  </p>
)
