import { useState } from 'preact/hooks'
import { useFrame } from '../../../../core/frame-context.ts'
import { call } from '../../../../core/operations.ts'
import { AsCall } from '../../../../parts/calls/as-call.tsx'
import { useAttempt, useFocusOnError } from '../../../../parts/forms/attempt.ts'
import { buildFormErrors, type FormErrors } from '../../../../parts/forms/field-errors.ts'
import { SelectField, TextField } from '../../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../../parts/forms/leave-question.ts'
import type { ComponentRecord, GroupRecord } from './arrangement.ts'
import { DeleteItem } from './delete-item.tsx'

type Status = ComponentRecord['status']

const STATUS_OPTIONS: readonly (readonly [Status, string])[] = [
  ['operational', 'Operational'],
  ['degraded', 'Degraded'],
  ['outage', 'Outage'],
  ['unknown', 'Unknown'],
]

/** Renames a component, moves it to a group, and sets its status when no monitor does. */
export function ComponentForm({
  pageId,
  component,
  groups,
  onDone,
}: {
  pageId: string
  component: ComponentRecord
  groups: readonly GroupRecord[]
  onDone(): void
}) {
  const { execute } = useFrame()
  const start = {
    ...{ name: component.name, description: component.description ?? '', group_id: component.group_id ?? '' },
    status: component.status,
  }
  const [form, setForm] = useState(start)
  const attempt = useAttempt()
  const element = useFocusOnError(attempt.error)
  const errors = buildFormErrors(attempt.error?.details ?? [])
  const isChanged = JSON.stringify(form) !== JSON.stringify(start)
  useLeaveQuestion(isChanged)
  const change = (part: Partial<typeof start>) => setForm(current => ({ ...current, ...part }))
  const path = { id: pageId, cid: component.id }
  const { status, group_id: group, description, name } = form
  const body = {
    ...{ name, description: description || null, group_id: group || null },
    ...(component.monitor_id === null && { status }),
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    if (await attempt.run(() => execute('updateStatusPageComponent', { path, body }))) onDone()
  }
  return (
    <form class="stack item-form" ref={element} noValidate onSubmit={submit}>
      <TextField path="name" label="Name" value={form.name} errors={errors} onChange={name => change({ name })} />
      <TextField
        path="description"
        label="Description"
        hint="Visitors see it below the name."
        value={form.description}
        errors={errors}
        onChange={description => change({ description })}
      />
      {groups.length > 0 && (
        <SelectField
          path="group_id"
          label="Group"
          value={form.group_id}
          options={[['', 'No group'], ...groups.map(({ id, name }) => [id, name] as const)]}
          errors={errors}
          onChange={group_id => change({ group_id })}
        />
      )}
      <StatusField component={component} value={form.status} errors={errors} onChange={status => change({ status })} />
      <FormMessages error={attempt.error} shown={['name', 'description', 'group_id', 'status']} />
      <div class="actions">
        <button type="submit" class="main" disabled={attempt.isBusy || !isChanged}>
          Save the component
        </button>
        <button type="button" onClick={onDone}>
          Cancel
        </button>
      </div>
      {isChanged && <AsCall call={call('updateStatusPageComponent', { path, body })} />}
      <DeleteItem
        what="component"
        consequences={
          component.monitor_id === null ? 'Visitors no longer see it.' : 'Visitors no longer see it. Its monitor stays.'
        }
        remove={() => execute('deleteStatusPageComponent', { path })}
        onDone={onDone}
      />
    </form>
  )
}

/** The status, which can be set when no monitor does. */
const StatusField = ({
  component: { monitor_id: monitorId },
  ...field
}: {
  component: ComponentRecord
  value: Status
  errors: FormErrors
  onChange(status: Status): void
}) =>
  monitorId === null ? (
    <SelectField path="status" label="Status" options={STATUS_OPTIONS} {...field} />
  ) : (
    <p class="soft small">
      The status follows <a href={`/monitors/${monitorId}`}>its monitor</a>.
    </p>
  )
