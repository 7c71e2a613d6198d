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
import { ROLE_OPTIONS, type Role } from './member-words.ts'

type NewInvitation = OperationResponse<'inviteMember'>['data']

const EMPTY: { email: string; name: string; role: Role } = { email: '', name: '', role: 'editor' }

/** Makes a person a member. A new account gets a link, which is shown once. */
export function InviteForm() {
  const { execute, isInteractive } = useFrame()
  const [form, setForm] = useState(EMPTY)
  const [invited, setInvited] = useState<NewInvitation | null>(null)
  const attempt = useAttempt()
  const element = useFocusOnError(attempt.error)
  const errors = buildFormErrors(attempt.error?.details ?? [])
  useLeaveQuestion(form.email !== '' || form.name !== '')
  const body = {
    email: form.email.trim(),
    ...(form.name.trim() !== '' && { name: form.name.trim() }),
    role: form.role,
  }
  const change = (part: Partial<typeof EMPTY>) => setForm({ ...form, ...part })
  const submit = async (event: Event) => {
    event.preventDefault()
    const answer = await attempt.run(() => execute('inviteMember', { body }))
    if (!answer) return
    setInvited(answer.data)
    // what was typed meanwhile stays
    setForm(current => (current === form ? EMPTY : current))
  }
  const creation = call('inviteMember', { body })
  return (
    <>
      {invited && <Outcome invited={invited} onCopied={() => setInvited(null)} />}
      <NeedsScript what="Inviting people" call={creation} />
      <form class="stack scripted" ref={element} noValidate onSubmit={submit}>
        <fieldset class="plain stack" disabled={!isInteractive}>
          <TextField
            path="email"
            label="Email address"
            isRequired
            errors={errors}
            value={form.email}
            onChange={email => change({ email })}
          />
          <TextField
            path="name"
            label="Name"
            hint="optional"
            errors={errors}
            value={form.name}
            onChange={name => change({ name })}
          />
          <SelectField
            path="role"
            label="Role"
            errors={errors}
            value={form.role}
            options={ROLE_OPTIONS}
            onChange={role => change({ role })}
          />
          <FormMessages error={attempt.error} shown={['email', 'name', 'role']} />
          <div class="actions">
            <button type="submit" class="main" disabled={attempt.isBusy}>
              Invite
            </button>
          </div>
        </fieldset>
        <AsCall call={creation} />
      </form>
    </>
  )
}

const Outcome = ({
  invited: { email, role, claim_url: url },
  onCopied,
}: {
  invited: NewInvitation
  onCopied(): void
}) => (
  <div class="stack created">
    <p role="status">
      <bdi>{email}</bdi> is a member now, with the role {role}.
      {url === undefined &&
        ' The person has an account and signs in with it. Access begins when the email address is confirmed.'}
    </p>
    {url !== undefined && (
      <Secret
        label="Send this link to the person, who sets a password with it. It works once, for 72 hours, and is shown only now."
        value={url}
        onCopied={onCopied}
      />
    )}
  </div>
)
