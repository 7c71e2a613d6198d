import { Type } from 'typebox'
import { maskUrl, unmaskUrl } from '../config/masked-url.ts'
import { maskSecrets, unmaskSecrets } from '../config/secret-fields.ts'
import { findUrlProblem } from '../config/url-validation.ts'
import { type ChangeLine, toChangeLines, toDigestNotice } from '../notices/digest-notice.ts'
import { toNotice } from '../notices/notice.ts'
import type { NoticeContent } from '../notices/notice-content.ts'
import { type ChannelKind, defineKind, type HttpMessage } from '../types.ts'

const Config = Type.Object({ webhook_url: Type.String({ minLength: 1, maxLength: 2_048 }) })

/** What a chat shows: a notice and, for a digest, the changes below it. */
type ChatLayout = (notice: NoticeContent, changes: ChangeLine[], more: number) => object

/**
 * A chat that accepts JSON at a webhook address. Anyone who knows the address can post, so only its origin is shown
 * (docs/design/events.md#configuration).
 */
export function defineChatWebhook(layout: ChatLayout, limits: { changes: number }): ChannelKind {
  return defineKind({
    schema: Config,
    isSigned: false,
    findProblems({ webhook_url: url }, checkLiteral) {
      const problem = findUrlProblem(url, checkLiteral, 'webhook_url')
      return problem === null ? [] : [{ path: 'config.webhook_url', message: problem }]
    },
    getAddress: config => config.webhook_url,
    mask: config => ({ ...maskSecrets(config), webhook_url: maskUrl(config.webhook_url) }),
    unmask(sent, stored) {
      const { config, problems } = unmaskSecrets(sent, stored ?? {}, 'config')
      const { url, problems: more } = unmaskUrl(sent.webhook_url, stored?.webhook_url ?? null, 'webhook_url')
      return { config: { ...config, webhook_url: url }, problems: [...problems, ...more] }
    },
    render: (envelope, config, context) => buildPost(config.webhook_url, layout(toNotice(envelope, context), [], 0)),
    renderDigest(digest, config) {
      const { lines, more } = toChangeLines(digest, limits.changes)
      return buildPost(config.webhook_url, layout(toDigestNotice(digest), lines, more))
    },
  })
}

function buildPost(url: string, body: object): HttpMessage {
  return {
    via: 'http',
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', 'user-agent': 'Picket-Webhook/1' },
    body: Buffer.from(JSON.stringify(body)),
  }
}
