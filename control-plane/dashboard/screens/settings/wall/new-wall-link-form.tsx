import { useState } from 'preact/hooks'
import { parseBoardQuery } from '../../../core/board/board-query.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { call, type OperationResponse } from '../../../core/operations.ts'
import { AsCall, NeedsScript } from '../../../parts/calls/as-call.tsx'
import { Secret } from '../../../parts/copy-button.tsx'
import { useAttempt, useFocusOnError } from '../../../parts/forms/attempt.ts'
import { buildFormErrors, toFormError } from '../../../parts/forms/field-errors.ts'
import { TextField } from '../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../parts/forms/leave-question.ts'

type CreatedLink = OperationResponse<'createWallLink'>['data']

/** Creates a link. The page keeps it until the person has copied it, because it cannot be shown again. */
export function NewWallLinkForm() {
  const { execute, isInteractive, nowMs } = useFrame()
  const [name, setName] = useState('')
  const [query, setQuery] = useState('')
  const [created, setCreated] = useState<CreatedLink | null>(null)
  const attempt = useAttempt()
  const element = useFocusOnError(attempt.error)
  const errors = buildFormErrors(attempt.error?.details ?? [])
  useLeaveQuestion(name !== '' || query !== '')
  const body = { name: name.trim(), query: query.trim() }
  const submit = async (event: Event) => {
    event.preventDefault()
    const { problems } = parseBoardQuery(query, nowMs)
    const problem = toFormError(problems.map(message => ({ path: 'query', message })))
    if (problem) return attempt.setError(problem)
    const answer = await attempt.run(() => execute('createWallLink', { body }))
    if (!answer) return
    setCreated(answer.data)
    setName('')
    setQuery('')
  }
  if (created)
    return (
      <div class="stack created">
        <p role="status">
          The link <b dir="auto">{created.name}</b> is created.
        </p>
        <Secret
          label="Open this address on the screen. It is shown only now, and cannot be shown again."
          value={created.url}
        />
        <div class="actions">
          <button type="button" class="main" onClick={() => setCreated(null)}>
            I have copied it
          </button>
        </div>
      </div>
    )
  const creation = call('createWallLink', { body })
  return (
    <>
      <NeedsScript what="Creating links" call={creation} />
      <form class="stack scripted" ref={element} noValidate onSubmit={submit}>
        <fieldset class="plain stack" disabled={!isInteractive}>
          <TextField
            path="name"
            label="Name"
            hint="shown on the screen, such as Office"
            isRequired
            errors={errors}
            value={name}
            onChange={setName}
          />
          <TextField
            path="query"
            label="Monitors"
            hint="a query as in the list of monitors, such as tag:shop; empty for all monitors"
            errors={errors}
            value={query}
            onChange={setQuery}
          />
          <FormMessages error={attempt.error} shown={['name', 'query']} />
          <div class="actions">
            <button type="submit" class="main" disabled={attempt.isBusy}>
              Create the link
            </button>
          </div>
        </fieldset>
        <AsCall call={creation} />
      </form>
    </>
  )
}
