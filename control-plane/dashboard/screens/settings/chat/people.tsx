import { useFrame } from '../../../core/frame-context.ts'
import { call, type OperationResponse } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt } from '../../../parts/forms/attempt.ts'
import { FormError } from '../../../parts/forms/operation-form.tsx'
import { Scroll } from '../../../parts/layout/section.tsx'
import { Moment } from '../../../parts/moment.tsx'
import { hasRole } from '../../../parts/needs-role.tsx'

type Identity = OperationResponse<'listChatIdentities'>['data'][number]
type Names = ReadonlyMap<string, string>

type PeopleProps = {
  identities: readonly Identity[]
  /** the addresses of members by id, as far as this person sees them */
  emails: Names
  /** the names of teams by id */
  teams: Names
}

/** Which chat user is which member, with "Disconnect" for people who may. */
export function People({ identities, emails, teams }: PeopleProps) {
  const { me } = useFrame()
  if (identities.length === 0)
    return (
      <p class="soft">
        No member is linked yet. Members are found in the chat by their email addresses when a team is connected, and
        when they press a button there.
      </p>
    )
  return (
    <Scroll name="Linked members">
      <table class="rows">
        <thead>
          <tr>
            <th scope="col">Member</th>
            <th scope="col">Chat user</th>
            <th scope="col">Team</th>
            {hasRole(me, 'editor') && (
              <th scope="col">
                <span class="hidden">Change</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {identities.map(identity => (
            <PersonRow
              key={identity.id}
              identity={identity}
              email={emails.get(identity.user_id) ?? null}
              team={teams.get(identity.team_id) ?? identity.team_id}
            />
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function PersonRow({ identity, email, team }: { identity: Identity; email: string | null; team: string }) {
  const { me, execute, isInteractive } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const { id, chat_user_id: chatUser, disconnected_at: disconnectedAt } = identity
  const isConnected = disconnectedAt === null
  const connection = call('updateChatIdentity', { path: { id }, body: { is_connected: !isConnected } })
  const change = () => execute(connection.name, connection.arguments)
  return (
    <tr>
      <td dir="auto">
        {email ?? <span class="soft">a member (admins see the address)</span>}
        {!isConnected && (
          <p class="soft small">
            Disconnected on <Moment at={disconnectedAt} part="date" />: gets no direct messages and cannot acknowledge
            in the chat.
          </p>
        )}
        <FormError error={error} />
      </td>
      <td class="mono" dir="auto">
        {chatUser}
      </td>
      <td dir="auto">{team}</td>
      {hasRole(me, 'editor') && (
        <td>
          <button type="button" disabled={!isInteractive || isBusy} onClick={() => run(change)}>
            {isConnected ? 'Disconnect' : 'Connect again'}
            <span class="hidden">
              {' '}
              <bdi>{email ?? chatUser}</bdi>
            </span>
          </button>
          <AsCall call={connection} name={`for ${email ?? chatUser}`} />
        </td>
      )}
    </tr>
  )
}
