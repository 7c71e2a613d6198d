import type { MailRules } from '../../../accounts/email/daily-limits/limits.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { Mailer } from '../../../foundation/platform/mail/mailer.ts'
import { MASK } from '../../../foundation/web/masked-secrets/header-map.ts'
import { decryptChatTokens } from '../../channels/chat-tokens.ts'
import { decryptConfig, decryptSigningSecret } from '../../channels/config/encrypted-config.ts'
import { findReceiverHost } from '../../channels/config/receiver-host.ts'
import { type ChannelMessage, type ChannelType, getChannelKind } from '../../channels/registry.ts'
import { getSubscriberKind } from '../../channels/subscribers/subscriber-kinds.ts'
import type { HttpMessage } from '../../channels/types.ts'
import { buildUnsentAttempt } from '../log/log-entry.ts'
import type { ChatInstallationRef, QueuedDelivery } from '../queue/lane-store.ts'
import type { Lane } from '../queue/lanes.ts'
import type { LoggedAttempt } from '../types.ts'
import { encryptAddress } from './encrypted-address.ts'
import { createChannelRenderer, createPageRenderer, isPageDelivery } from './render.ts'
import { buildSignatureHeaders } from './signature.ts'

/** A delivery that is ready to be sent: its bytes are in the database before the first of them leaves. */
export type PreparedDelivery = Lane & {
  id: string
  projectId: string
  /** a page's subscriber, against whom failures count then */
  subscriberId: string | null
  attemptsMade: number
  createdAt: Date
  /** signed, with the stored bytes */
  message: ChannelMessage
  /** what the log shows of it: a chat's address is a secret, and so are some headers */
  shown: { url: string; headers: Record<string, string> }
  /** `shown.url`, sealed */
  address: Buffer
  /** the app's installation that it goes through; null: none */
  chat: ChatInstallationRef | null
  /** why a mail does not go to all addresses of its channel; left out: it does */
  leftOut?: string
  /** where it leads, when it is for the built-in relay (decisions 6.6); null: it is sent from its lane */
  relayOrigin: string | null
  /** the receiver's host, also behind a relay; null for a mail or a chat's provider */
  host: string | null
}

export type PrepareTools = {
  secrets: SecretCipher
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
export function prepareDelivery(head: QueuedDelivery, tools: PrepareTools, now: Date): PreparedDelivery {
  const { secrets, publicUrl, relayUrl = null } = tools
  const { channelId, projectId, subscriberId, subject, id, attemptsMade, createdAt, isReplay, reminder, eventName } =
    head
  const owner = { ...head, id: subscriberId ?? channelId }
  const config = decryptConfig(owner, secrets)
  const { mask, render } = resolveForms(head, publicUrl, now)
  const message = render(config)
  const shown = render(mask(config))
  if (isSentByApp(message)) return prepareForApp(head, message, tools)
  const body = head.body ?? message.body
  const secret = decryptSigningSecret(owner, secrets)
  const signatures =
    secret === null ? {} : buildSignatureHeaders({ id, eventName, body, secret, isReplay, reminder, now })
  const headers = { ...message.headers, ...signatures }
  const url = toRelayUrl(shown, relayUrl)
  return {
    channelId,
    projectId,
    subscriberId,
    subject,
    id,
    attemptsMade,
    createdAt,
    chat: null,
    message: { ...message, url: toRelayUrl(message, relayUrl), headers, body } as ChannelMessage,
    shown: { url, headers: { ...shown.headers, ...signatures } },
    address: encryptAddress(url, head, secrets),
    relayOrigin: relayUrl === null && getRelaySourceId(message) !== null ? new URL(message.url).origin : null,
    host: findReceiverHost(message.url),
  }
}

const isSentByApp = (message: ChannelMessage): message is HttpMessage =>
  message.via === 'http' && message.byApp === true

/** The token goes in now: it is in no stored byte, and a later attempt takes the one that counts then. */
function prepareForApp(
  head: QueuedDelivery,
  { headers, ...message }: HttpMessage,
  tools: PrepareTools,
): PreparedDelivery {
  const { channelId, projectId, subscriberId, subject, id, attemptsMade, createdAt, chat } = head
  const { secrets, chatApiUrl = '' } = tools
  if (chat === null || chat.isRevoked) throw new UnsendableError(APP_REMOVED_MESSAGE)
  const { accessToken } = decryptChatTokens(Buffer.from(chat.tokens, 'hex'), { id: chat.id, projectId }, secrets)
  const url = `${chatApiUrl}/${message.url}`
  const body = head.body ?? message.body
  return {
    ...{ channelId, projectId, subscriberId, subject, id, attemptsMade, createdAt, chat },
    message: { ...message, url, headers: { ...headers, authorization: `Bearer ${accessToken}` }, body },
    shown: { url, headers: { ...headers, authorization: MASK } },
    address: encryptAddress(url, head, secrets),
    relayOrigin: null,
    host: null,
  }
}

const APP_REMOVED_MESSAGE = 'the team removed the app from its chat; install it again, then replay this delivery'

/** How a config is shown, and what becomes of it: by the kind of the channel, or of the page's subscriber. */
function resolveForms(head: QueuedDelivery, publicUrl: string, now: Date) {
  if (isPageDelivery(head)) {
    const kind = getSubscriberKind(head.channelType)
    return { mask: kind.mask, render: createPageRenderer(head, kind, publicUrl, now) }
  }
  const kind = getChannelKind(head.channelType as ChannelType)
  return { mask: kind.mask, render: createChannelRenderer(head, kind, publicUrl, now) }
}

const getRelaySourceId = (message: ChannelMessage) => (message.via === 'http' ? (message.relaySourceId ?? null) : null)

function toRelayUrl(message: ChannelMessage, relayUrl: string | null): string {
  const source = getRelaySourceId(message)
  return relayUrl === null || source === null ? message.url : `${relayUrl}/${source}`
}

export type PreparedBatch<H extends QueuedDelivery> = {
  prepared: (PreparedDelivery & { head: H })[]
  unrenderable: { id: string; attempt: LoggedAttempt }[]
}

/** Prepares deliveries; one that cannot be rendered is our own fault and does not stop the others. */
export function prepareAll<H extends QueuedDelivery>(heads: H[], tools: PrepareTools, now: Date): PreparedBatch<H> {
  const all: PreparedBatch<H> = { prepared: [], unrenderable: [] }
  for (const head of heads) {
    try {
      all.prepared.push({ ...prepareDelivery(head, tools, now), head })
    } catch (error) {
      const { message } = error as Error
      const isKnown = error instanceof UnsendableError
      const reason = isKnown ? message : `internal error: the event could not be rendered (${message})`
      all.unrenderable.push({ id: head.id, attempt: buildUnsentAttempt(reason, now) })
    }
  }
  return all
}
