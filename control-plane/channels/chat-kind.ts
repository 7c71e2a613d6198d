import { Type } from 'typebox'
import { type ChangeLine, changeLines, digestNotice } from './digest-notice.ts'
import { maskSecrets, unmaskSecrets } from './free-form.ts'
import { maskUrl, unmaskUrl } from './masked-url.ts'
import { type Notice, noticeOf } from './notice.ts'
import { type ChannelKind, defineKind, type HttpMessage } from './types.ts'
import { webUrlProblem } from './web-url.ts'

const Config = Type.Object({ webhook_url: Type.String({ minLength: 1, maxLength: 2_048 }) })

/** What a chat shows: a notice and, for a digest, the changes below it. */
export type ChatLayout = (notice: Notice, changes: ChangeLine[], more: number) => object

/**
 * A chat that takes JSON at an address of its own (decisions 6.1). Whoever knows the address may write to the chat, so
 * it is masked but for its origin.
 */
export function chatKind(layout: ChatLayout, limits: { changes: number }): ChannelKind {
  return defineKind({
    schema: Config,
    isSigned: false,
    problems({ webhook_url: url }, checkLiteral) {
      const problem = webUrlProblem(url, checkLiteral, 'webhook_url')
      return problem === null ? [] : [{ path: 'config.webhook_url', message: problem }]
    },
    addressOf: config => config.webhook_url,
    mask: config => ({ ...maskSecrets(config), webhook_url: maskUrl(config.webhook_url) }),
    unmask(sent, stored) {
      const { config, problems } = unmaskSecrets(sent, stored ?? {}, 'config')
      const { url, problems: more } = unmaskUrl(sent.webhook_url, stored?.webhook_url ?? null, 'webhook_url')
      return { config: { ...config, webhook_url: url }, problems: [...problems, ...more] }
    },
    render: (envelope, config, context) => post(config.webhook_url, layout(noticeOf(envelope, context), [], 0)),
    renderDigest(digest, config) {
      const { lines, more } = changeLines(digest, limits.changes)
      return post(config.webhook_url, layout(digestNotice(digest), lines, more))
    },
  })
}

function post(url: string, body: object): HttpMessage {
  return {
    via: 'http',
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', 'user-agent': 'Picket-Webhook/1' },
    body: Buffer.from(JSON.stringify(body)),
  }
}
