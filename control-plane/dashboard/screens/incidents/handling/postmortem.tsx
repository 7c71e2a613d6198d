import { useRef } from 'preact/hooks'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call, type OperationArguments, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { AsCall, NeedsScript } from '../../../parts/calls/as-call.tsx'
import { useFocusOnError } from '../../../parts/forms/attempt.ts'
import { buildFormErrors } from '../../../parts/forms/field-errors.ts'
import { CheckField, TextAreaField } from '../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { ForeignChange } from '../../../parts/forms/stored/foreign-change.tsx'
import { useStoredForm } from '../../../parts/forms/stored/stored-form.ts'
import { useLazyPart } from '../../../parts/layout/lazy-part.tsx'
import { Failure } from '../../../parts/layout/states.tsx'
import { Moment } from '../../../parts/moment.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import type { Timeline } from '../axis/axis.ts'
import type { Incident } from '../incident-words.tsx'
import { proposePostmortem } from './postmortem-text.ts'
import { buildVisitorView, listPublicUpdates } from './visitor-view.ts'

/** `/incidents/:id/postmortem` */
export const postmortemScreen = screen({
  path: '/incidents/:id/postmortem',
  area: 'incidents',
  record: 'incident',
  queries: ({ params: { id = '' } }) => ({
    incident: read('readIncident', { path: { id } }),
    timeline: read('readIncidentTimeline', { path: { id } }),
  }),
  title: ({ results }) => `Post-mortem of ${results.incident.data!.data.title}`,
  Body: ({ results }) => {
    const { me } = useFrame()
    const incident = results.incident.data!.data
    const { id, title, postmortem, postmortem_published_at: at } = incident
    return (
      <>
        <p class="trail">
          <a href="/incidents">Incidents</a> /{' '}
          <a href={`/incidents/${id}`} dir="auto">
            {title}
          </a>
        </p>
        <h1>Post-mortem</h1>
        <p class="sentence">
          {postmortem === null ? (
            'Nothing is written yet.'
          ) : at === null ? (
            'A draft that only your team sees.'
          ) : (
            <>
              Published on <Moment at={at} />.
            </>
          )}
        </p>
        {canWrite(me) ? (
          <>
            <NeedsScript
              what="Writing a post-mortem"
              call={call('updateIncident', {
                path: { id },
                body: { postmortem: 'What happened, why, and what will change.' },
              })}
            />
            <Failure result={results.timeline} what="The updates for visitors" />
            <PostmortemForm key={id} incident={incident} timeline={results.timeline.data?.data ?? null} />
          </>
        ) : (
          <>
            <NeedsRole what="Writing a post-mortem" needed="editor" />
            {postmortem !== null && (
              <p class="message" dir="auto">
                {postmortem}
              </p>
            )}
          </>
        )}
      </>
    )
  },
})

type Form = { text: string; isPublished: boolean }

type Postmortem = Pick<Incident, 'postmortem' | 'postmortem_published_at'>

const toPostmortemForm = ({ postmortem, postmortem_published_at: at }: Postmortem): Form => ({
  text: postmortem ?? '',
  isPublished: at !== null,
})

/** The fields that differ from what is stored; null without a difference. */
export function toPostmortemChange(
  { postmortem, postmortem_published_at: at }: Postmortem,
  { text, isPublished }: Form,
): NonNullable<OperationArguments<'updateIncident'>['body']> | null {
  const next = text.trim() === '' ? null : text
  const change = {
    ...(next !== postmortem && { postmortem: next }),
    ...((isPublished && next !== null) !== (at !== null) && { is_postmortem_published: isPublished && next !== null }),
  }
  return Object.keys(change).length === 0 ? null : change
}

function PostmortemForm({ incident, timeline }: { incident: Incident; timeline: Timeline | null }) {
  const { execute, isInteractive } = useFrame()
  const { id, status, postmortem_published_at: at } = incident
  const editing = useStoredForm(incident, {
    toForm: toPostmortemForm,
    toBody: toPostmortemChange,
    read: () => execute('readIncident', { path: { id } }),
    send: (body, headers) => execute('updateIncident', { path: { id }, body, headers }),
  })
  const { form, body, change, attempt } = editing
  const element = useFocusOnError(attempt.error)
  const currentText = useRef(form.text)
  currentText.current = form.text
  // read again: an update that was added just now may be missing in the timeline of this page
  const propose = async () => {
    const latest = await attempt.run(() => execute('readIncidentTimeline', { path: { id } }))
    if (latest && currentText.current.trim() === '') change({ text: proposePostmortem(incident, latest.data) })
  }
  const submit = (event: Event) => {
    event.preventDefault()
    void editing.save()
  }
  const errors = buildFormErrors(attempt.error?.details ?? [])
  const isResolved = status === 'resolved'
  return (
    <form class="setup" ref={element} noValidate onSubmit={submit}>
      <fieldset class="plain stack" disabled={!isInteractive}>
        <ForeignChange what="this incident" form={editing} />
        <TextAreaField
          {...{ path: 'postmortem', label: 'Text', value: form.text, errors, rows: 18 }}
          hint="Plain text with line breaks, at most 10,000 characters."
          onChange={text => change({ text })}
        />
        {form.text.trim() === '' && (
          <div class="actions">
            <button type="button" disabled={attempt.isBusy} onClick={() => void propose()}>
              Propose a text with the timeline
            </button>
          </div>
        )}
        {isResolved ? (
          <CheckField
            {...{ path: 'is_postmortem_published', label: 'Show it on status pages', errors, value: form.isPublished }}
            hint="With the incident, for as long as pages show it, and in their feeds. Subscribers get no message."
            onChange={isPublished => change({ isPublished })}
          />
        ) : (
          <p class="soft">It can be published after the incident is resolved.</p>
        )}
        <FormMessages error={attempt.error} shown={['postmortem', 'is_postmortem_published']} />
        <div class="actions">
          <button type="submit" class="main" disabled={!editing.canSave}>
            {form.isPublished && at === null ? 'Save and publish' : 'Save'}
          </button>
          <span role="status">{editing.isSaved && 'Saved.'}</span>
        </div>
        {body !== null && <AsCall call={call('updateIncident', { path: { id }, body })} />}
      </fieldset>
      {isResolved && form.text.trim() !== '' && (
        <aside class="consequences" aria-label="What visitors see">
          <h2>What visitors see</h2>
          <Preview incident={incident} timeline={timeline} text={form.text} />
        </aside>
      )}
    </form>
  )
}

const loadPreview = async () => (await import('./visitor-preview.tsx')).VisitorPreview

function Preview({ incident, timeline, text }: { incident: Incident; timeline: Timeline | null; text: string }) {
  const Part = useLazyPart(loadPreview)
  const { postmortem_published_at: at } = incident
  return (
    Part && (
      <Part
        monitorIds={incident.monitor_ids}
        build={(components, nowMs) => ({
          ...buildVisitorView(incident, timeline ? listPublicUpdates(timeline) : [], null, components, nowMs),
          postmortem: { text, publishedAt: at ?? new Date(nowMs).toISOString() },
        })}
      />
    )
  )
}
