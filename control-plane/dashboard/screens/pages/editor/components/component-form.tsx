import { useFrame } from '../../../../core/frame-context.ts'
import { call, type OperationArguments } from '../../../../core/operations.ts'
import { AsCall } from '../../../../parts/calls/as-call.tsx'
import { useFocusOnError } from '../../../../parts/forms/attempt.ts'
import { buildFormErrors, type FormErrors } from '../../../../parts/forms/field-errors.ts'
import { SelectField, TextField } from '../../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../../parts/forms/form-messages.tsx'
import { ForeignChange } from '../../../../parts/forms/stored/foreign-change.tsx'
import { useStoredForm } from '../../../../parts/forms/stored/stored-form.ts'
import type { ComponentRecord, GroupRecord } from './arrangement.ts'
import { DeleteItem } from './delete-item.tsx'

type Status = ComponentRecord['status']

const STATUS_OPTIONS: readonly (readonly [Status, string])[] = [
  ['operational', 'Operational'],
  ['degraded', 'Degraded'],
  ['outage', 'Outage'],
  ['unknown', 'Unknown'],
]

type ComponentDraft = Pick<ComponentRecord, 'name' | 'status'> & { description: string; group_id: string }
type ComponentUpdate = NonNullable<OperationArguments<'updateStatusPageComponent'>['body']>

export const toComponentForm = ({ name, description, group_id: group, status }: ComponentRecord): ComponentDraft => ({
  ...{ name, description: description ?? '', group_id: group ?? '', status },
})

/** The fields that differ from a stored component; null without a difference. A monitor sets the status of its component. */
export function toComponentUpdate(stored: ComponentRecord, form: ComponentDraft): ComponentUpdate | null {
  const body: ComponentUpdate = {
    ...(form.name !== stored.name && { name: form.name }),
    ...(form.description !== (stored.description ?? '') && { description: form.description || null }),
    ...(form.group_id !== (stored.group_id ?? '') && { group_id: form.group_id || null }),
    ...(stored.monitor_id === null && form.status !== stored.status && { status: form.status }),
  }
  return Object.keys(body).length === 0 ? null : body
}

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
  const path = { id: pageId, cid: component.id }
  const editing = useStoredForm(component, {
    toForm: toComponentForm,
    toBody: toComponentUpdate,
    read: () => execute('readStatusPageComponent', { path }),
    send: (body, headers) => execute('updateStatusPageComponent', { path, body, headers }),
  })
  const { form, body, change, attempt } = editing
  const element = useFocusOnError(attempt.error)
  const errors = buildFormErrors(attempt.error?.details ?? [], component.id)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (await editing.save()) onDone()
  }
  return (
    <form class="stack item-form" ref={element} noValidate onSubmit={submit}>
      <ForeignChange what="this component" form={editing} />
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
        <button type="submit" class="main" disabled={!editing.canSave}>
          Save the component
        </button>
        <button type="button" onClick={onDone}>
          Cancel
        </button>
      </div>
      {body && <AsCall call={call('updateStatusPageComponent', { path, body })} />}
      <DeleteItem
        what="component"
        consequences={
          component.monitor_id === null ? 'Visitors no longer see it.' : 'Visitors no longer see it. Its monitor stays.'
        }
        call={call('deleteStatusPageComponent', { path })}
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
