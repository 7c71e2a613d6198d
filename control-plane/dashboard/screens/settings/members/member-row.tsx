import { useState } from 'preact/hooks'
import { useFrame } from '../../../core/frame-context.ts'
import { call, type Execute, type OperationResponse, type Outcome } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { Secret } from '../../../parts/copy-button.tsx'
import { useAttempt } from '../../../parts/forms/attempt.ts'
import { DeleteForm } from '../../../parts/forms/delete-form.tsx'
import { FormError } from '../../../parts/forms/operation-form.tsx'
import { ForeignChange } from '../../../parts/forms/stored/foreign-change.tsx'
import { useStoredForm } from '../../../parts/forms/stored/stored-form.ts'
import { Moment } from '../../../parts/moment.tsx'
import { describeCondition, type MemberEntry, ROLE_OPTIONS, type Role } from './member-words.ts'

type Key = OperationResponse<'listApiKeys'>['data'][number]

/** `keys`: the API keys that the member created; null: not known. `areAllKeys`: false if there can be others. */
type MemberProps = { member: MemberEntry; keys: readonly Key[] | null; areAllKeys: boolean }

/** A member with the role, and what an admin can do. */
export function MemberRow({ member, keys, areAllKeys }: MemberProps) {
  const { me, execute, isInteractive } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const [link, setLink] = useState<string | null>(null)
  const [isRemoving, setRemoving] = useState(false)
  const { id, email, name } = member
  const condition = describeCondition(member)
  const linkCreation = call('createMemberClaimLink', { path: { id } })
  const createLink = async () => {
    const answer = await run(() => execute(linkCreation.name, linkCreation.arguments))
    if (answer) setLink(answer.data.claim_url)
  }
  return (
    <li>
      <div class="channel">
        <div>
          <h2 dir="auto">{email}</h2>
          <p class="soft small">
            {name !== null && (
              <>
                <bdi>{name}</bdi>,{' '}
              </>
            )}
            {id === me.user?.id && 'you, '}
            since <Moment at={member.created_at} part="date" />
          </p>
          {condition !== null && (
            <p class="degraded small">
              {condition} {member.suspended_at !== null && <a href="/account/access">Decide</a>}
            </p>
          )}
        </div>
        <div class="actions">
          <RoleForm member={member} />
          {!member.is_claimed && !member.awaits_proof && (
            <>
              <button type="button" disabled={!isInteractive || isBusy} onClick={createLink}>
                New claim link
                <OfMember email={email} />
              </button>
              <AsCall call={linkCreation} name={`for a new claim link of ${email}`} />
            </>
          )}
          <button
            type="button"
            disabled={!isInteractive}
            aria-expanded={isRemoving}
            onClick={() => setRemoving(!isRemoving)}
          >
            Remove…
            <OfMember email={email} />
          </button>
        </div>
      </div>
      <FormError error={error} />
      {link !== null && (
        <Secret
          label="The link with which this person sets a password. It works once, for 72 hours; earlier links do not work any more. It is shown only now."
          value={link}
          onCopied={() => setLink(null)}
        />
      )}
      {isRemoving && <RemoveForm member={member} keys={keys} areAllKeys={areAllKeys} />}
    </li>
  )
}

const OfMember = ({ email }: { email: string }) => (
  <span class="hidden">
    {' '}
    of <bdi>{email}</bdi>
  </span>
)

/** The choice of a role. It is saved by a button, so that the arrow keys change nothing by mistake. */
function RoleForm({ member }: { member: MemberEntry }) {
  const { me, execute, isInteractive } = useFrame()
  const { id, email } = member
  const editing = useStoredForm(member, {
    toForm: ({ role }) => ({ role }),
    toBody: (stored, { role }) => (role === stored.role ? null : { role }),
    read: () => findMember(execute, id),
    send: body => execute('updateMember', { path: { id }, body }),
  })
  const chosen = editing.form.role
  const isChanged = editing.body !== null
  const submit = (event: Event) => {
    event.preventDefault()
    void editing.save()
  }
  return (
    <form class="role" onSubmit={submit}>
      <ForeignChange what="this member" form={editing} />
      <select
        aria-label={`Role of ${email}`}
        disabled={!isInteractive}
        value={chosen}
        onChange={event => editing.change({ role: event.currentTarget.value as Role })}
      >
        {ROLE_OPTIONS.map(([option, name]) => (
          <option key={option} value={option} selected={option === chosen}>
            {name.split(':')[0]}
          </option>
        ))}
      </select>
      {isChanged && (
        <button type="submit" class="main" disabled={!editing.canSave}>
          Save the role
        </button>
      )}
      {isChanged && id === me.user?.id && <p class="small degraded">You will no longer be an admin.</p>}
      <FormError error={editing.attempt.error} />
      {editing.body && <AsCall call={call('updateMember', { path: { id }, body: editing.body })} />}
    </form>
  )
}

/** Reads a member, who is in one of the pages of the list. */
async function findMember(execute: Execute, id: string): Promise<Outcome<{ data: MemberEntry }>> {
  for (let page = 1; ; page += 1) {
    const outcome = await execute('listMembers', { query: { per_page: 100, page } })
    if ('error' in outcome) return outcome
    const member = outcome.data.data.find(one => one.id === id)
    if (member) return { data: { data: member } }
    if (page >= outcome.data.meta.total_pages) return { error: REMOVED }
  }
}

const REMOVED = { status: 404, code: 'not_found', message: 'this person is not a member any more' }

/** Removes a member, after what goes and what stays was shown. */
function RemoveForm({ member: { id, email }, keys, areAllKeys }: MemberProps) {
  const { me, navigate } = useFrame()
  const consequences = (
    <ul class="consequences-list">
      <li>
        <bdi>{email}</bdi> loses access to <bdi>{me.organization.name}</bdi> at once, on every device.
      </li>
      <li>An account that never had a password and is in no other organization is deleted.</li>
      <KeysThatStay keys={keys} areAll={areAllKeys} />
    </ul>
  )
  return (
    <div class="banner">
      <DeleteForm
        what="member"
        name={email}
        verb="remove"
        consequences={consequences}
        call={call('deleteMember', { path: { id } })}
        onDone={() => navigate(id === me.user?.id ? '/account' : '/settings/members')}
      />
    </div>
  )
}

/** The API keys of a member who is removed, as far as they are known. */
export const KeysThatStay = ({ keys, areAll }: { keys: readonly Key[] | null; areAll: boolean }) => {
  if (keys?.length === 0 && areAll) return <li>This person created no API key.</li>
  if (keys === null || keys.length === 0)
    return (
      <li>
        <a href="/settings/keys">API keys</a> that this person created keep working.
      </li>
    )
  return (
    <li>
      API keys that this person created keep working until you <a href="/settings/keys">delete them</a>:{' '}
      {keys.map((key, i) => (
        <span key={key.id}>
          {i > 0 && ', '}
          <bdi>{key.name}</bdi>
        </span>
      ))}
      {areAll ? '.' : ', and possibly others: not all keys are listed here.'}
    </li>
  )
}
