import { useState } from 'preact/hooks'
import { canWrite, useFrame } from '../../../../core/frame-context.ts'
import { call, type OperationResponse } from '../../../../core/operations.ts'
import { AsCall } from '../../../../parts/calls/as-call.tsx'
import { useAttempt } from '../../../../parts/forms/attempt.ts'
import { buildFormErrors } from '../../../../parts/forms/field-errors.ts'
import { FormMessages } from '../../../../parts/forms/form-messages.tsx'
import { MonitorChoice } from '../../../../parts/monitors/monitor-choice.tsx'

type Parents = OperationResponse<'listMonitorParents'>['data']

const MAX_PARENTS = 10
const PATH = 'parent_ids'

/** The monitors on which a monitor depends. They are saved on their own, because they are not settings of the monitor. */
export function ParentFields({ stored }: { stored: Parents }) {
  const { me, execute, isInteractive } = useFrame()
  const [ids, setIds] = useState<readonly string[]>(stored.parent_ids)
  const [isSaved, setSaved] = useState(false)
  const attempt = useAttempt()
  if (!canWrite(me)) return <Names parents={stored} />
  const isChanged = [...ids].sort().join() !== stored.parent_ids.toSorted().join()
  const args = { path: { id: stored.monitor_id }, body: { parent_ids: [...ids] } }
  const save = async (event: Event) => {
    event.preventDefault()
    const saved = await attempt.run(() => execute('updateMonitorParents', args))
    setSaved(saved !== null)
  }
  return (
    <form class="stack" onSubmit={save} noValidate>
      <MonitorChoice
        path={PATH}
        legend="Depends on"
        hint={`At most ${MAX_PARENTS}. While one of them is down, an outage of this monitor is recorded and sends no alert.`}
        max={MAX_PARENTS}
        exceptId={stored.monitor_id}
        ids={ids}
        errors={buildFormErrors(attempt.error?.details ?? [])}
        onChange={next => {
          setSaved(false)
          setIds(next)
        }}
      />
      <FormMessages error={attempt.error} shown={[PATH]} />
      <div class="actions">
        <button type="submit" disabled={!isInteractive || attempt.isBusy || !isChanged}>
          Save the parents
        </button>
      </div>
      <p class="soft" role="status">
        {isSaved && 'Saved.'}
      </p>
      {isChanged && <AsCall call={call('updateMonitorParents', args)} />}
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
