import { type ChannelType, kindOf, type Message } from '../channels/index.ts'
import { openConfig, openSigningSecret } from '../channels/sealed.ts'
import { subscriberKindOf } from '../channels/subscriber-kinds.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Head } from './lane-store.ts'
import type { Lane } from './lanes.ts'
import { endedByUs } from './log-entry.ts'
import { isForPage, pageRendererOf, rendererOf } from './render.ts'
import { signatureHeaders } from './signature.ts'
import type { LoggedAttempt } from './types.ts'

/** A delivery that is ready to be sent: its bytes are in the database before the first of them leaves. */
export type Prepared = Lane & {
  id: string
  /** a page's subscriber, against whom failures count then */
  subscriberId: string | null
  attemptsMade: number
  createdAt: Date
  /** signed, with the stored bytes */
  message: Message
  /** what the log shows of it: a chat's address is a secret, and so are some headers */
  shown: { url: string; headers: Record<string, string> }
  /** where it leads, when it is for the built-in relay (decisions 6.6); null: it is sent from its lane */
  relayOrigin: string | null
}

export type PrepareTools = {
  secrets: Secrets
  /** what links begin with, without a slash at the end */
  publicUrl: string
  /** the relay outside, without a slash at the end; without one the built-in relay does its work */
  relayUrl?: string | null
}

/** Renders (unless its bytes are stored already) and signs one delivery for the channel as it is configured now. */
export function prepareDelivery(head: Head, tools: PrepareTools, now: Date): Prepared {
  const { secrets, publicUrl, relayUrl = null } = tools
  const { channelId, subscriberId, subject, id, attemptsMade, createdAt, isReplay, reminder, eventName } = head
  const owner = { ...head, id: subscriberId ?? channelId }
  const config = openConfig(owner, secrets)
  const { mask, render } = formsOf(head, publicUrl, now)
  const message = render(config)
  const shown = render(mask(config))
  const body = head.body ?? message.body
  const secret = openSigningSecret(owner, secrets)
  const signatures = secret === null ? {} : signatureHeaders({ id, eventName, body, secret, isReplay, reminder, now })
  const headers = { ...message.headers, ...signatures }
  return {
    channelId,
    subscriberId,
    subject,
    id,
    attemptsMade,
    createdAt,
    message: { ...message, url: throughRelay(message, relayUrl), headers, body } as Message,
    shown: { url: throughRelay(shown, relayUrl), headers: { ...shown.headers, ...signatures } },
    relayOrigin: relayUrl === null && sourceOf(message) !== null ? new URL(message.url).origin : null,
  }
}

/** How a config is shown, and what becomes of it: by the kind of the channel, or of the page's subscriber. */
function formsOf(head: Head, publicUrl: string, now: Date) {
  if (isForPage(head)) {
    const kind = subscriberKindOf(head.channelType)
    return { mask: kind.mask, render: pageRendererOf(head, kind, publicUrl, now) }
  }
  const kind = kindOf(head.channelType as ChannelType)
  return { mask: kind.mask, render: rendererOf(head, kind, publicUrl, now) }
}

const sourceOf = (message: Message) => (message.via === 'http' ? (message.relaySourceId ?? null) : null)

function throughRelay(message: Message, relayUrl: string | null): string {
  const source = sourceOf(message)
  return relayUrl === null || source === null ? message.url : `${relayUrl}/${source}`
}

export type PreparedAll<H extends Head> = {
  prepared: (Prepared & { head: H })[]
  unfit: { id: string; attempt: LoggedAttempt }[]
}

/** Prepares deliveries; one that cannot be rendered is our own fault and does not stop the others. */
export function prepareAll<H extends Head>(heads: H[], tools: PrepareTools, now: Date): PreparedAll<H> {
  const all: PreparedAll<H> = { prepared: [], unfit: [] }
  for (const head of heads) {
    try {
      all.prepared.push({ ...prepareDelivery(head, tools, now), head })
    } catch (error) {
      const reason = `internal error: the event could not be rendered (${(error as Error).message})`
      all.unfit.push({ id: head.id, attempt: endedByUs(reason, now) })
    }
  }
  return all
}
