import { useState } from 'preact/hooks'
import { useFrame } from '../../../core/frame-context.ts'
import { call, type OperationArguments } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt, useFocusOnError } from '../../../parts/forms/attempt.ts'
import { DeleteForm } from '../../../parts/forms/delete-form.tsx'
import { buildFormErrors } from '../../../parts/forms/field-errors.ts'
import { SelectField, TextAreaField, TextField } from '../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../parts/forms/leave-question.ts'
import { type Incident, SEVERITY_NAMES, STATUS_NAMES } from '../incident-words.tsx'
import type { IncidentTemplate } from './update-tools.tsx'

/** Texts as they are typed. An empty one of the first three proposes nothing. */
type Form = {
  title: string
  severity: Incident['severity'] | ''
  status: Incident['status'] | ''
  name: string
  message: string
}

const EMPTY: Form = { name: '', title: '', severity: '', status: '', message: '' }
const SHOWN_FIELDS = ['name', 'title', 'severity', 'status', 'message']

const withNothing = <T extends string>(names: Record<T, string>): [T | '', string][] => [
  ['', 'Do not set it'],
  ...(Object.entries(names) as [T, string][]),
]

const toForm = ({ name, title, severity, status, message }: IncidentTemplate): Form => ({
  ...{ name, title: title ?? '', severity: severity ?? '', status: status ?? '', message },
})

/** The body of a request; null where the form is the same as what is stored. */
export function toTemplateBody(form: Form, stored: Form): OperationArguments<'createIncidentTemplate'>['body'] | null {
  if (SHOWN_FIELDS.every(name => form[name as keyof Form] === stored[name as keyof Form])) return null
  const { name, title, severity, status, message } = form
  return { name: name.trim(), title: title.trim() || null, severity: severity || null, status: status || null, message }
}

/** Creates a template, or changes and deletes one. */
export function TemplateForm({ template, onSaved }: { template?: IncidentTemplate; onSaved?(): void }) {
  const { execute, isInteractive } = useFrame()
  const stored = template ? toForm(template) : EMPTY
  const [form, setForm] = useState(stored)
  const attempt = useAttempt()
  const element = useFocusOnError(attempt.error)
  const body = toTemplateBody(form, stored)
  useLeaveQuestion(body !== null)
  const errors = buildFormErrors(attempt.error?.details ?? [])
  const change = (part: Partial<Form>) => setForm(current => ({ ...current, ...part }))
  const submit = async (event: Event) => {
    event.preventDefault()
    if (body === null) return
    const saved = await attempt.run(() =>
      template
        ? execute('updateIncidentTemplate', { path: { id: template.id }, body })
        : execute('createIncidentTemplate', { body }),
    )
    if (!saved) return
    setForm(template ? toForm(saved.data) : EMPTY)
    onSaved?.()
  }
  return (
    <>
      <form
        class="stack"
        ref={element}
        noValidate
        onSubmit={submit}
        aria-label={template ? template.name : 'New template'}
      >
        <fieldset class="plain stack" disabled={!isInteractive}>
          <TextField
            {...{ path: 'name', label: 'Name', value: form.name, errors, isRequired: true }}
            onChange={name => change({ name })}
          />
          <TextField
            {...{ path: 'title', label: 'Title of the incident', value: form.title, errors }}
            hint="Only for new incidents. Can be empty."
            onChange={title => change({ title })}
          />
          <SelectField
            {...{ path: 'severity', label: 'Severity', value: form.severity, errors }}
            options={withNothing(SEVERITY_NAMES)}
            onChange={severity => change({ severity })}
          />
          <SelectField
            {...{ path: 'status', label: 'Status', value: form.status, errors }}
            options={withNothing(STATUS_NAMES)}
            onChange={status => change({ status })}
          />
          <TextAreaField
            {...{ path: 'message', label: 'Message', value: form.message, errors, rows: 5 }}
            onChange={message => change({ message })}
          />
          <FormMessages error={attempt.error} shown={SHOWN_FIELDS} />
          <div class="actions">
            <button type="submit" class="main" disabled={attempt.isBusy || body === null}>
              {template ? 'Save the changes' : 'Create the template'}
            </button>
          </div>
          {body !== null && (
            <AsCall
              call={
                template
                  ? call('updateIncidentTemplate', { path: { id: template.id }, body })
                  : call('createIncidentTemplate', { body })
              }
            />
          )}
        </fieldset>
      </form>
      {template && <Deletion template={template} onDone={onSaved} />}
    </>
  )
}

function Deletion({ template, onDone }: { template: IncidentTemplate; onDone?(): void }) {
  const { execute } = useFrame()
  return (
    <details class="group">
      <summary>
        <span class="group-title">Delete</span>
      </summary>
      <DeleteForm
        what="template"
        name={template.name}
        consequences="Incidents that used its text stay as they are."
        remove={() => execute('deleteIncidentTemplate', { path: { id: template.id } })}
        onDone={() => onDone?.()}
      />
    </details>
  )
}
