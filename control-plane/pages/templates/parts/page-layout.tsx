import type { ComponentChildren } from 'preact'
import type { TemplatePage } from '../template.ts'
import { Footer, Masthead, Overall, StaleNotice, Subscribe } from './frame.tsx'
import { OpenIncidents } from './incidents/incidents.tsx'
import { PastIncidents } from './incidents/past-incidents.tsx'

type PageLayoutSlots = {
  page: TemplatePage
  /** below the sentence of the overall status */
  overall?: ComponentChildren
  /** the components and the maintenance, in the order of the template */
  children: ComponentChildren
  /** at the end of the main part */
  end?: ComponentChildren
}

/** The layout of most templates: a header with the name, one main column, and the footer. */
export const PageLayout = ({ page, overall, children, end }: PageLayoutSlots) => (
  <>
    <header class="top">
      <Masthead page={page} />
      <Subscribe page={page} />
    </header>
    <main>
      <StaleNotice view={page.view} />
      <Overall page={page}>{overall}</Overall>
      <OpenIncidents page={page} />
      {children}
      <PastIncidents page={page} />
      {end}
    </main>
    <Footer page={page} />
  </>
)
