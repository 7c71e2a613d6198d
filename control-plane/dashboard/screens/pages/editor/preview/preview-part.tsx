import { useEffect, useMemo, useState } from 'preact/hooks'
import type { PageView } from '../../../../../pages/core/types.ts'
import { renderDefaultFavicon } from '../../../../../pages/templates/document/default-favicon.ts'
import { getTitle } from '../../../../../pages/templates/document/head.tsx'
import { useFrame } from '../../../../core/frame-context.ts'
import type { ColorScheme } from '../../../../parts/isolated.tsx'
import { Missing } from '../../../../parts/layout/states.tsx'
import type { PageDraft } from '../settings/page-form.ts'
import { buildDraftView, hideFigures, withMemberImages } from './draft-view.ts'
import { PreviewFrame, type PreviewWidth } from './preview-frame.tsx'
import { stageOutage } from './staged-outage.ts'
import type { Judgement } from './use-preview.ts'

/** The preview with its choices: width, colours, and real data or a staged outage. */
export function PreviewPart({
  form,
  judgement,
  isPublished,
}: {
  form: PageDraft
  judgement: Judgement
  isPublished: boolean
}) {
  const [width, setWidth] = useState<PreviewWidth>('desktop')
  const [scheme, setScheme] = useState<ColorScheme>('light')
  const [data, setData] = useState<'real' | 'outage'>('real')
  // a wide page on a phone is too small to read
  useEffect(() => {
    if (matchMedia('(width < 720px)').matches) setWidth('phone')
  }, [])
  const { view, safeCss, error } = judgement
  const sections = useMemo(
    () => view && hideFigures(view, form),
    [view, form.show_uptime_percentage, form.show_response_times],
  )
  const shown = useMemo(() => {
    if (view === null || sections === null) return null
    const draft = buildDraftView(isPublished ? view : withMemberImages(view), form, safeCss, sections)
    return data === 'outage' ? stageOutage(draft) : draft
  }, [view, sections, form, safeCss, data, isPublished])
  return (
    <section class="preview" aria-labelledby="preview-title">
      <div class="preview-head">
        <h2 id="preview-title">Preview</h2>
        <Choice
          label="Width"
          value={width}
          options={[
            ['desktop', 'Desktop'],
            ['phone', 'Phone'],
          ]}
          onChange={next => setWidth(next)}
        />
        <Choice
          label="Colours"
          value={scheme}
          options={[
            ['light', 'Light'],
            ['dark', 'Dark'],
          ]}
          onChange={next => setScheme(next)}
        />
        <Choice
          label="Data"
          value={data}
          options={[
            ['real', 'Real data'],
            ['outage', 'Staged outage'],
          ]}
          onChange={next => setData(next)}
        />
      </div>
      {error && <Missing what="The preview" error={error} />}
      {shown && <BrowserTab view={shown} />}
      {shown && <PreviewFrame view={shown} scheme={scheme} width={width} />}
      {!shown && !error && <div class="preview-box skeleton" role="status" aria-label="Loading" />}
      {data === 'outage' && <p class="soft small">A staged outage is shown here only. Visitors do not see it.</p>}
    </section>
  )
}

/** The favicon and the title of the page, as the tab of a browser shows them. */
const BrowserTab = ({ view }: { view: PageView }) => (
  <p class="preview-tab small">
    <img
      src={view.faviconUrl ?? `data:image/svg+xml,${encodeURIComponent(renderDefaultFavicon(view.brandColor))}`}
      alt="Favicon"
      width={16}
      height={16}
    />
    <bdi>{getTitle(view)}</bdi>
  </p>
)

const Choice = <T extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string
  value: T
  options: readonly (readonly [value: T, name: string])[]
  onChange(value: T): void
}) => (
  <fieldset class="segments" disabled={!useFrame().isInteractive}>
    <legend class="hidden">{label}</legend>
    {options.map(([option, name]) => (
      <button key={option} type="button" aria-pressed={option === value} onClick={() => onChange(option)}>
        {name}
      </button>
    ))}
  </fieldset>
)
