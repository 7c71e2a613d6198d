import { useState } from 'preact/hooks'
import { BADGE_STYLES, EMBED_THEMES } from '../../../../pages/public/embeds/embed-options.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { type OperationResponse, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { buildFormErrors } from '../../../parts/forms/field-errors.ts'
import { CheckField, SelectField } from '../../../parts/forms/fields.tsx'
import { Section } from '../../../parts/layout/section.tsx'
import { Failure } from '../../../parts/layout/states.tsx'
import { CopyField } from './copy-field.tsx'
import {
  type BadgeOptions,
  buildBadgeSnippets,
  buildFrameSnippet,
  buildWidgetFramePath,
  buildWidgetSnippet,
  POSITIONS,
  type WidgetOptions,
} from './embed-snippets.ts'
import { LiveEmbed } from './live-embed.tsx'
import { PageHead, type StatusPageRecord } from './page-head.tsx'

type ComponentRecord = OperationResponse<'listStatusPageComponents'>['data'][number]

/** `/pages/:id/embeds` */
export const pageEmbedsScreen = screen({
  path: '/pages/:id/embeds',
  area: 'pages',
  record: 'page',
  queries: ({ params: { id = '' } }) => ({
    page: read('readStatusPage', { path: { id } }),
    components: read('listStatusPageComponents', { path: { id } }),
  }),
  title: ({ results }) => `Embeds of ${results.page.data!.data.name}`,
  Body: ({ results }) => {
    const page = results.page.data!.data
    return (
      <>
        <PageHead page={page} current="Embeds" />
        <Failure result={results.components} what="The components" />
        <Badges page={page} components={results.components.data?.data ?? []} />
        <Widget page={page} />
        <Frame page={page} />
        <Section id="feeds" title="Feeds and JSON">
          <Snippet label="RSS" value={`${page.public_url}/feed.rss`} />
          <Snippet label="Atom" value={`${page.public_url}/feed.atom`} />
          <Snippet label="JSON, in the format of Statuspage" value={`${page.public_url}/api/v2/summary.json`} />
        </Section>
      </>
    )
  },
})

const NO_ERRORS = buildFormErrors([])
const FIGURES = [
  ['status', 'Status'],
  ['uptime', 'Uptime of 90 days'],
  ['response_time', 'Response time'],
] as const

const Snippet = ({ label, value }: { label: string; value: string }) => (
  <div class="snippet">
    <p class="small">{label}</p>
    <CopyField label={label} value={value} />
  </div>
)

function Badges({ page, components }: { page: StatusPageRecord; components: readonly ComponentRecord[] }) {
  const [choice, setChoice] = useState<BadgeOptions>({ figure: 'status', component: '', style: 'flat' })
  const { isInteractive } = useFrame()
  const snippets = buildBadgeSnippets(page.public_url, choice)
  const change = (part: Partial<BadgeOptions>) => setChoice({ ...choice, ...part })
  return (
    <Section id="badge" title="Badge">
      <p class="soft small">An image for README files and other sites. It is at most a minute old.</p>
      <fieldset class="badge-choice" disabled={!isInteractive}>
        <legend class="hidden">Badge</legend>
        <SelectField
          path="figure"
          label="Shows"
          value={choice.figure}
          options={FIGURES}
          errors={NO_ERRORS}
          onChange={figure => change({ figure })}
        />
        <SelectField
          path="component"
          label="Of"
          value={choice.component}
          options={[['', 'The whole page'], ...components.map(({ id, name }) => [id, name] as const)]}
          errors={NO_ERRORS}
          onChange={component => change({ component })}
        />
        <SelectField
          path="style"
          label="Style"
          value={choice.style}
          options={BADGE_STYLES.map(style => [style, style] as const)}
          errors={NO_ERRORS}
          onChange={style => change({ style })}
        />
      </fieldset>
      {page.is_published && (
        <p class="live-badge">
          {/* from this installation, because the policy of this page allows no other images */}
          <img key={snippets.search} src={`/status/${page.slug}/badge.svg${snippets.search}`} alt="The badge now" />
        </p>
      )}
      <Snippet label="Address" value={snippets.url} />
      <Snippet label="Markdown" value={snippets.markdown} />
      <Snippet label="HTML" value={snippets.html} />
    </Section>
  )
}

function Widget({ page }: { page: StatusPageRecord }) {
  const [choice, setChoice] = useState<WidgetOptions>({ position: 'bottom-right', theme: 'auto', isHidden: false })
  const { isInteractive } = useFrame()
  const change = (part: Partial<WidgetOptions>) => setChoice({ ...choice, ...part })
  return (
    <Section id="widget" title="Widget">
      <p class="soft small">A script that shows the state of the page on your site. It sets no cookie.</p>
      <fieldset class="badge-choice" disabled={!isInteractive}>
        <legend class="hidden">Widget</legend>
        <SelectField
          path="position"
          label="Where"
          value={choice.position}
          options={POSITIONS.map(one => [one, one.replace('-', ' ')] as const)}
          errors={NO_ERRORS}
          onChange={position => change({ position })}
        />
        <SelectField
          path="widget-theme"
          label="Theme of the widget"
          value={choice.theme}
          options={EMBED_THEMES.map(one => [one, one] as const)}
          errors={NO_ERRORS}
          onChange={theme => change({ theme })}
        />
        <CheckField
          path="hidden"
          label="Only while something is wrong"
          value={choice.isHidden}
          errors={NO_ERRORS}
          onChange={isHidden => change({ isHidden })}
        />
      </fieldset>
      <LiveEmbed title="The widget now" src={buildWidgetFramePath(page.slug, choice)} isPublished={page.is_published} />
      {choice.isHidden && <p class="soft small">While everything works, the widget shows nothing.</p>}
      <Snippet label="HTML" value={buildWidgetSnippet(page.public_url, choice)} />
    </Section>
  )
}

function Frame({ page }: { page: StatusPageRecord }) {
  const [theme, setTheme] = useState<(typeof EMBED_THEMES)[number]>('auto')
  const { isInteractive } = useFrame()
  const { html, search } = buildFrameSnippet(page, theme)
  return (
    <Section id="frame" title="Frame">
      <p class="soft small">The state of the page and its newest incidents, for any place that accepts an iframe.</p>
      <fieldset class="badge-choice" disabled={!isInteractive}>
        <SelectField
          path="theme"
          label="Theme"
          value={theme}
          options={EMBED_THEMES.map(one => [one, one] as const)}
          errors={NO_ERRORS}
          onChange={value => setTheme(value)}
        />
      </fieldset>
      <LiveEmbed title="The frame now" src={`/status/${page.slug}/embed${search}`} isPublished={page.is_published} />
      <Snippet label="HTML" value={html} />
      {page.is_published && (
        <p>
          <a href={`/status/${page.slug}/embed${search}`} target="_blank" rel="noreferrer">
            Open the frame
          </a>
        </p>
      )}
    </Section>
  )
}
