import { useFrame } from '../../../../core/frame-context.ts'
import { call, type OperationArguments } from '../../../../core/operations.ts'
import { AsCall } from '../../../../parts/calls/as-call.tsx'
import { useFocusOnError } from '../../../../parts/forms/attempt.ts'
import { buildFormErrors } from '../../../../parts/forms/field-errors.ts'
import { CheckField, TextField } from '../../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../../parts/forms/form-messages.tsx'
import { ForeignChange } from '../../../../parts/forms/stored/foreign-change.tsx'
import { useStoredForm } from '../../../../parts/forms/stored/stored-form.ts'
import type { GroupRecord } from './arrangement.ts'
import { DeleteItem } from './delete-item.tsx'

type GroupDraft = Pick<GroupRecord, 'name' | 'is_collapsed'> & { description: string }
type GroupUpdate = NonNullable<OperationArguments<'updateStatusPageGroup'>['body']>

export const toGroupForm = ({ name, description, is_collapsed }: GroupRecord): GroupDraft => ({
  ...{ name, description: description ?? '', is_collapsed },
})

/** The fields that differ from a stored group; null without a difference. */
export function toGroupUpdate(stored: GroupRecord, form: GroupDraft): GroupUpdate | null {
  const body: GroupUpdate = {
    ...(form.name !== stored.name && { name: form.name }),
    ...(form.description !== (stored.description ?? '') && { description: form.description }),
    ...(form.is_collapsed !== stored.is_collapsed && { is_collapsed: form.is_collapsed }),
  }
  return Object.keys(body).length === 0 ? null : body
}

/** Renames a group, and whether visitors see it folded. */
export function GroupForm({ pageId, group, onDone }: { pageId: string; group: GroupRecord; onDone(): void }) {
  const { execute } = useFrame()
  const path = { id: pageId, gid: group.id }
  const editing = useStoredForm(group, {
    toForm: toGroupForm,
    toBody: toGroupUpdate,
    read: () => execute('readStatusPageGroup', { path }),
    send: (body, headers) => execute('updateStatusPageGroup', { path, body, headers }),
  })
  const { form, body, change, attempt } = editing
  const element = useFocusOnError(attempt.error)
  const errors = buildFormErrors(attempt.error?.details ?? [], group.id)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (await editing.save()) onDone()
  }
  return (
    <form class="stack item-form" ref={element} noValidate onSubmit={submit}>
      <ForeignChange what="this group" form={editing} />
      <TextField path="name" label="Name" value={form.name} errors={errors} onChange={name => change({ name })} />
      <TextField
        path="description"
        label="Description"
        value={form.description}
        errors={errors}
        onChange={description => change({ description })}
      />
      <CheckField
        path="is_collapsed"
        label="Folded at first"
        hint="Visitors see its worst status and open it with a click."
        value={form.is_collapsed}
        errors={errors}
        onChange={is_collapsed => change({ is_collapsed })}
      />
      <FormMessages error={attempt.error} shown={['name', 'description', 'is_collapsed']} />
      <div class="actions">
        <button type="submit" class="main" disabled={!editing.canSave}>
          Save the group
        </button>
        <button type="button" onClick={onDone}>
          Cancel
        </button>
      </div>
      {body && <AsCall call={call('updateStatusPageGroup', { path, body })} />}
      <DeleteItem
        what="group"
        consequences="Its components stay on the page, without a group."
        call={call('deleteStatusPageGroup', { path })}
        onDone={onDone}
      />
    </form>
  )
}
