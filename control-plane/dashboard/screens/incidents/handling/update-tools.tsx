import { useEffect, useState } from 'preact/hooks'
import { useFrame } from '../../../core/frame-context.ts'
import type { OperationResponse } from '../../../core/operations.ts'
import { useLazyPart } from '../../../parts/layout/lazy-part.tsx'
import type { Timeline } from '../axis/axis.ts'
import { buildVisitorView, type DraftIncident, type DraftUpdate, listPublicUpdates } from './visitor-view.ts'

export type IncidentTemplate = OperationResponse<'listIncidentTemplates'>['data'][number]

/** A choice of a template, whose texts the form takes over. Nothing while the project has no template. */
export function TemplateChoice({ onChoose }: { onChoose(template: IncidentTemplate): void }) {
  const { execute } = useFrame()
  const [templates, setTemplates] = useState<readonly IncidentTemplate[]>([])
  useEffect(() => {
    execute('listIncidentTemplates', { query: { per_page: 100 } }).then(outcome => {
      if ('data' in outcome) setTemplates(outcome.data.data)
    })
  }, [])
  if (templates.length === 0) return null
  return (
    <div class="field">
      <label for="template">Template</label>
      <select
        id="template"
        value=""
        onChange={event => {
          const chosen = templates.find(({ id }) => id === event.currentTarget.value)
          if (chosen) onChoose(chosen)
        }}
      >
        <option value="">Write a text of your own</option>
        {templates.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <small>
        Its texts replace what is in this form. <a href="/incidents/templates">Templates</a>
      </small>
    </div>
  )
}

const loadPreview = async () => (await import('./visitor-preview.tsx')).VisitorPreview

/** What visitors will see of an update, by the parts of the status pages. Its code is loaded when there is a message. */
export function UpdatePreview({
  incident,
  timeline,
  update,
}: {
  incident: DraftIncident
  timeline: Pick<Timeline, 'items'> | null
  /** null: an internal one */
  update: DraftUpdate
}) {
  const hasText = update !== null && update.message !== ''
  const Preview = useLazyPart(loadPreview, hasText)
  if (update === null) return <p class="soft small">Visitors of status pages will not see this message.</p>
  if (!hasText) return <p class="soft small">Write a message to see what visitors of status pages will see.</p>
  const earlier = timeline ? listPublicUpdates(timeline) : []
  return (
    Preview && (
      <Preview
        monitorIds={incident.monitor_ids}
        build={(components, nowMs) => buildVisitorView(incident, earlier, update, components, nowMs)}
      />
    )
  )
}
