import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call, type OperationResponse } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useFocusOnError } from '../../../parts/forms/attempt.ts'
import { buildFormErrors } from '../../../parts/forms/field-errors.ts'
import { FieldError, SelectField, TextAreaField, TextField } from '../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { ForeignChange } from '../../../parts/forms/stored/foreign-change.tsx'
import { useStoredForm } from '../../../parts/forms/stored/stored-form.ts'
import type { DependencyRecord } from './dependency-words.ts'
import { applyChoice, findChoice, type OverrideChoice, toDependencyForm, toDependencyUpdate } from './override-form.ts'

const CHOICES: readonly (readonly [OverrideChoice, string])[] = [
  ['default', 'As it is subscribed to dependencies'],
  ['all', 'Down, degraded and resolved'],
  ['down', 'Down and resolved'],
  ['none', 'Nothing'],
]

/** The components that count, and what each channel gets of this dependency. */
export function DependencySettings({
  dependency,
  channels,
}: {
  dependency: DependencyRecord
  channels: OperationResponse<'listAlertChannels'>['data']
}) {
  const { me, execute, isInteractive } = useFrame()
  const path = { id: dependency.id }
  const editing = useStoredForm(dependency, {
    toForm: toDependencyForm,
    toBody: toDependencyUpdate,
    read: () => execute('readDependency', { path }),
    send: (body, headers) => execute('updateDependency', { path, body, headers }),
  })
  const { form, body, change, attempt } = editing
  const element = useFocusOnError(attempt.error)
  const errors = buildFormErrors(attempt.error?.details ?? [])
  const submit = (event: Event) => {
    event.preventDefault()
    void editing.save()
  }
  return (
    <form class="stack" ref={element} noValidate onSubmit={submit}>
      <fieldset class="plain stack" disabled={!isInteractive || !canWrite(me)}>
        <ForeignChange what="this dependency" form={editing} />
        <TextField path="name" label="Name" value={form.name} errors={errors} onChange={name => change({ name })} />
        <TextAreaField
          path="components"
          label="Components that count, one on each line"
          hint="Empty: everything that the vendor reports."
          rows={3}
          value={form.components}
          errors={errors}
          onChange={components => change({ components })}
        />
        {channels.length === 0 && <p class="soft">There is no alert channel.</p>}
        {channels.map(({ id, name }) => {
          const choice = findChoice(form.overrides, id)
          return (
            <SelectField
              key={id}
              path={`overrides.${id}`}
              label={`${name} gets`}
              value={choice}
              options={choice === 'custom' ? [...CHOICES, ['custom', 'As the API has set it']] : CHOICES}
              errors={errors}
              onChange={next => change({ overrides: applyChoice(form.overrides, id, next) })}
            />
          )
        })}
        <FieldError path="overrides" errors={errors} />
        <FormMessages error={attempt.error} shown={['name', 'components']} />
        {canWrite(me) && (
          <div class="actions">
            <button type="submit" class="main" disabled={!editing.canSave}>
              Save the changes
            </button>
          </div>
        )}
        <p class="soft" role="status">
          {editing.isSaved && 'Saved.'}
        </p>
        {body && <AsCall call={call('updateDependency', { path, body })} />}
      </fieldset>
    </form>
  )
}
