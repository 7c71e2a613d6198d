import { useState } from 'preact/hooks'
import { useFrame } from '../../../core/frame-context.ts'
import { call, type OperationResponse } from '../../../core/operations.ts'
import { AsCall, NeedsScript } from '../../../parts/calls/as-call.tsx'
import { Secret } from '../../../parts/copy-button.tsx'
import { useAttempt, useFocusOnError } from '../../../parts/forms/attempt.ts'
import { buildFormErrors } from '../../../parts/forms/field-errors.ts'
import { SelectField, TextField } from '../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../parts/forms/leave-question.ts'

type CreatedKey = OperationResponse<'createApiKey'>['data']
type Scope = CreatedKey['scope']

const SCOPES: readonly (readonly [scope: Scope, name: string])[] = [
  ['read', 'Read: sees everything'],
  ['write', 'Write: also changes monitors, alerts and pages'],
  ['admin', 'Admin: also keys, members and the audit log'],
]

/** Creates a key. The page keeps it until the person has copied it, because it cannot be shown again. */
export function NewKeyForm() {
  const { execute, isInteractive } = useFrame()
  const [name, setName] = useState('')
  const [scope, setScope] = useState<Scope>('read')
  const [created, setCreated] = useState<CreatedKey | null>(null)
  const attempt = useAttempt()
  const element = useFocusOnError(attempt.error)
  const errors = buildFormErrors(attempt.error?.details ?? [])
  useLeaveQuestion(name !== '')
  const body = { name: name.trim(), scope }
  const submit = async (event: Event) => {
    event.preventDefault()
    const answer = await attempt.run(() => execute('createApiKey', { body }))
    if (!answer) return
    setCreated(answer.data)
    setName('')
  }
  if (created)
    return (
      <div class="stack created">
        <p role="status">
          The API key <b dir="auto">{created.name}</b> is created, with the scope {created.scope}.
        </p>
        <Secret label="The API key. It is shown only now, and cannot be shown again." value={created.key} />
        <div class="actions">
          <button type="button" class="main" onClick={() => setCreated(null)}>
            I have copied it
          </button>
        </div>
      </div>
    )
  const creation = call('createApiKey', { body })
  return (
    <>
      <NeedsScript what="Creating API keys" call={creation} />
      <form class="stack scripted" ref={element} noValidate onSubmit={submit}>
        <fieldset class="plain stack" disabled={!isInteractive}>
          <TextField
            path="name"
            label="Name"
            hint="the program that will use it, such as Deployment"
            isRequired
            errors={errors}
            value={name}
            onChange={setName}
          />
          <SelectField
            path="scope"
            label="Scope"
            errors={errors}
            value={scope}
            options={SCOPES}
            onChange={one => setScope(one)}
          />
          <FormMessages error={attempt.error} shown={['name', 'scope']} />
          <div class="actions">
            <button type="submit" class="main" disabled={attempt.isBusy}>
              Create the key
            </button>
          </div>
        </fieldset>
        <AsCall call={creation} />
      </form>
    </>
  )
}
