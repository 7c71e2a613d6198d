import { useState } from 'preact/hooks'
import { MAX_COMPONENTS, type TemplateName } from '../../../../pages/core/types.ts'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { FRAME_READS } from '../../../core/frame-reads.ts'
import { call } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { AsCall, NeedsScript } from '../../../parts/calls/as-call.tsx'
import { useAttempt, useFocusOnError } from '../../../parts/forms/attempt.ts'
import { buildFormErrors, type FieldProblem, toFormError } from '../../../parts/forms/field-errors.ts'
import { CheckField, SelectField, TextField } from '../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../parts/forms/leave-question.ts'
import { MonitorChoice } from '../../../parts/monitors/monitor-choice.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { TEMPLATE_OPTIONS } from '../template-labels.ts'
import { findNewPageProblems, isSlug, proposeSlug } from './slug.ts'

const EXAMPLE = call('createStatusPage', { body: { name: 'Acme', slug: 'acme', template: 'minimal' } })
const SHOWN_FIELDS = ['name', 'slug', 'template', 'components', 'is_published']

/** `/pages/new` */
export const newPageScreen = screen({
  path: '/pages/new',
  area: 'pages',
  queries: () => ({ ...FRAME_READS }),
  title: () => 'New status page',
  Body: () => {
    const { me } = useFrame()
    return (
      <>
        <p class="trail">
          <a href="/pages">Status pages</a>
        </p>
        <h1>New status page</h1>
        <NeedsScript what="Creating a status page" call={EXAMPLE} />
        {canWrite(me) ? <NewPage /> : <NeedsRole what="Creating a status page" needed="editor" />}
      </>
    )
  },
})

/** A component that has the name of its monitor. */
type MonitorComponent = { name: string; monitor_id: string }

/** A problem of a component is one of the list of monitors, which is one field. */
const toFormField = (problem: FieldProblem): FieldProblem =>
  problem.path.startsWith('components[') ? { ...problem, path: 'components' } : problem

function NewPage() {
  const { execute, navigate, isInteractive } = useFrame()
  const [name, setName] = useState('')
  const [typedSlug, setTypedSlug] = useState<string | null>(null)
  const [template, setTemplate] = useState<TemplateName>('minimal')
  const [components, setComponents] = useState<readonly MonitorComponent[]>([])
  const [isPublished, setPublished] = useState(false)
  const [isCreated, setCreated] = useState(false)
  const attempt = useAttempt()
  const element = useFocusOnError(attempt.error)
  useLeaveQuestion(!isCreated && (name !== '' || typedSlug !== null || components.length > 0 || isPublished))
  const body = {
    name: name.trim(),
    slug: typedSlug ?? proposeSlug(name),
    template,
    ...(components.length > 0 && { components: [...components] }),
    ...(isPublished && { is_published: true }),
  }
  const errors = buildFormErrors((attempt.error?.details ?? []).map(toFormField))
  const submit = async (event: Event) => {
    event.preventDefault()
    const problem = toFormError(findNewPageProblems(body))
    if (problem) return attempt.setError(problem)
    const outcome = await attempt.run(() => execute('createStatusPage', { body }))
    if (outcome) setCreated(true)
    if (outcome) navigate(`/pages/${outcome.data.id}`)
  }
  return (
    <form class="setup" ref={element} noValidate onSubmit={submit}>
      <fieldset class="plain stack" disabled={!isInteractive}>
        <TextField path="name" label="Name" value={name} errors={errors} isRequired onChange={setName} />
        <TextField
          path="slug"
          label="Address"
          hint={`Letters a to z, digits and -. Visitors open /status/${isSlug(body.slug) ? body.slug : '…'} on this installation. It cannot be changed later; a custom domain can be added.`}
          value={body.slug}
          errors={errors}
          isRequired
          onChange={setTypedSlug}
        />
        <SelectField
          path="template"
          label="Template"
          hint="It can be changed at any time."
          value={template}
          options={TEMPLATE_OPTIONS}
          errors={errors}
          onChange={next => setTemplate(next)}
        />
        <MonitorChoice
          path="components"
          legend="Components"
          hint={`Each monitor becomes a component with its name, at most ${MAX_COMPONENTS}. The editor of the page can rename, group and add others.`}
          max={MAX_COMPONENTS}
          isListOpen
          ids={components.map(({ monitor_id }) => monitor_id)}
          errors={errors}
          onChange={(ids, names) => setComponents(ids.map(id => ({ name: names.get(id) ?? id, monitor_id: id })))}
        />
        <CheckField
          path="is_published"
          label="Publish it at once"
          hint="Everyone can then see it at its address. A page that is not published is seen by your organization only."
          value={isPublished}
          errors={errors}
          onChange={setPublished}
        />
        <FormMessages error={attempt.error} shown={SHOWN_FIELDS} />
        <div class="actions">
          <button type="submit" class="main" disabled={attempt.isBusy}>
            Create the page
          </button>
        </div>
      </fieldset>
      <div class="consequences">
        <AsCall call={call('createStatusPage', { body })} />
      </div>
    </form>
  )
}
