import { useState } from 'preact/hooks'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call, type OperationResponse } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt, useFocusOnError } from '../../../parts/forms/attempt.ts'
import { buildFormErrors } from '../../../parts/forms/field-errors.ts'
import { FieldError, SelectField, TextAreaField, TextField } from '../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../parts/forms/leave-question.ts'
import type { DependencyRecord } from './dependency-words.ts'
import {
  applyChoice,
  type DependencyForm,
  findChoice,
  type OverrideChoice,
  toDependencyForm,
  toDependencyUpdate,
} from './override-form.ts'

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
  const [form, setForm] = useState(() => toDependencyForm(dependency))
  const [isSaved, setSaved] = useState(false)
  const attempt = useAttempt()
  const element = useFocusOnError(attempt.error)
  const errors = buildFormErrors(attempt.error?.details ?? [])
  const body = toDependencyUpdate(dependency, form)
  useLeaveQuestion(body !== null)
  const change = (part: Partial<DependencyForm>) => {
    setForm(before => ({ ...before, ...part }))
    setSaved(false)
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    const saved = body && (await attempt.run(() => execute('updateDependency', { path: { id: dependency.id }, body })))
    if (!saved) return
    setForm(toDependencyForm(saved.data))
    setSaved(true)
  }
  return (
    <form class="stack" ref={element} noValidate onSubmit={submit}>
      <fieldset class="plain stack" disabled={!isInteractive || !canWrite(me)}>
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
            <button type="submit" class="main" disabled={attempt.isBusy || body === null}>
              Save the changes
            </button>
          </div>
        )}
        <p class="soft" role="status">
          {isSaved && body === null && 'Saved.'}
        </p>
        {body && <AsCall call={call('updateDependency', { path: { id: dependency.id }, body })} />}
      </fieldset>
    </form>
  )
}
