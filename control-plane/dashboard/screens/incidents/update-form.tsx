import { useState } from 'preact/hooks'
import type { IncidentStatus } from '../../../verdict/incidents/lifecycle.ts'
import { call } from '../../core/operations.ts'
import { AsCall } from '../../parts/calls/as-call.tsx'
import { useLeaveQuestion } from '../../parts/forms/leave-question.ts'
import { FormError, OperationForm } from '../../parts/forms/operation-form.tsx'
import { useLazyPart } from '../../parts/layout/lazy-part.tsx'
import type { Timeline } from './axis/axis.ts'
import { type Incident, STATUS_NAMES } from './incident-words.tsx'

const loadChoice = async () => (await import('./handling/update-tools.tsx')).TemplateChoice
const loadPreview = async () => (await import('./handling/update-tools.tsx')).UpdatePreview

const MAX_LENGTH = 10_000

/** A message about the incident, with what visitors of the status pages will see of it. */
export function UpdateForm({ incident, timeline }: { incident: Incident; timeline: Timeline | null }) {
  const { id, status: current } = incident
  const [message, setMessage] = useState('')
  // null: the current one, also when it changes while the message is written
  const [chosen, setStatus] = useState<IncidentStatus | null>(null)
  const [isInternal, setInternal] = useState(false)
  useLeaveQuestion(message !== '' || chosen !== null)
  const status = chosen ?? current
  const Choice = useLazyPart(loadChoice)
  const Preview = useLazyPart(loadPreview)
  const body = { message, status, is_internal: isInternal }
  return (
    <OperationForm
      class="stack"
      action={`/incidents/${id}/updates`}
      call={call('createIncidentUpdate', { path: { id }, body })}
      onDone={() => {
        // what was typed meanwhile stays
        setMessage(now => (now === message ? '' : now))
        setStatus(now => (now === chosen ? null : now))
      }}
    >
      {({ isBusy, error }) => (
        <>
          {Choice && (
            <Choice
              onChoose={template => {
                setMessage(template.message)
                setStatus(template.status)
              }}
            />
          )}
          <div class="field">
            <label for="message">Message</label>
            <textarea
              id="message"
              name="message"
              rows={4}
              required
              maxLength={MAX_LENGTH}
              value={message}
              aria-invalid={error !== null}
              onInput={event => setMessage(event.currentTarget.value)}
            />
            <FormError error={error} />
          </div>
          <div class="field">
            <label for="status">Status of the incident</label>
            <select id="status" name="status" onInput={event => setStatus(event.currentTarget.value as IncidentStatus)}>
              {Object.entries(STATUS_NAMES).map(([value, name]) => (
                <option key={value} value={value} selected={value === status}>
                  {name}
                </option>
              ))}
            </select>
          </div>
          <Visibility isInternal={isInternal} onChange={setInternal} />
          {message.trim() !== '' && <AsCall call={call('createIncidentUpdate', { path: { id }, body })} />}
          {Preview && <Preview {...{ incident, timeline }} update={isInternal ? null : { message, status }} />}
          <div class="actions">
            <button type="submit" class="main" disabled={isBusy}>
              Add the update
            </button>
          </div>
        </>
      )}
    </OperationForm>
  )
}

/** Who sees an update. */
export const Visibility = ({ isInternal, onChange }: { isInternal: boolean; onChange(isInternal: boolean): void }) => (
  <fieldset class="field">
    <legend class="label">Who sees it</legend>
    <label class="choice">
      <input type="radio" name="visibility" value="public" checked={!isInternal} onInput={() => onChange(false)} />
      Everyone: status pages, their subscribers, and your channels
    </label>
    <label class="choice">
      <input type="radio" name="visibility" value="internal" checked={isInternal} onInput={() => onChange(true)} />
      Your team only: this page and your channels
    </label>
  </fieldset>
)
