import { useFrame } from '../../../core/frame-context.ts'
import { read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { AreaTabs } from '../../../parts/layout/area-tabs.tsx'
import { Section } from '../../../parts/layout/section.tsx'
import { Empty, Loaded } from '../../../parts/layout/states.tsx'
import { hasRole, NeedsRole } from '../../../parts/needs-role.tsx'
import { InstallationRow } from './installation-row.tsx'
import { People } from './people.tsx'

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
        <NeedsRole what="Connecting and disconnecting" needed="editor" />
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
                    areAllChannels={channels.data !== null && channels.data.meta.total <= channels.data.data.length}
                  />
                ))}
              </ul>
            )
          }
        </Loaded>
        {installations.data?.meta.is_app_configured === false && <NoApp />}
        {installations.data?.meta.is_app_configured && hasRole(me, 'editor') && (
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

/** What the operator has to configure before a team can be connected. */
const NoApp = () => (
  <div class="banner stack">
    <p>
      No team can be connected, because this installation has no chat app. The operator registers an app with the chat
      provider, sets <code>CHAT_CLIENT_ID</code>, <code>CHAT_CLIENT_SECRET</code> and <code>CHAT_SIGNING_SECRET</code>{' '}
      for every control plane process, and restarts it. <code>docs/chat.md</code> lists the settings of the app.
    </p>
    <p>
      Without an app, Picket can post to a chat: a <a href="/settings/channels/new">channel</a> needs only an incoming
      webhook of the chat.
    </p>
  </div>
)
