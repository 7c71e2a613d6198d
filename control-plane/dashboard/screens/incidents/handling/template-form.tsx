import { useState } from 'preact/hooks'
import { useFrame } from '../../../core/frame-context.ts'
import { call, type OperationArguments } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { type FormAttempt, useAttempt, useFocusOnError } from '../../../parts/forms/attempt.ts'
import { DeleteForm } from '../../../parts/forms/delete-form.tsx'
import { buildFormErrors } from '../../../parts/forms/field-errors.ts'
import { SelectField, TextAreaField, TextField } from '../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../parts/forms/leave-question.ts'
import { ForeignChange } from '../../../parts/forms/stored/foreign-change.tsx'
import { useStoredForm } from '../../../parts/forms/stored/stored-form.ts'
import { type Incident, SEVERITY_NAMES, STATUS_NAMES } from '../incident-words.tsx'
import type { IncidentTemplate } from './update-tools.tsx'

type TemplateBody = OperationArguments<'createIncidentTemplate'>['body']

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

/** The body of a create. */
export const toTemplateBody = ({ name, title, severity, status, message }: Form): TemplateBody => ({
  ...{ name: name.trim(), title: title.trim() || null, severity: severity || null, status: status || null, message },
})

/** The fields that differ from a stored template; null without a difference. */
export function toTemplateChange(stored: IncidentTemplate, form: Form): Partial<TemplateBody> | null {
  const [before, after] = [toTemplateBody(toForm(stored)), toTemplateBody(form)]
  const changed = Object.entries(after).filter(([name, value]) => value !== before[name as keyof TemplateBody])
  return changed.length === 0 ? null : (Object.fromEntries(changed) as Partial<TemplateBody>)
}

/** Creates a template. */
export function NewTemplate() {
  const { execute, isInteractive } = useFrame()
  const [form, setForm] = useState(EMPTY)
  const attempt = useAttempt()
  const element = useFocusOnError(attempt.error)
  const isEmpty = Object.values(form).every(value => value === '')
  const body = toTemplateBody(form)
  useLeaveQuestion(!isEmpty)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (!isEmpty && (await attempt.run(() => execute('createIncidentTemplate', { body })))) setForm(EMPTY)
  }
  return (
    <form class="stack" ref={element} noValidate onSubmit={submit} aria-label="New template">
      <fieldset class="plain stack" disabled={!isInteractive}>
        <TemplateFields form={form} attempt={attempt} change={part => setForm(current => ({ ...current, ...part }))} />
        <div class="actions">
          <button type="submit" class="main" disabled={attempt.isBusy || isEmpty}>
            Create the template
          </button>
        </div>
        {!isEmpty && <AsCall call={call('createIncidentTemplate', { body })} />}
      </fieldset>
    </form>
  )
}

/** Changes and deletes a template. */
export function TemplateSettings({ template, onDone }: { template: IncidentTemplate; onDone(): void }) {
  const { execute, isInteractive } = useFrame()
  const path = { id: template.id }
  const editing = useStoredForm(template, {
    toForm,
    toBody: toTemplateChange,
    read: () => execute('readIncidentTemplate', { path }),
    send: (body, headers) => execute('updateIncidentTemplate', { path, body, headers }),
  })
  const { form, body, change, attempt } = editing
  const element = useFocusOnError(attempt.error)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (await editing.save()) onDone()
  }
  return (
    <>
      <form class="stack" ref={element} noValidate onSubmit={submit} aria-label={template.name}>
        <fieldset class="plain stack" disabled={!isInteractive}>
          <ForeignChange what="this template" form={editing} />
          <TemplateFields form={form} attempt={attempt} change={change} />
          <div class="actions">
            <button type="submit" class="main" disabled={!editing.canSave}>
              Save the changes
            </button>
          </div>
          {body !== null && <AsCall call={call('updateIncidentTemplate', { path, body })} />}
        </fieldset>
      </form>
      <Deletion template={template} onDone={onDone} />
    </>
  )
}

function TemplateFields({
  form,
  attempt: { error },
  change,
}: {
  form: Form
  attempt: FormAttempt
  change(part: Partial<Form>): void
}) {
  const errors = buildFormErrors(error?.details ?? [])
  return (
    <>
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
      <FormMessages error={error} shown={SHOWN_FIELDS} />
    </>
  )
}

function Deletion({ template, onDone }: { template: IncidentTemplate; onDone(): void }) {
  return (
    <details class="group">
      <summary>
        <span class="group-title">Delete</span>
      </summary>
      <DeleteForm
        what="template"
        name={template.name}
        consequences="Incidents that used its text stay as they are."
        call={call('deleteIncidentTemplate', { path: { id: template.id } })}
        onDone={onDone}
      />
    </details>
  )
}
