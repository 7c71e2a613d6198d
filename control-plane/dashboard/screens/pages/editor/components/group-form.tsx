import { useState } from 'preact/hooks'
import { useFrame } from '../../../../core/frame-context.ts'
import { call } from '../../../../core/operations.ts'
import { AsCall } from '../../../../parts/calls/as-call.tsx'
import { useAttempt, useFocusOnError } from '../../../../parts/forms/attempt.ts'
import { buildFormErrors } from '../../../../parts/forms/field-errors.ts'
import { CheckField, TextField } from '../../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../../parts/forms/leave-question.ts'
import type { GroupRecord } from './arrangement.ts'
import { DeleteItem } from './delete-item.tsx'

/** Renames a group, and whether visitors see it folded. */
export function GroupForm({ pageId, group, onDone }: { pageId: string; group: GroupRecord; onDone(): void }) {
  const { execute } = useFrame()
  const start = { name: group.name, description: group.description ?? '', is_collapsed: group.is_collapsed }
  const [form, setForm] = useState(start)
  const attempt = useAttempt()
  const element = useFocusOnError(attempt.error)
  const errors = buildFormErrors(attempt.error?.details ?? [])
  const isChanged = JSON.stringify(form) !== JSON.stringify(start)
  useLeaveQuestion(isChanged)
  const change = (part: Partial<typeof start>) => setForm(current => ({ ...current, ...part }))
  const path = { id: pageId, gid: group.id }
  const submit = async (event: Event) => {
    event.preventDefault()
    if (await attempt.run(() => execute('updateStatusPageGroup', { path, body: form }))) onDone()
  }
  return (
    <form class="stack item-form" ref={element} noValidate onSubmit={submit}>
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
        <button type="submit" class="main" disabled={attempt.isBusy || !isChanged}>
          Save the group
        </button>
        <button type="button" onClick={onDone}>
          Cancel
        </button>
      </div>
      {isChanged && <AsCall call={call('updateStatusPageGroup', { path, body: form })} />}
      <DeleteItem
        what="group"
        consequences="Its components stay on the page, without a group."
        remove={() => execute('deleteStatusPageGroup', { path })}
        onDone={onDone}
      />
    </form>
  )
}
