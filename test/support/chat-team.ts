import { v7 as uuidv7 } from 'uuid'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import type { ApiServer } from './api-server.ts'
import type { ChatProvider } from './chat-provider.ts'
import type { Tenant } from './tenant.ts'
import { waitFor } from './wait.ts'

type Account = Tenant & { key: string }

/** Functions for a project whose team has the app. */
export function createChatTeam(api: ApiServer, provider: ChatProvider) {
  const send = async (path: string, text: string, headers: Record<string, string>) => {
    const answer = await fetch(`${api.origin}${path}`, { method: 'POST', headers, body: text })
    const body = await answer.text()
    return { status: answer.status, body: body === '' ? null : JSON.parse(body) }
  }
  const encodeForm = (fields: Record<string, string>) => new URLSearchParams(fields).toString()

  const responses = () => provider.bodies('response')
  /** Waits for the next body that is posted to the response URL, after `before` others. */
  const nextResponse = (before: number) => waitFor(() => responses()[before], { label: 'a response' })

  const sendCommand = (chatUserId: string, text: string, teamId = 'T1') => {
    const user = { team_id: teamId, user_id: chatUserId, command: '/picket' }
    const sent = encodeForm({ ...user, text, response_url: `${provider.origin}/response`, id: uuidv7() })
    return send('/chat/commands', sent, provider.signed(sent))
  }

  return {
    /** Installs the app for a project. Returns the installation. */
    async install({ key }: Account, consent: Parameters<ChatProvider['consent']>[0] = {}) {
      const begun = await api.call('GET', '/chat/oauth/install', { key })
      const state = new URL(begun.headers.get('location')!).searchParams.get('state')!
      const query = new URLSearchParams({ state, code: provider.consent(consent) })
      await api.call('GET', `/chat/oauth/callback?${query}`, { key: null })
      return (await api.call('GET', '/chat/installations', { key })).body.data[0]
    },
    /** Adds a member to an organization. */
    async member({ organizationId }: Account, role: string, email: string): Promise<string> {
      const user = { userId: uuidv7(), organizationId, role, email }
      await execute(
        api.db,
        'INSERT INTO users (id, email, created_at, updated_at) VALUES (:userId, :email, now(), now())',
        user,
      )
      await execute(
        api.db,
        `INSERT INTO memberships (organization_id, user_id, role, created_at)
         VALUES (:organizationId, :userId, :role, now())`,
        user,
      )
      return user.userId
    },
    /** Creates an alert channel that uses the app. */
    async channel({ key }: Account, installationId: string, channelId = 'C2'): Promise<string> {
      const config = { installation_id: installationId, channel_id: channelId }
      const made = await api.call('POST', '/alerts/channels', { key, body: { name: 'Ops', type: 'chat_a', config } })
      return made.body.data.id
    },
    async incident({ key }: Account, title: string): Promise<string> {
      return (await api.call('POST', '/incidents', { key, body: { title } })).body.data.id
    },
    /** Sends `/picket <text>` and returns the answer, which may be posted later on a busy machine. */
    async command(chatUserId: string, text: string, teamId = 'T1') {
      const before = responses().length
      const answer = await sendCommand(chatUserId, text, teamId)
      if (answer.body?.text !== 'One moment…') return answer
      return { ...answer, body: await nextResponse(before) }
    },
    sendCommand,
    nextResponse,
    /** Clicks the button of a message. Returns the response. */
    async click(chatUserId: string, incidentId: string, blocks: object[] = [], isEphemeral = false) {
      const before = responses().length
      const payload = {
        type: 'block_actions',
        user: { id: chatUserId, team_id: 'T1' },
        team: { id: 'T1' },
        actions: [{ action_id: 'acknowledge', value: incidentId }],
        message: { text: 'what it was about', blocks },
        container: { is_ephemeral: isEphemeral },
        response_url: `${provider.origin}/response`,
        trigger_id: uuidv7(),
      }
      const sent = encodeForm({ payload: JSON.stringify(payload) })
      const { status, body } = await send('/chat/interactions', sent, provider.signed(sent))
      return { status, body, response: await nextResponse(before) }
    },
    send,
  }
}
