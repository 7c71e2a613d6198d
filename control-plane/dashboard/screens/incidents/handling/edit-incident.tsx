import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { AsCall, NeedsScript } from '../../../parts/calls/as-call.tsx'
import { useFocusOnError } from '../../../parts/forms/attempt.ts'
import { DeleteForm } from '../../../parts/forms/delete-form.tsx'
import { buildFormErrors } from '../../../parts/forms/field-errors.ts'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { ForeignChange } from '../../../parts/forms/stored/foreign-change.tsx'
import { useStoredForm } from '../../../parts/forms/stored/stored-form.ts'
import { Section } from '../../../parts/layout/section.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import type { Incident } from '../incident-words.tsx'
import { IncidentFields, type IncidentForm, SHOWN_FIELDS, toIncidentChange } from './incident-fields.tsx'

/** `/incidents/:id/edit` */
export const editIncidentScreen = screen({
  path: '/incidents/:id/edit',
  area: 'incidents',
  record: 'incident',
  queries: ({ params: { id = '' } }) => ({ incident: read('readIncident', { path: { id } }) }),
  title: ({ results }) => `Edit ${results.incident.data!.data.title}`,
  Body: ({ results }) => {
    const { me, navigate } = useFrame()
    const incident = results.incident.data!.data
    const { id, title } = incident
    return (
      <>
        <p class="trail">
          <a href="/incidents">Incidents</a> /{' '}
          <a href={`/incidents/${id}`} dir="auto">
            {title}
          </a>
        </p>
        <h1>Edit the incident</h1>
        <NeedsScript what="Changing an incident" call={call('updateIncident', { path: { id }, body: { title } })} />
        <NeedsRole what="Changing the incident" needed="editor" />
        <EditForm key={id} incident={incident} />
        {canWrite(me) && (
          <Section id="delete" title="Delete">
            <DeleteForm
              what="incident"
              name={title}
              consequences="Its updates and its post-mortem are deleted too, also from status pages. No notification is sent. This cannot be undone."
              call={call('deleteIncident', { path: { id } })}
              onDone={() => navigate('/incidents')}
            />
          </Section>
        )}
      </>
    )
  },
})

const toForm = ({ title, severity, monitors }: Incident): IncidentForm => ({
  title,
  severity,
  monitors: monitors.map(({ id, name }) => ({ id, name })),
})

function EditForm({ incident }: { incident: Incident }) {
  const { me, execute, navigate, isInteractive } = useFrame()
  const path = { id: incident.id }
  const editing = useStoredForm(incident, {
    toForm,
    toBody: toIncidentChange,
    read: () => execute('readIncident', { path }),
    send: (body, headers) => execute('updateIncident', { path, body, headers }),
  })
  const { form, body, change, attempt } = editing
  const element = useFocusOnError(attempt.error)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (await editing.save()) navigate(`/incidents/${incident.id}`)
  }
  return (
    <form class="setup" ref={element} noValidate onSubmit={submit}>
      <fieldset class="plain stack" disabled={!isInteractive || !canWrite(me)}>
        <ForeignChange what="this incident" form={editing} />
        <IncidentFields form={form} errors={buildFormErrors(attempt.error?.details ?? [])} change={change} />
        <p class="soft small">
          A new severity adds an internal update and sends <code>incident.updated</code>. A new title or other monitors
          send nothing.
        </p>
        <FormMessages error={attempt.error} shown={SHOWN_FIELDS} />
        {canWrite(me) && (
          <div class="actions">
            <button type="submit" class="main" disabled={!editing.canSave}>
              Save the changes
            </button>
          </div>
        )}
        {body !== null && <AsCall call={call('updateIncident', { path, body })} />}
      </fieldset>
    </form>
  )
}
