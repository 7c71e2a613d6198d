import { useState } from 'preact/hooks'
import { buildAddress, parsePage } from '../../../core/address.ts'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { NeedsScript } from '../../../parts/calls/as-call.tsx'
import { AreaTabs } from '../../../parts/layout/area-tabs.tsx'
import { Pager } from '../../../parts/layout/pager.tsx'
import { Section } from '../../../parts/layout/section.tsx'
import { Empty, Loaded } from '../../../parts/layout/states.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { SEVERITY_NAMES, STATUS_NAMES } from '../incident-words.tsx'
import { NewTemplate, TemplateSettings } from './template-form.tsx'
import type { IncidentTemplate } from './update-tools.tsx'

const PATH = '/incidents/templates'

const EXAMPLE = call('createIncidentTemplate', {
  body: {
    name: 'Provider outage',
    message: 'Our provider reports an outage.',
  },
})

/** Recurring texts of incidents: a list, and a form for each. */
export const templatesScreen = screen({
  path: PATH,
  area: 'incidents',
  queries: ({ search }) => ({
    templates: read('listIncidentTemplates', { query: { per_page: 50, page: parsePage(search) } }),
  }),
  title: () => 'Incident templates',
  Body: ({ results }) => {
    return (
      <>
        <h1>Incident templates</h1>
        <AreaTabs area="incidents" current={PATH} />
        <p class="soft">Texts that you reuse in updates. Forms of incidents offer them, and copy their values.</p>
        <Loaded result={results.templates} what="The templates">
          {({ data, meta }) => (
            <>
              <TemplateList templates={data} />
              <Pager meta={meta} what="templates" buildPath={page => buildAddress(PATH, { page })} />
            </>
          )}
        </Loaded>
      </>
    )
  },
})

/** The templates and one form: of a new template, or of the one that is being changed. */
function TemplateList({ templates }: { templates: readonly IncidentTemplate[] }) {
  const { me, mayLeave } = useFrame()
  const [openId, setOpenId] = useState<string | null>(null)
  return (
    <>
      {templates.length === 0 ? (
        <Empty text="There is no template. A text that is prepared saves time in an outage." />
      ) : (
        <ul class="list templates">
          {templates.map(template => (
            <Row
              key={template.id}
              template={template}
              isOpen={template.id === openId}
              onToggle={() => mayLeave('form') && setOpenId(template.id === openId ? null : template.id)}
              onDone={() => setOpenId(null)}
            />
          ))}
        </ul>
      )}
      <NeedsRole what="Changing templates" needed="editor" />
      {canWrite(me) && openId === null && (
        <Section id="new" title="New template">
          <NeedsScript what="Creating a template" call={EXAMPLE} />
          <NewTemplate />
        </Section>
      )}
    </>
  )
}

type RowProps = { template: IncidentTemplate; isOpen: boolean; onToggle(): void; onDone(): void }

function Row({ template, isOpen, onToggle, onDone }: RowProps) {
  const { me, isInteractive } = useFrame()
  const { name, title, severity, status, message } = template
  const values = [
    title !== null && `“${title}”`,
    severity && SEVERITY_NAMES[severity],
    status && STATUS_NAMES[status],
  ].filter(Boolean)
  return (
    <li>
      <div class="channel">
        <div>
          <h2 dir="auto">{name}</h2>
          {values.length > 0 && (
            <p class="soft small" dir="auto">
              {values.join(', ')}
            </p>
          )}
          {!isOpen && (
            <p class="message" dir="auto">
              {message}
            </p>
          )}
        </div>
        {canWrite(me) && (
          <div class="actions">
            <button type="button" disabled={!isInteractive} aria-expanded={isOpen} onClick={onToggle}>
              {isOpen ? 'Close' : 'Edit'}
              <span class="hidden">
                {' '}
                <bdi>{name}</bdi>
              </span>
            </button>
          </div>
        )}
      </div>
      {isOpen && <TemplateSettings template={template} onDone={onDone} />}
    </li>
  )
}
