import { useState } from 'preact/hooks'
import { formatCount } from '../../../core/format.ts'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt, useFocusOnError } from '../../../parts/forms/attempt.ts'
import { DeleteForm } from '../../../parts/forms/delete-form.tsx'
import { buildFormErrors, toFormError } from '../../../parts/forms/field-errors.ts'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../parts/forms/leave-question.ts'
import { Facts, Section } from '../../../parts/layout/section.tsx'
import { Moment } from '../../../parts/moment.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { Consequences } from './consequences.tsx'
import { describeCron } from './recurrence.ts'
import { WindowFields } from './window-fields.tsx'
import { findWindowProblems, SHOWN_FIELDS, toWindowBody, toWindowForm, toWindowUpdate } from './window-form.ts'
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
    const { me, timeZone, isInteractive, execute, navigate } = useFrame()
    const window = results.window.data!.data
    const { id, title } = window
    return (
      <>
        <p class="trail">
          <a href="/maintenance">Maintenance</a>
        </p>
        <h1 dir="auto">{title}</h1>
        <State window={window} />
        {canWrite(me) && isInteractive ? (
          <WindowSettings key={`${id} ${timeZone}`} window={window} timeZone={timeZone} />
        ) : (
          <Settings window={window} />
        )}
        {canWrite(me) ? (
          <Section id="delete" title="Delete">
            <DeleteForm
              what="window"
              name={title}
              consequences={describeDeletion(window)}
              remove={() => execute('deleteMaintenanceWindow', { path: { id } })}
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

function WindowSettings({ window, timeZone }: { window: WindowRecord; timeZone: string }) {
  const { execute, nowMs } = useFrame()
  const [base, setBase] = useState(window)
  const [form, setForm] = useState(() => toWindowForm(window, timeZone))
  const [isSaved, setSaved] = useState(false)
  const attempt = useAttempt()
  const element = useFocusOnError(attempt.error)
  const body = toWindowUpdate(base, form, timeZone)
  useLeaveQuestion(body !== null)
  const load = (record: WindowRecord) => {
    setBase(record)
    setForm(toWindowForm(record, timeZone))
  }
  // a change of another person: its fields would be overwritten silently
  const isForeign = window.updated_at > base.updated_at && !attempt.isBusy
  const submit = async (event: Event) => {
    event.preventDefault()
    setSaved(false)
    if (!body) return
    const isRescheduled = SCHEDULE_FIELDS.some(name => name in body)
    const problems = findWindowProblems(toWindowBody(form, timeZone), new Date(nowMs))
    const own = problems.filter(({ path }) => isRescheduled || !SCHEDULE_FIELDS.some(name => name === path))
    const problem = toFormError(own)
    if (problem) return attempt.setError(problem)
    const saved = await attempt.run(() => execute('updateMaintenanceWindow', { path: { id: window.id }, body }))
    if (!saved) return
    load(saved.data)
    setSaved(true)
  }
  return (
    <form class="setup" ref={element} noValidate onSubmit={submit}>
      <div class="stack">
        {isForeign && (
          <p class="missing" role="status">
            Another person changed this window.{' '}
            <button type="button" class="plain" onClick={() => load(window)}>
              Show the saved settings
            </button>
            . Saving keeps their changes of other fields.
          </p>
        )}
        <WindowFields
          form={form}
          errors={buildFormErrors(attempt.error?.details ?? [])}
          timeZone={timeZone}
          change={part => {
            setSaved(false)
            attempt.setError(null)
            setForm(current => ({ ...current, ...part }))
          }}
        />
        <FormMessages error={attempt.error} shown={SHOWN_FIELDS} />
        <div class="actions">
          <button type="submit" class="main" disabled={attempt.isBusy || body === null}>
            Save the changes
          </button>
          <span role="status">{isSaved && 'Saved.'}</span>
        </div>
      </div>
      <div class="consequences">
        <Consequences form={form} timeZone={timeZone} />
        {body && <AsCall call={call('updateMaintenanceWindow', { path: { id: window.id }, body })} />}
      </div>
    </form>
  )
}
