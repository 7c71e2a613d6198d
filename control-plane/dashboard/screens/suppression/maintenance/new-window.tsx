import { useEffect, useState } from 'preact/hooks'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { FRAME_READS } from '../../../core/frame-reads.ts'
import { call } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { AsCall, NeedsScript } from '../../../parts/calls/as-call.tsx'
import { useAttempt, useFocusOnError } from '../../../parts/forms/attempt.ts'
import { buildFormErrors, toFormError } from '../../../parts/forms/field-errors.ts'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../parts/forms/leave-question.ts'
import { readChosenMonitors } from '../../../parts/monitors/chosen-monitors.ts'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { Consequences } from './consequences.tsx'
import { readProposedTimes } from './proposed-times.ts'
import { WindowFields } from './window-fields.tsx'
import { findWindowProblems, moveToZone, SHOWN_FIELDS, startForm, toWindowBody } from './window-form.ts'

const EXAMPLE = call('createMaintenanceWindow', {
  body: {
    ...{ title: 'Database upgrade', monitor_ids: ['…'] },
    ...{ starts_at: '2027-03-01T09:00:00Z', ends_at: '2027-03-01T11:00:00Z' },
  },
})

/** `/maintenance/new?starts_at=2027-03-01T09:00:00Z&ends_at=2027-03-01T11:00:00Z` */
export const newWindowScreen = screen({
  path: '/maintenance/new',
  area: 'incidents',
  queries: () => ({ ...FRAME_READS }),
  title: () => 'New maintenance window',
  Body: ({ search }) => {
    const { me, isInteractive } = useFrame()
    return (
      <>
        <p class="trail">
          <a href="/maintenance">Maintenance</a>
        </p>
        <h1>New maintenance window</h1>
        <NeedsScript what="Planning maintenance" call={EXAMPLE} />
        <NeedsRole what="Planning maintenance" needed="editor" />
        {canWrite(me) && isInteractive && <NewWindow key={search.toString()} search={search} />}
      </>
    )
  },
})

function NewWindow({ search }: { search: URLSearchParams }) {
  const { execute, navigate, nowMs, timeZone } = useFrame()
  const [proposed] = useState(() => readProposedTimes(search, new Date(nowMs)))
  const [start] = useState(() => ({
    ...startForm(nowMs, timeZone, proposed.times ?? undefined),
    monitorIds: readChosenMonitors(search),
  }))
  const [form, setForm] = useState(start)
  const [isCreated, setCreated] = useState(false)
  const attempt = useAttempt()
  const element = useFocusOnError(attempt.error)
  useLeaveQuestion(!isCreated && JSON.stringify(form) !== JSON.stringify(moveToZone(start, form.zone)))
  useEffect(() => setForm(current => moveToZone(current, timeZone)), [timeZone])
  const body = toWindowBody(form)
  const submit = async (event: Event) => {
    event.preventDefault()
    const problem = toFormError(findWindowProblems(body, new Date(nowMs)))
    if (problem) return attempt.setError(problem)
    const created = await attempt.run(() => execute('createMaintenanceWindow', { body }))
    if (!created) return
    setCreated(true)
    navigate(`/maintenance/${created.data.id}`)
  }
  return (
    <form class="setup" ref={element} noValidate onSubmit={submit}>
      <div class="stack">
        {proposed.problem && (
          <p class="missing" role="status">
            The begin and end in the address are not used: {proposed.problem}.
          </p>
        )}
        <WindowFields
          form={form}
          errors={buildFormErrors(attempt.error?.details ?? [])}
          change={part => {
            attempt.setError(null)
            setForm(current => ({ ...current, ...part }))
          }}
        />
        <FormMessages error={attempt.error} shown={SHOWN_FIELDS} />
        <div class="actions">
          <button type="submit" class="main" disabled={attempt.isBusy}>
            Create the window
          </button>
        </div>
      </div>
      <div class="consequences">
        <Consequences form={form} />
        <AsCall call={call('createMaintenanceWindow', { body })} />
      </div>
    </form>
  )
}
