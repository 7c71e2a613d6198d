import { useEffect, useState } from 'preact/hooks'
import type { IncidentView, PageView } from '../../../../pages/core/types.ts'
import { STYLES } from '../../../../pages/templates/assets.ts'
import { getUtcDay } from '../../../../pages/templates/dates.ts'
import { TEMPLATES } from '../../../../pages/templates/designs/index.ts'
import { buildBrandStyle } from '../../../../pages/templates/document/brand-style.ts'
import { OpenIncidents, PastIncident } from '../../../../pages/templates/parts/incidents/incidents.tsx'
import { Day, IsoTimes } from '../../../../pages/templates/parts/moment.tsx'
import { IconSheet } from '../../../../pages/templates/parts/status-icons.tsx'
import { useFrame } from '../../../core/frame-context.ts'
import type { OperationError, OperationResponse } from '../../../core/operations.ts'
import { type ColorScheme, Isolated } from '../../../parts/isolated.tsx'
import { Missing } from '../../../parts/layout/states.tsx'
import { findShowingPages, type PageComponent, usePublishedPages } from '../../../parts/monitors/published-pages.ts'

type Page = Pick<
  OperationResponse<'listStatusPages'>['data'][number],
  'id' | 'name' | 'template' | 'brand_color' | 'custom_css'
>

/** The page of the preview. `isPublished`: false for an example. `isCertain`: all published pages are known. */
type ShownPage = { page: Page; components: readonly PageComponent[]; isPublished: boolean; isCertain: boolean }

/** How a page looks when the project has none. */
const EXAMPLE: Page = { id: '', name: 'Status', template: 'minimal', brand_color: '#2563eb', custom_css: null }

const SCHEMES = [
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const

/** Not below each other on a page, but in a box. */
const IN_A_BOX = [
  '.page{min-height:0!important;padding:20px 24px!important}',
  '.page section{margin:0!important;max-width:none!important}',
  '.page section>h2{margin-bottom:.75rem!important}',
  '.page .day{display:block!important}',
  '.page .day h3{margin-bottom:.5rem}',
].join('')

/**
 * An incident as visitors see it: by the parts, the styles, the colour and the custom CSS of the first published status page that
 * shows one of its monitors. `build` gets the components of that page.
 */
export function VisitorPreview({
  monitorIds,
  build,
}: {
  monitorIds: readonly string[]
  build(components: readonly PageComponent[], nowMs: number): IncidentView
}) {
  const { nowMs } = useFrame()
  const shown = useShownPage(monitorIds)
  const custom = useCustomCss(shown?.page ?? null)
  const [scheme, setScheme] = useState<ColorScheme>('light')
  if (!shown || !custom) return null
  const { page, components, isPublished, isCertain } = shown
  const { template } = page
  const sheets = [STYLES.base, STYLES[template], buildBrandStyle(page.brand_color), custom.css ?? '', IN_A_BOX]
  return (
    <div class="visitor-preview">
      <div class="preview-head">
        <p class="soft small">
          {isPublished ? (
            <>
              What visitors of <bdi>{page.name}</bdi> will see:
            </>
          ) : isCertain ? (
            'No status page is published, so visitors see nothing. On a new page it would look like this:'
          ) : (
            'Whether a status page is published could not be determined. On a new page it would look like this:'
          )}
        </p>
        <fieldset class="switch">
          <legend class="hidden">Colours of the preview</legend>
          {SCHEMES.map(([value, name]) => (
            <label key={value}>
              <input type="radio" name="scheme" checked={scheme === value} onChange={() => setScheme(value)} /> {name}
            </label>
          ))}
        </fieldset>
      </div>
      <Isolated label="Preview of the status page" sheets={sheets} scheme={scheme}>
        <IncidentOnPage page={page} incident={build(components, nowMs)} />
      </Isolated>
      {custom.error && <Missing what="The custom CSS of the page" error={custom.error} />}
    </div>
  )
}

/** An open incident, or a resolved one on its day, with the parts of the templates. */
function IncidentOnPage({ page: { name, template }, incident }: { page: Page; incident: IncidentView }) {
  const voice = TEMPLATES[template].voice(name)
  const view = { openIncidents: [incident] } as unknown as PageView
  return (
    <IsoTimes.Provider value={template === 'developer'}>
      <div class={`page ${template}`}>
        <IconSheet />
        <div>
          {incident.resolvedAt === null ? (
            <OpenIncidents page={{ view, voice }} />
          ) : (
            <section class="past-days">
              <h2>{voice.pastIncidents}</h2>
              <div class="day">
                <h3>
                  <Day date={getUtcDay(incident.startedAt)} />
                </h3>
                <PastIncident incident={incident} />
              </div>
            </section>
          )}
        </div>
      </div>
    </IsoTimes.Provider>
  )
}

/** The published page that shows one of the monitors, else the first published one, else an example. Null until it is read. */
function useShownPage(monitorIds: readonly string[]): ShownPage | null {
  const published = usePublishedPages()
  if (published === null) return null
  const { shown } = findShowingPages(published, monitorIds)
  const found = shown[0] ?? published.pages[0]
  return { page: EXAMPLE, components: [], ...found, isPublished: found !== undefined, isCertain: published.isComplete }
}

type CustomCss = { css: string | null; error: OperationError | null }

const NO_CSS: CustomCss = { css: null, error: null }

/** The custom CSS of a page as its visitors get it. Null until it is read. */
function useCustomCss(page: Page | null): CustomCss | null {
  const { execute } = useFrame()
  const [read, setRead] = useState<CustomCss | null>(null)
  const id = page === null || page.custom_css === null ? null : page.id
  useEffect(() => {
    if (id === null) return
    void (async () => {
      const outcome = await execute('previewStatusPage', { path: { id }, body: {} })
      setRead('error' in outcome ? { ...NO_CSS, error: outcome.error } : { ...NO_CSS, css: outcome.data.data.safe_css })
    })()
  }, [id])
  return id === null ? NO_CSS : read
}
