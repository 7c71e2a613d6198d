import { type Static, Type } from 'typebox'
import type { ErrorDetail } from '../../../foundation/web/server/errors.ts'
import { maskSecrets, unmaskSecrets } from '../config/secret-fields.ts'
import { toChangeLines, toDigestNotice } from '../notices/digest-notice.ts'
import { toNotice } from '../notices/notice.ts'
import { defineKind, type HttpMessage } from '../types.ts'
import { defineChatWebhook } from './chat-webhook.ts'
import { buildSlackLayout } from './slack-layout.ts'

const MAX_CHANGES = 50

const Config = Type.Object({
  webhook_url: Type.Optional(Type.String({ minLength: 1, maxLength: 2_048 })),
  installation_id: Type.Optional(Type.String({ minLength: 1, maxLength: 40 })),
  channel_id: Type.Optional(Type.String({ minLength: 1, maxLength: 40 })),
  channel_name: Type.Optional(Type.String({ maxLength: 100 })),
})
type Config = Static<typeof Config>
type InstalledConfig = Config & { installation_id: string; channel_id: string }

const slackWebhook = defineChatWebhook(buildSlackLayout, { changes: MAX_CHANGES })

const isInstalled = (config: Config): config is InstalledConfig => config.installation_id !== undefined

/**
 * Slack-compatible: an incoming webhook, or a channel that the installed app writes to. The configuration does not contain the
 * app's token.
 */
export const slack = defineKind({
  ...slackWebhook,
  schema: Config,
  findProblems: (config, checkLiteral) =>
    config.webhook_url !== undefined && !isInstalled(config)
      ? slackWebhook.findProblems(config, checkLiteral)
      : findShapeProblems(config),
  getAddress: config => (isInstalled(config) ? `chat:${config.installation_id}` : slackWebhook.getAddress(config)),
  getInstallationId: config => config.installation_id ?? null,
  mask: config => (isInstalled(config) ? maskSecrets(config) : (slackWebhook.mask(config) as Config)),
  unmask(sent, stored) {
    if (isInstalled(sent) || sent.webhook_url === undefined) return unmaskSecrets(sent, stored ?? {}, 'config')
    return slackWebhook.unmask(sent, stored?.webhook_url === undefined ? null : stored)
  },
  render(envelope, config, context) {
    if (!isInstalled(config)) return slackWebhook.render(envelope, config, context)
    return buildPostMessage(config, buildSlackLayout(toNotice(envelope, context), [], 0, true))
  },
  renderDigest(digest, config, context) {
    if (!isInstalled(config)) return slackWebhook.renderDigest!(digest, config, context)
    const { lines, more } = toChangeLines(digest, MAX_CHANGES)
    return buildPostMessage(config, buildSlackLayout(toDigestNotice(digest), lines, more, true))
  },
})

/** Checks what the schema cannot: exactly one of the two forms, complete. */
function findShapeProblems(config: Config): ErrorDetail[] {
  const { webhook_url: url, installation_id: installation, channel_id: channel } = config
  if (installation === undefined) return [{ path: 'config.webhook_url', message: 'config.webhook_url is required' }]
  if (url !== undefined) {
    return [
      { path: 'config.webhook_url', message: 'config.webhook_url cannot be combined with config.installation_id' },
    ]
  }
  if (channel !== undefined && /^[A-Za-z0-9]+$/.test(channel)) return []
  const message = 'config.channel_id must be the id of a channel from GET /chat/installations/{id}/channels'
  return [{ path: 'config.channel_id', message }]
}

function buildPostMessage({ channel_id: channel }: InstalledConfig, layout: object): HttpMessage {
  return {
    via: 'http',
    method: 'POST',
    url: 'chat.postMessage',
    headers: { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'Picket-Chat/1' },
    body: Buffer.from(JSON.stringify({ channel, ...layout })),
    byApp: true,
  }
}
