import { type ChannelType, kindOf, type Message } from '../channels/index.ts'
import { openConfig, openSigningSecret } from '../channels/sealed.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Lane } from './lanes.ts'
import { rendererOf } from './render.ts'
import { signatureHeaders } from './signature.ts'
import type { Head } from './lane-store.ts'

/** A delivery that is ready to be sent: its bytes are in the database before the first of them leaves. */
export type Prepared = Lane & {
  id: string
  attemptsMade: number
  createdAt: Date
  /** signed, with the stored bytes */
  message: Message
  /** what the log shows of it: a chat's address is a secret, and so are some headers */
  shown: { url: string; headers: Record<string, string> }
}

/** `publicUrl`: what links begin with, without a slash at the end. */
export type PrepareTools = { secrets: Secrets; publicUrl: string }

/** Renders (unless its bytes are stored already) and signs one delivery for the channel as it is configured now. */
export function prepareDelivery(head: Head, { secrets, publicUrl }: PrepareTools, now: Date): Prepared {
  const { channelId, subject, id, attemptsMade, createdAt, isReplay, reminder, eventName } = head
  const channel = { id: channelId, projectId: head.projectId, config: head.config, signingSecret: head.signingSecret }
  const kind = kindOf(head.channelType as ChannelType)
  const config = openConfig(channel, secrets)
  const render = rendererOf(head, kind, publicUrl, now)
  const message = render(config)
  const shown = render(kind.mask(config))
  const body = head.body ?? message.body
  const secret = openSigningSecret(channel, secrets)
  const signatures = secret === null ? {} : signatureHeaders({ id, eventName, body, secret, isReplay, reminder, now })
  return {
    channelId,
    subject,
    id,
    attemptsMade,
    createdAt,
    message: { ...message, headers: { ...message.headers, ...signatures }, body } as Message,
    shown: { url: shown.url, headers: { ...shown.headers, ...signatures } },
  }
}
