import { useEffect } from 'preact/hooks'
import { formatCount } from '../../../core/format.ts'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useFocusOnError } from '../../../parts/forms/attempt.ts'
import { DeleteForm } from '../../../parts/forms/delete-form.tsx'
import { buildFormErrors, toFormError } from '../../../parts/forms/field-errors.ts'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { ForeignChange } from '../../../parts/forms/stored/foreign-change.tsx'
import { useStoredForm } from '../../../parts/forms/stored/stored-form.ts'
import { Facts, Section } from '../../../parts/layout/section.tsx'
import { Moment } from '../../../parts/moment.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { Consequences } from './consequences.tsx'
import { describeCron } from './recurrence.ts'
import { WindowFields } from './window-fields.tsx'
import {
  findWindowProblems,
  moveToZone,
  SHOWN_FIELDS,
  toWindowBody,
  toWindowForm,
  toWindowUpdate,
} from './window-form.ts'
import type { WindowRecord } from './window-periods.ts'

const SCHEDULE_FIELDS = ['cron', 'duration_minutes', 'time_zone', 'starts_at', 'ends_at'] as const

/** `/maintenance/:id` */
export const windowSettingsScreen = screen({
  path: '/maintenance/:id',
  area: 'incidents',
  record: 'window',
  queries: ({ params: { id = '' } }) => ({ window: read('readMaintenanceWindow', { path: { id } }) }),
  title: ({ results }) => results.window.data!.data.title,
  Body: ({ results }) => {
    const { me, isInteractive, navigate } = useFrame()
    const window = results.window.data!.data
    const { id, title } = window
    return (
      <>
        <p class="trail">
          <a href="/maintenance">Maintenance</a>
        </p>
        <h1 dir="auto">{title}</h1>
        <State window={window} />
        {canWrite(me) && isInteractive ? <WindowSettings key={id} window={window} /> : <Settings window={window} />}
        {canWrite(me) ? (
          <Section id="delete" title="Delete">
            <DeleteForm
              what="window"
              name={title}
              consequences={describeDeletion(window)}
              call={call('deleteMaintenanceWindow', { path: { id } })}
              onDone={() => navigate('/maintenance')}
            />
          </Section>
        ) : (
          <NeedsRole what="Changing the window" needed="editor" />
        )}
      </>
    )
  },
})

const State = ({ window: { status, next_starts_at: next } }: { window: WindowRecord }) => (
  <p class="sentence">
    {status === 'active' && 'In progress. '}
    {status === 'ended' && 'Over. '}
    {next !== null && (
      <>
        {status === 'active' ? 'The next period begins' : 'It begins'} <Moment at={next} />.
      </>
    )}
  </p>
)

function describeDeletion({ status, notify_subscribers: notifies }: WindowRecord): string {
  const now = status === 'active' ? 'The current period ends at once, and alerts are sent again. ' : ''
  const sent =
    notifies && status !== 'ended'
      ? 'Subscribers who were notified of it get a message that it has ended or is cancelled. '
      : ''
  return `${now}${sent}Past maintenance stays in the uptime figures.`
}

/** For viewers: what the form would show. */
const Settings = ({ window }: { window: WindowRecord }) => (
  <Facts
    rows={[
      ['What happens', window.description && <span dir="auto">{window.description}</span>],
      ['Recurs', window.cron && `${describeCron(window.cron)} (${window.time_zone}), ${window.duration_minutes} min`],
      ['Begins', window.starts_at && <Moment at={window.starts_at} />],
      ['Ends', window.ends_at && <Moment at={window.ends_at} />],
      ['Monitors', formatCount(window.monitor_ids.length, 'monitor')],
      [
        'Subscribers',
        window.notify_subscribers ? `notified, announced ${window.announce_minutes} min before` : 'not notified',
      ],
    ]}
  />
)

function WindowSettings({ window }: { window: WindowRecord }) {
  const { execute, nowMs, timeZone } = useFrame()
  const path = { id: window.id }
  const editing = useStoredForm(window, {
    toForm: record => toWindowForm(record, timeZone),
    toBody: toWindowUpdate,
    read: () => execute('readMaintenanceWindow', { path }),
    send: (body, headers) => execute('updateMaintenanceWindow', { path, body, headers }),
  })
  const { form, body, change, attempt } = editing
  const element = useFocusOnError(attempt.error)
  useEffect(() => change(current => moveToZone(current, timeZone)), [timeZone])
  const submit = (event: Event) => {
    event.preventDefault()
    if (!body) return
    const isRescheduled = SCHEDULE_FIELDS.some(name => name in body)
    const problems = findWindowProblems(toWindowBody(form), new Date(nowMs))
    const own = problems.filter(({ path }) => isRescheduled || !SCHEDULE_FIELDS.some(name => name === path))
    const problem = toFormError(own)
    if (problem) return attempt.setError(problem)
    void editing.save()
  }
  return (
    <form class="setup" ref={element} noValidate onSubmit={submit}>
      <div class="stack">
        <ForeignChange what="this window" form={editing} />
        <WindowFields
          form={form}
          errors={buildFormErrors(attempt.error?.details ?? [])}
          change={part => {
            attempt.setError(null)
            change(part)
          }}
        />
        <FormMessages error={attempt.error} shown={SHOWN_FIELDS} />
        <div class="actions">
          <button type="submit" class="main" disabled={!editing.canSave}>
            Save the changes
          </button>
          <span role="status">{editing.isSaved && 'Saved.'}</span>
        </div>
      </div>
      <div class="consequences">
        <Consequences form={form} isStored={!editing.canSave} />
        {body && <AsCall call={call('updateMaintenanceWindow', { path, body })} />}
      </div>
    </form>
  )
}
