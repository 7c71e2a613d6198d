import { DurationField } from '../../../parts/forms/duration-field.tsx'
import type { FormErrors } from '../../../parts/forms/field-errors.ts'
import { CheckField, FieldError, FieldGroup, SelectField, TextField } from '../../../parts/forms/fields.tsx'
import { MAX_WINDOW_MONITORS } from '../../../parts/monitors/chosen-monitors.ts'
import { MonitorChoice } from '../../../parts/monitors/monitor-choice.tsx'
import { REPEATS, type Recurrence, WEEKDAYS } from './recurrence.ts'
import { notifies, type WindowForm } from './window-form.ts'

type WindowFieldProps = {
  form: WindowForm
  errors: FormErrors
  change(part: Partial<WindowForm>): void
}

/** All fields of a window: what it is, its monitors, when, and what subscribers get. */
export const WindowFields = (props: WindowFieldProps) => {
  const { form, errors, change } = props
  return (
    <>
      <TextField
        path="title"
        label="Title"
        hint="Visitors of status pages see it."
        value={form.title}
        errors={errors}
        isRequired
        onChange={title => change({ title })}
      />
      <div class="field">
        <label for="field-description">What happens (optional)</label>
        <textarea
          id="field-description"
          name="description"
          rows={3}
          dir="auto"
          value={form.description}
          aria-describedby="field-description-hint"
          onInput={event => change({ description: event.currentTarget.value })}
        />
        <small id="field-description-hint">Shown on status pages and in the notices.</small>
        <FieldError path="description" errors={errors} />
      </div>
      <MonitorChoice
        path="monitor_ids"
        legend="Monitors"
        hint="The window has the monitors that are chosen now; monitors that match later are not added."
        max={MAX_WINDOW_MONITORS}
        ids={form.monitorIds}
        errors={errors}
        onChange={monitorIds => change({ monitorIds })}
      />
      <Kind {...props} />
      {form.isRecurring ? <Recurring {...props} /> : <OnePeriod {...props} />}
      <Notices {...props} />
    </>
  )
}

const Kind = ({ form, change }: WindowFieldProps) => (
  <fieldset class="types">
    <legend>When</legend>
    <div>
      {([false, true] as const).map(isRecurring => (
        <label key={String(isRecurring)}>
          <input
            type="radio"
            name="kind"
            checked={form.isRecurring === isRecurring}
            onChange={() => change({ isRecurring })}
          />
          <span>
            <b>{isRecurring ? 'Recurring' : 'Once'}</b>
            <small>{isRecurring ? 'Each period follows a schedule' : 'From one time to another'}</small>
          </span>
        </label>
      ))}
    </div>
  </fieldset>
)

const Times = ({
  zone,
  errors,
  labels,
  times,
  onChange,
}: {
  zone: string
  errors: FormErrors
  labels: [string, string]
  times: [string, string]
  onChange(times: [string, string]): void
}) => (
  <div class="pair">
    <TextField
      path="starts_at"
      label={labels[0]}
      type="datetime-local"
      hint={zone}
      value={times[0]}
      errors={errors}
      onChange={from => onChange([from, times[1]])}
    />
    <TextField
      path="ends_at"
      label={labels[1]}
      type="datetime-local"
      hint="At most 7 days long"
      value={times[1]}
      errors={errors}
      onChange={to => onChange([times[0], to])}
    />
  </div>
)

const OnePeriod = ({ form: { zone, startsAt, endsAt }, errors, change }: WindowFieldProps) => (
  <Times
    {...{ zone, errors, labels: ['Begins', 'Ends'], times: [startsAt, endsAt] }}
    onChange={([from, to]) => change({ startsAt: from, endsAt: to })}
  />
)

function Recurring(props: WindowFieldProps) {
  const { form, errors, change } = props
  const { zone, notBefore, notAfter } = form
  const isBounded = notBefore !== '' || notAfter !== ''
  return (
    <>
      <RecurrenceFields {...props} />
      <DurationField
        path="duration_minutes"
        label="Lasts"
        hint="At most 7 days, and shorter than the time to the next period"
        value={form.duration}
        errors={errors}
        onChange={duration => change({ duration })}
      />
      <TextField
        path="time_zone"
        label="Time zone"
        hint="An IANA name, such as Europe/Berlin. The schedule follows its daylight saving time."
        value={form.timeZone}
        errors={errors}
        onChange={timeZone => change({ timeZone })}
      />
      <FieldGroup
        title="Only between two times"
        summary={isBounded ? 'set' : 'no limits'}
        isOpen={isBounded || errors.isBelow(['starts_at', 'ends_at'])}
      >
        <Times
          {...{ zone, errors, labels: ['Not before', 'Not after'], times: [notBefore, notAfter] }}
          onChange={([from, to]) => change({ notBefore: from, notAfter: to })}
        />
      </FieldGroup>
    </>
  )
}

/** How often, and when. */
function RecurrenceFields({ form, errors, change }: WindowFieldProps) {
  const set = (part: Partial<Recurrence>) => change({ recurrence: { ...form.recurrence, ...part } })
  const { repeat, time, weekday, day, cron } = form.recurrence
  return (
    <div class="pair">
      <SelectField
        path="repeat"
        label="How often"
        value={repeat}
        options={REPEATS}
        errors={errors}
        onChange={value => set({ repeat: value, ...(value === 'cron' && cron === '' && { cron: '0 2 * * 0' }) })}
      />
      {repeat === 'weekly' && (
        <SelectField
          path="weekday"
          label="Day"
          value={weekday}
          options={WEEKDAYS.map((name, i) => [String(i), name] as const)}
          errors={errors}
          onChange={value => set({ weekday: value })}
        />
      )}
      {repeat === 'monthly' && (
        <TextField
          path="day"
          label="Day of the month"
          type="number"
          value={day}
          errors={errors}
          onChange={value => set({ day: value })}
        />
      )}
      {repeat === 'cron' ? (
        <TextField
          path="cron"
          label="Cron expression"
          hint="Five fields: minute, hour, day, month, weekday"
          value={cron}
          errors={errors}
          onChange={value => set({ cron: value })}
        />
      ) : (
        <div class="field">
          <label for="field-time">Begins at</label>
          <input id="field-time" type="time" value={time} onInput={event => set({ time: event.currentTarget.value })} />
          <FieldError path="cron" errors={errors} />
        </div>
      )}
    </div>
  )
}

const Notices = ({ form, errors, change }: WindowFieldProps) => (
  <fieldset class="stack">
    <legend>Subscribers of status pages</legend>
    <CheckField
      path="notify_subscribers"
      label="Notify subscribers"
      hint={
        form.isRecurring
          ? 'Each period sends up to three messages: announced, begun, ended. One more when its time changes or when it is cancelled.'
          : 'Three messages: announced, begun, ended. One more when its time changes or when it is deleted.'
      }
      value={notifies(form)}
      errors={errors}
      onChange={notifySubscribers => change({ notifySubscribers })}
    />
    {notifies(form) && (
      <DurationField
        path="announce_minutes"
        label="Announce it this long before"
        hint="0: no announcement. At most 30 days. When less time is left, it is announced at once."
        value={form.announce}
        errors={errors}
        onChange={announce => change({ announce })}
      />
    )}
  </fieldset>
)
