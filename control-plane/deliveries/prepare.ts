import type { MailRules } from '../accounts/mails/limits.ts'
import { openChatTokens } from '../channels/chat-tokens.ts'
import { hostUnderLoad } from '../channels/destination.ts'
import { type ChannelType, kindOf, type Message } from '../channels/index.ts'
import { openConfig, openSigningSecret } from '../channels/sealed.ts'
import { subscriberKindOf } from '../channels/subscriber-kinds.ts'
import type { HttpMessage } from '../channels/types.ts'
import type { Mailer } from '../platform/mail.ts'
import type { Secrets } from '../platform/secrets.ts'
import { MASK } from '../web/header-map.ts'
import { sealAddress } from './address.ts'
import type { ChatWay, Head } from './lane-store.ts'
import type { Lane } from './lanes.ts'
import { endedByUs } from './log-entry.ts'
import { isForPage, pageRendererOf, rendererOf } from './render.ts'
import { signatureHeaders } from './signature.ts'
import type { LoggedAttempt } from './types.ts'

/** A delivery that is ready to be sent: its bytes are in the database before the first of them leaves. */
export type Prepared = Lane & {
  id: string
  projectId: string
  /** a page's subscriber, against whom failures count then */
  subscriberId: string | null
  attemptsMade: number
  createdAt: Date
  /** signed, with the stored bytes */
  message: Message
  /** what the log shows of it: a chat's address is a secret, and so are some headers */
  shown: { url: string; headers: Record<string, string> }
  /** `shown.url`, sealed */
  address: Buffer
  /** the app's installation that it goes through; null: none */
  chat: ChatWay | null
  /** why a mail does not go to all addresses of its channel; left out: it does */
  leftOut?: string
  /** where it leads, when it is for the built-in relay (decisions 6.6); null: it is sent from its lane */
  relayOrigin: string | null
  /** the receiver's host, also behind a relay; null for a mail or a chat's provider */
  host: string | null
}

export type PrepareTools = {
  secrets: Secrets
  /** to whom mails may go, and how many; left out: the defaults. With `mailer` null nothing is sent, and nothing asked */
  mailRules?: MailRules
  mailer?: Mailer | null
  /** so many requests of one event to one host leave at once; left out: the default */
  webhookBurst?: number
  /** what links begin with, without a slash at the end */
  publicUrl: string
  /** the relay outside, without a slash at the end; without one the built-in relay does its work */
  relayUrl?: string | null
  /** where the methods of the chat's provider are called, without a slash at the end */
  chatApiUrl?: string
}

/** It is clear beforehand, and not our fault, that a delivery cannot be sent. */
class UnsendableError extends Error {}

/** Renders (unless its bytes are stored already) and signs one delivery for the channel as it is configured now. */
export function prepareDelivery(head: Head, tools: PrepareTools, now: Date): Prepared {
  const { secrets, publicUrl, relayUrl = null } = tools
  const { channelId, projectId, subscriberId, subject, id, attemptsMade, createdAt, isReplay, reminder, eventName } =
    head
  const owner = { ...head, id: subscriberId ?? channelId }
  const config = openConfig(owner, secrets)
  const { mask, render } = formsOf(head, publicUrl, now)
  const message = render(config)
  const shown = render(mask(config))
  if (isByApp(message)) return prepareForApp(head, message, tools)
  const body = head.body ?? message.body
  const secret = openSigningSecret(owner, secrets)
  const signatures = secret === null ? {} : signatureHeaders({ id, eventName, body, secret, isReplay, reminder, now })
  const headers = { ...message.headers, ...signatures }
  const url = throughRelay(shown, relayUrl)
  return {
    channelId,
    projectId,
    subscriberId,
    subject,
    id,
    attemptsMade,
    createdAt,
    chat: null,
    message: { ...message, url: throughRelay(message, relayUrl), headers, body } as Message,
    shown: { url, headers: { ...shown.headers, ...signatures } },
    address: sealAddress(url, head, secrets),
    relayOrigin: relayUrl === null && sourceOf(message) !== null ? new URL(message.url).origin : null,
    host: hostUnderLoad(message.url),
  }
}

const isByApp = (message: Message): message is HttpMessage => message.via === 'http' && message.byApp === true

/** The token goes in now: it is in no stored byte, and a later attempt takes the one that counts then. */
function prepareForApp(head: Head, { headers, ...message }: HttpMessage, tools: PrepareTools): Prepared {
  const { channelId, projectId, subscriberId, subject, id, attemptsMade, createdAt, chat } = head
  const { secrets, chatApiUrl = '' } = tools
  if (chat === null || chat.isRevoked) throw new UnsendableError(APP_IS_GONE)
  const { accessToken } = openChatTokens(Buffer.from(chat.tokens, 'hex'), { id: chat.id, projectId }, secrets)
  const url = `${chatApiUrl}/${message.url}`
  const body = head.body ?? message.body
  return {
    ...{ channelId, projectId, subscriberId, subject, id, attemptsMade, createdAt, chat },
    message: { ...message, url, headers: { ...headers, authorization: `Bearer ${accessToken}` }, body },
    shown: { url, headers: { ...headers, authorization: MASK } },
    address: sealAddress(url, head, secrets),
    relayOrigin: null,
    host: null,
  }
}

const APP_IS_GONE = 'the team removed the app from its chat; install it again, then replay this delivery'

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
      const { message } = error as Error
      const isKnown = error instanceof UnsendableError
      const reason = isKnown ? message : `internal error: the event could not be rendered (${message})`
      all.unfit.push({ id: head.id, attempt: endedByUs(reason, now) })
    }
  }
  return all
}
