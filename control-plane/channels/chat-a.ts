import { type Static, Type } from 'typebox'
import type { Detail } from '../web/errors.ts'
import { chatLayout } from './chat-a-layout.ts'
import { chatKind } from './chat-kind.ts'
import { changeLines, digestNotice } from './digest-notice.ts'
import { maskSecrets, unmaskSecrets } from './free-form.ts'
import { noticeOf } from './notice.ts'
import { defineKind, type HttpMessage } from './types.ts'

const MOST_CHANGES = 50

const Config = Type.Object({
  webhook_url: Type.Optional(Type.String({ minLength: 1, maxLength: 2_048 })),
  installation_id: Type.Optional(Type.String({ minLength: 1, maxLength: 40 })),
  channel_id: Type.Optional(Type.String({ minLength: 1, maxLength: 40 })),
  channel_name: Type.Optional(Type.String({ maxLength: 100 })),
})
type Config = Static<typeof Config>
type Installed = Config & { installation_id: string; channel_id: string }

const hook = chatKind(chatLayout, { changes: MOST_CHANGES })

const isInstalled = (config: Config): config is Installed => config.installation_id !== undefined

/**
 * Slack-compatible: an incoming webhook with an address of its own, or a channel that the installed app writes to
 * (decisions 6.1). Of the app's token nothing stands here.
 */
export const chatA = defineKind({
  ...hook,
  schema: Config,
  problems: (config, checkLiteral) =>
    config.webhook_url !== undefined && !isInstalled(config)
      ? hook.problems(config, checkLiteral)
      : shapeProblems(config),
  addressOf: config => (isInstalled(config) ? `chat:${config.installation_id}` : hook.addressOf(config)),
  installationOf: config => config.installation_id ?? null,
  mask: config => (isInstalled(config) ? maskSecrets(config) : (hook.mask(config) as Config)),
  unmask(sent, stored) {
    if (isInstalled(sent) || sent.webhook_url === undefined) return unmaskSecrets(sent, stored ?? {}, 'config')
    return hook.unmask(sent, stored?.webhook_url === undefined ? null : stored)
  },
  render(envelope, config, context) {
    if (!isInstalled(config)) return hook.render(envelope, config, context)
    return postMessage(config, chatLayout(noticeOf(envelope, context), [], 0, true))
  },
  renderDigest(digest, config, context) {
    if (!isInstalled(config)) return hook.renderDigest!(digest, config, context)
    const { lines, more } = changeLines(digest, MOST_CHANGES)
    return postMessage(config, chatLayout(digestNotice(digest), lines, more, true))
  },
})

/** What the schema cannot say: one of the two ways, and all of it. */
function shapeProblems(config: Config): Detail[] {
  const { webhook_url: url, installation_id: installation, channel_id: channel } = config
  if (installation === undefined) return [{ path: 'config.webhook_url', message: 'config.webhook_url is required' }]
  if (url !== undefined) {
    return [{ path: 'config.webhook_url', message: 'config.webhook_url has no place beside an installation_id' }]
  }
  if (channel !== undefined && /^[A-Za-z0-9]+$/.test(channel)) return []
  const message = 'config.channel_id must be the id of a channel, from GET /chat/installations/{id}/channels'
  return [{ path: 'config.channel_id', message }]
}

function postMessage({ channel_id: channel }: Installed, layout: object): HttpMessage {
  return {
    via: 'http',
    method: 'POST',
    url: 'chat.postMessage',
    headers: { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'Picket-Chat/1' },
    body: Buffer.from(JSON.stringify({ channel, ...layout })),
    byApp: true,
  }
}
