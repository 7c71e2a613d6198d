import { v7 as uuidv7 } from 'uuid'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import type { ApiServer } from './api-server.ts'
import type { ChatProvider } from './chat-provider.ts'
import type { Tenant } from './tenant.ts'
import { waitFor } from './wait.ts'

export type Account = Tenant & { key: string }

/** A project whose team has the app, and what people of both do. */
export function createChatTeam(api: ApiServer, provider: ChatProvider) {
  const send = async (path: string, text: string, headers: Record<string, string>) => {
    const answer = await fetch(`${api.origin}${path}`, { method: 'POST', headers, body: text })
    const body = await answer.text()
    return { status: answer.status, body: body === '' ? null : JSON.parse(body) }
  }
  const formOf = (fields: Record<string, string>) => new URLSearchParams(fields).toString()

  const told = () => provider.bodies('response')
  /** What was posted to the address that came with a request, after `before` others. */
  const nextTold = (before: number) => waitFor(() => told()[before], { label: 'an answer' })

  const commandAtOnce = (chatUserId: string, text: string, teamId = 'T1') => {
    const speaker = { team_id: teamId, user_id: chatUserId, command: '/picket' }
    const sent = formOf({ ...speaker, text, response_url: `${provider.origin}/response`, id: uuidv7() })
    return send('/chat/commands', sent, provider.signed(sent))
  }

  return {
    /** Installs the app for a project; answers the installation. */
    async install({ key }: Account, consent: Parameters<ChatProvider['consent']>[0] = {}) {
      const begun = await api.call('GET', '/chat/oauth/install', { key })
      const state = new URL(begun.headers.get('location')!).searchParams.get('state')!
      const query = new URLSearchParams({ state, code: provider.consent(consent) })
      await api.call('GET', `/chat/oauth/callback?${query}`, { key: null })
      return (await api.call('GET', '/chat/installations', { key })).body.data[0]
    },
    /** One more member of an organization. */
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
    /** A channel that the app writes to. */
    async channel({ key }: Account, installationId: string, channelId = 'C2'): Promise<string> {
      const config = { installation_id: installationId, channel_id: channelId }
      const made = await api.call('POST', '/alerts/channels', { key, body: { name: 'Ops', type: 'chat_a', config } })
      return made.body.data.id
    },
    async incident({ key }: Account, title: string): Promise<string> {
      return (await api.call('POST', '/incidents', { key, body: { title } })).body.data.id
    },
    /** `/picket <text>` as the provider passes it on, and the answer, which may come later on a busy machine. */
    async command(chatUserId: string, text: string, teamId = 'T1') {
      const before = told().length
      const answer = await commandAtOnce(chatUserId, text, teamId)
      if (answer.body?.text !== 'One moment…') return answer
      return { ...answer, body: await nextTold(before) }
    },
    commandAtOnce,
    nextTold,
    /** A click on the button of a message; answers what it led to. */
    async click(chatUserId: string, incidentId: string, blocks: object[] = [], isEphemeral = false) {
      const before = told().length
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
      const sent = formOf({ payload: JSON.stringify(payload) })
      const { status, body } = await send('/chat/interactions', sent, provider.signed(sent))
      return { status, body, told: await nextTold(before) }
    },
    send,
  }
}
