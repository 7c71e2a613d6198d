import { useFrame } from '../../../core/frame-context.ts'
import { type OperationResponse, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { AreaTabs } from '../../../parts/layout/area-tabs.tsx'
import { Section } from '../../../parts/layout/section.tsx'
import { Empty, Loaded } from '../../../parts/layout/states.tsx'
import { hasRole, NeedsRole } from '../../../parts/needs-role.tsx'
import { InstallationRow } from './installation-row.tsx'

type Identity = OperationResponse<'listChatIdentities'>['data'][number]
type Names = ReadonlyMap<string, string>

const PATH = '/settings/chat'

/** `/settings/chat`: connected teams, and which chat user is which member. */
export const chatScreen = screen({
  path: PATH,
  area: 'settings',
  queries: () => ({
    installations: read('listChatInstallations', {}),
    channels: read('listAlertChannels', { query: { per_page: 100 } }),
    identities: read('listChatIdentities', { query: { per_page: 100 } }),
    members: read('listMembers', { query: { per_page: 100 } }),
  }),
  title: () => 'Chat',
  Body: ({ results: { installations, channels, identities, members } }) => {
    const { me } = useFrame()
    const emails: Names = new Map(members.data?.data.map(({ id, email }) => [id, email]))
    const teams: Names = new Map(installations.data?.data.map(({ team_id: id, team_name: name }) => [id, name]))
    return (
      <>
        <h1>Chat</h1>
        <AreaTabs area="settings" current={PATH} />
        <NeedsRole what="Connecting and disconnecting a team" needed="editor" />
        <Loaded result={installations} what="The connected teams">
          {({ data }) =>
            data.length === 0 ? (
              <Empty text="No team is connected. A connected team receives, acknowledges and lists incidents in its chat." />
            ) : (
              <ul class="list channels">
                {data.map(installation => (
                  <InstallationRow
                    key={installation.id}
                    installation={installation}
                    channels={
                      channels.data?.data.filter(({ config }) => config.installation_id === installation.id) ?? null
                    }
                  />
                ))}
              </ul>
            )
          }
        </Loaded>
        {hasRole(me, 'editor') && (
          <p class="spaced">
            {/* a page of the server, which leads to the consent screen of the chat */}
            <a class="button" href="/settings/chat/install">
              Connect a team
            </a>
          </p>
        )}
        <Section id="people" title="Linked members">
          <Loaded result={identities} what="The links between people">
            {({ data }) => <People identities={data} emails={emails} teams={teams} />}
          </Loaded>
        </Section>
      </>
    )
  },
})

const People = ({ identities, emails, teams }: { identities: readonly Identity[]; emails: Names; teams: Names }) =>
  identities.length === 0 ? (
    <p class="soft">
      No member is linked yet. Members are found in the chat by their email addresses when a team is connected, and when
      they press a button there.
    </p>
  ) : (
    <table>
      <thead>
        <tr>
          <th scope="col">Member</th>
          <th scope="col">Chat user</th>
          <th scope="col">Team</th>
        </tr>
      </thead>
      <tbody>
        {identities.map(({ id, user_id: userId, chat_user_id: chatUser, team_id: team }) => (
          <tr key={id}>
            <td dir="auto">{emails.get(userId) ?? <span class="soft">a member (admins see the address)</span>}</td>
            <td class="mono" dir="auto">
              {chatUser}
            </td>
            <td dir="auto">{teams.get(team) ?? team}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
