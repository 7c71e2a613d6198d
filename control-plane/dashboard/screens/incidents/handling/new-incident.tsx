import { useState } from 'preact/hooks'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { FRAME_READS } from '../../../core/frame-reads.ts'
import { call, type OperationArguments } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { AsCall, NeedsScript } from '../../../parts/calls/as-call.tsx'
import { useAttempt, useFocusOnError } from '../../../parts/forms/attempt.ts'
import { buildFormErrors } from '../../../parts/forms/field-errors.ts'
import { SelectField, TextAreaField } from '../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../parts/forms/leave-question.ts'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { type Incident, STATUS_NAMES } from '../incident-words.tsx'
import { Visibility } from '../update-form.tsx'
import { IncidentFields, type IncidentForm, SHOWN_FIELDS } from './incident-fields.tsx'
import { TemplateChoice, UpdatePreview } from './update-tools.tsx'

type NewForm = IncidentForm & { status: Incident['status']; message: string; isInternal: boolean }

const EMPTY: NewForm = {
  ...{ title: '', severity: 'minor', monitors: [], status: 'investigating', message: '', isInternal: false },
}
const STATUSES = Object.entries(STATUS_NAMES) as [Incident['status'], string][]

const EXAMPLE = call('createIncident', { body: { title: 'Checkout is slow', message: 'We are looking into it.' } })

/** `/incidents/new` */
export const newIncidentScreen = screen({
  path: '/incidents/new',
  area: 'incidents',
  queries: () => ({ ...FRAME_READS }),
  title: () => 'Open an incident',
  Body: () => {
    const { me } = useFrame()
    return (
      <>
        <p class="trail">
          <a href="/incidents">Incidents</a>
        </p>
        <h1>Open an incident</h1>
        <NeedsScript what="Opening an incident" call={EXAMPLE} />
        {canWrite(me) ? <NewIncident /> : <NeedsRole what="Opening an incident" needed="editor" />}
      </>
    )
  },
})

/** The body of the request. The API says what is missing. */
export function toIncidentBody({
  monitors,
  isInternal,
  ...form
}: NewForm): OperationArguments<'createIncident'>['body'] {
  return {
    ...form,
    title: form.title.trim(),
    monitor_ids: monitors.map(({ id }) => id),
    ...(isInternal && form.message !== '' && { is_internal: true }),
  }
}

function NewIncident() {
  const { execute, navigate, isInteractive } = useFrame()
  const [form, setForm] = useState(EMPTY)
  const attempt = useAttempt()
  const [isDone, setDone] = useState(false)
  const element = useFocusOnError(attempt.error)
  useLeaveQuestion(form !== EMPTY && !isDone)
  const errors = buildFormErrors(attempt.error?.details ?? [])
  const change = (part: Partial<NewForm>) => setForm(current => ({ ...current, ...part }))
  const body = toIncidentBody(form)
  const { status, message, isInternal, monitors } = form
  const submit = async (event: Event) => {
    event.preventDefault()
    const made = await attempt.run(() => execute('createIncident', { body }))
    if (!made) return
    setDone(true)
    navigate(`/incidents/${made.data.id}`)
  }
  const draft = { ...form, id: null, monitor_ids: monitors.map(({ id }) => id), started_at: null, resolved_at: null }
  return (
    <form class="setup" ref={element} noValidate onSubmit={submit}>
      <fieldset class="plain stack" disabled={!isInteractive}>
        <TemplateChoice
          onChoose={template =>
            change({
              message: template.message,
              ...(template.title !== null && { title: template.title }),
              ...(template.severity !== null && { severity: template.severity }),
              ...(template.status !== null && { status: template.status }),
            })
          }
        />
        <IncidentFields {...{ form, errors, change }} />
        <SelectField
          {...{ path: 'status', label: 'Status', value: status, options: STATUSES, errors }}
          onChange={value => change({ status: value })}
        />
        <TextAreaField
          {...{ path: 'message', label: 'First update', value: message, errors, rows: 5 }}
          hint="What people notice, and what you do about it. Can be empty."
          onChange={value => change({ message: value })}
        />
        {message !== '' && <Visibility isInternal={isInternal} onChange={value => change({ isInternal: value })} />}
        <FormMessages error={attempt.error} shown={SHOWN_FIELDS} />
        <div class="actions">
          <button type="submit" class="main" disabled={attempt.isBusy}>
            Open the incident
          </button>
        </div>
        <AsCall call={call('createIncident', { body })} />
      </fieldset>
      <aside class="consequences" aria-label="Visible to others">
        <h2>Visible to others</h2>
        <UpdatePreview incident={draft} timeline={null} update={isInternal ? null : { message, status }} />
        <p class="soft small">
          Your channels get <code>incident.created</code>. Subscribers of the pages get a message.
        </p>
      </aside>
    </form>
  )
}
