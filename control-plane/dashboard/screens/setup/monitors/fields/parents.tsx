import { canWrite, useFrame } from '../../../../core/frame-context.ts'
import { call, type OperationResponse } from '../../../../core/operations.ts'
import { AsCall } from '../../../../parts/calls/as-call.tsx'
import { buildFormErrors } from '../../../../parts/forms/field-errors.ts'
import { FormMessages } from '../../../../parts/forms/form-messages.tsx'
import { ForeignChange } from '../../../../parts/forms/stored/foreign-change.tsx'
import { useStoredForm } from '../../../../parts/forms/stored/stored-form.ts'
import { MonitorChoice } from '../../../../parts/monitors/monitor-choice.tsx'

type Parents = OperationResponse<'listMonitorParents'>['data']

const MAX_PARENTS = 10
const PATH = 'parent_ids'

type ParentForm = { ids: readonly string[] }

const toParentForm = ({ parent_ids }: Parents): ParentForm => ({ ids: parent_ids })

/** The whole list; null if it has the same monitors, whose order says nothing. */
const toParentUpdate = ({ parent_ids }: Parents, { ids }: ParentForm) =>
  ids.toSorted().join() === parent_ids.toSorted().join() ? null : { parent_ids: [...ids] }

/** The monitors on which a monitor depends. They are saved on their own, because they are not settings of the monitor. */
export function ParentFields({ stored }: { stored: Parents }) {
  const { me, execute, isInteractive } = useFrame()
  const path = { id: stored.monitor_id }
  const editing = useStoredForm(stored, {
    toForm: toParentForm,
    toBody: toParentUpdate,
    read: () => execute('listMonitorParents', { path }),
    send: body => execute('updateMonitorParents', { path, body }),
  })
  const { form, body, attempt } = editing
  if (!canWrite(me)) return <Names parents={stored} />
  const submit = (event: Event) => {
    event.preventDefault()
    void editing.save()
  }
  return (
    <form class="stack" onSubmit={submit} noValidate>
      <ForeignChange what="the parents" form={editing} />
      <MonitorChoice
        path={PATH}
        legend="Depends on"
        hint={`At most ${MAX_PARENTS}. While one of them is down, an outage of this monitor is recorded and sends no alert.`}
        max={MAX_PARENTS}
        exceptId={stored.monitor_id}
        ids={form.ids}
        errors={buildFormErrors(attempt.error?.details ?? [])}
        onChange={ids => editing.change({ ids })}
      />
      <FormMessages error={attempt.error} shown={[PATH]} />
      <div class="actions">
        <button type="submit" disabled={!isInteractive || !editing.canSave}>
          Save the parents
        </button>
      </div>
      <p class="soft" role="status">
        {editing.isSaved && 'Saved.'}
      </p>
      {body && <AsCall call={call('updateMonitorParents', { path, body })} />}
    </form>
  )
}

const Names = ({ parents: { parents } }: { parents: Parents }) =>
  parents.length === 0 ? (
    <p class="soft">It depends on no other monitor.</p>
  ) : (
    <ul>
      {parents.map(({ id, name }) => (
        <li key={id}>
          <a href={`/monitors/${id}`} dir="auto">
            {name}
          </a>
        </li>
      ))}
    </ul>
  )
