import type { MailRules } from '../../../accounts/email/daily-limits/limits.ts'
import { DecryptionError } from '../../../foundation/platform/crypto/decryption-error.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { Mailer } from '../../../foundation/platform/mail/mailer.ts'
import type { YieldPoint } from '../../../foundation/platform/time/clock.ts'
import { MASK } from '../../../foundation/web/masked-secrets/header-map.ts'
import { decryptChatTokens } from '../../channels/chat-tokens.ts'
import { decryptConfig, decryptSigningSecret } from '../../channels/config/encrypted-config.ts'
import { findReceiverHost } from '../../channels/config/receiver-host.ts'
import { type ChannelMessage, type ChannelType, getChannelKind } from '../../channels/registry.ts'
import { getSubscriberKind } from '../../channels/subscribers/subscriber-kinds.ts'
import type { HttpMessage } from '../../channels/types.ts'
import type { DeliveryProgress } from '../attempts/retry-policy.ts'
import { buildUnsentAttempt } from '../log/log-entry.ts'
import type { ChatInstallationRef, QueuedDelivery } from '../queue/lane-store.ts'
import type { Lane } from '../queue/lanes.ts'
import type { LoggedAttempt } from '../types.ts'
import { encryptAddress } from './encrypted-address.ts'
import { createChannelRenderer, createPageRenderer, isPageDelivery, isUnwanted } from './render.ts'
import { buildSignatureHeaders } from './signature.ts'

/** A delivery that is ready to be sent. Its body is stored in the database before it is sent. */
export type PreparedDelivery = Lane &
  DeliveryProgress & {
    id: string
    projectId: string
    /** the page's subscriber, whose failures are counted; null: the channel's are counted */
    subscriberId: string | null
    attemptsMade: number
    /** signed, with the stored body */
    message: ChannelMessage
    /** what the log shows: the address of a chat and some headers are secrets */
    shown: { url: string; headers: Record<string, string> }
    /** `shown.url`, encrypted */
    address: Buffer
    /** the chat installation that sends it; null: none */
    chat: ChatInstallationRef | null
    /** why a mail does not go to all addresses of its channel; undefined: it goes to all */
    leftOut?: string
    /** its origin, when it is for the built-in relay (docs/design/deliveries.md#relay); null: it is sent from its lane */
    relayOrigin: string | null
    /** the receiver's host, also behind a relay; null for a mail or a chat's provider */
    host: string | null
  }

export type PrepareTools = {
  secrets: SecretCipher
  /** confirmation and daily limits of mails; undefined: the defaults. Without a `mailer` they are not checked */
  mailRules?: MailRules
  mailer?: Mailer | null
  /** how many requests of one event to one host are sent immediately; undefined: the default */
  webhookBurst?: number
  /** the base of links, without a slash at the end */
  publicUrl: string
  /** the external relay, without a slash at the end; without it the built-in relay is used */
  relayUrl?: string | null
  /** base URL of the chat provider's API, without a slash at the end */
  chatApiUrl?: string
}

/** A delivery cannot be sent, for a known reason outside of Picket. */
class UnsendableError extends Error {}

/** Renders one delivery for the current config of its channel, and signs it. A stored body is used again. */
function prepareDelivery(head: QueuedDelivery, tools: PrepareTools, now: Date): PreparedDelivery {
  const { secrets, publicUrl, relayUrl = null } = tools
  const { channelId, projectId, subscriberId, subject, id, attemptsMade } = head
  const { isReplay, reminder, eventName, createdAt, uncountedAttempts } = head
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
    ...{ createdAt, isReplay, uncountedAttempts },
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

/** Adds the current token. It is not stored, and a later attempt uses the token that is valid then. */
function prepareForApp(
  head: QueuedDelivery,
  { headers, ...message }: HttpMessage,
  tools: PrepareTools,
): PreparedDelivery {
  const { channelId, projectId, subscriberId, subject, id, attemptsMade, chat } = head
  const { createdAt, isReplay, uncountedAttempts } = head
  const { secrets, chatApiUrl = '' } = tools
  if (chat === null || chat.isRevoked) throw new UnsendableError(APP_REMOVED_MESSAGE)
  const { accessToken } = decryptChatTokens(Buffer.from(chat.tokens, 'hex'), { id: chat.id, projectId }, secrets)
  const url = `${chatApiUrl}/${message.url}`
  const body = head.body === null ? message.body : addressToCurrentChannel(message.body, head.body)
  return {
    ...{ channelId, projectId, subscriberId, subject, id, attemptsMade, chat },
    ...{ createdAt, isReplay, uncountedAttempts },
    message: { ...message, url, headers: { ...headers, authorization: `Bearer ${accessToken}` }, body },
    shown: { url, headers: { ...headers, authorization: MASK } },
    address: encryptAddress(url, head, secrets),
    relayOrigin: null,
    host: null,
  }
}

/** A replay goes to the chat channel that is configured now; its id is part of the stored message. */
function addressToCurrentChannel(current: Buffer, stored: Buffer): Buffer {
  const { channel } = JSON.parse(current.toString())
  const message = JSON.parse(stored.toString())
  return message.channel === channel ? stored : Buffer.from(JSON.stringify({ ...message, channel }))
}

const APP_REMOVED_MESSAGE = 'the team removed the app from its chat; install it again, then replay this delivery'

/** How a config is masked and rendered, by the kind of the channel or of the page's subscriber. */
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

const UNWANTED_MESSAGE = 'the subscriber no longer follows the affected components'

const DECRYPTION_RETRY_MS = 30_000
const MAX_UNDECRYPTED_AGE_MS = 24 * 3_600_000

type PreparedBatch<H extends QueuedDelivery> = {
  prepared: (PreparedDelivery & { head: H })[]
  unrenderable: { id: string; attempt: LoggedAttempt }[]
  /** notices about components that the subscriber no longer follows */
  unwanted: { id: string; attempt: LoggedAttempt }[]
  /** the keys of this process do not decrypt the channel; those of another process may */
  undecrypted: { id: string; attempt: LoggedAttempt; retryAt: Date }[]
}

/**
 * Prepares deliveries. One that cannot be rendered (an internal error) or is unwanted does not stop the others. What is older than a day
 * and still not decrypted is unrenderable. Other work runs between two of them.
 */
export async function prepareAll<H extends QueuedDelivery>(
  heads: H[],
  tools: PrepareTools,
  now: Date,
  pause: YieldPoint,
): Promise<PreparedBatch<H>> {
  const all: PreparedBatch<H> = { prepared: [], unrenderable: [], unwanted: [], undecrypted: [] }
  const retryAt = new Date(now.getTime() + DECRYPTION_RETRY_MS)
  for (const head of heads) {
    await pause()
    if (isUnwanted(head)) {
      all.unwanted.push({ id: head.id, attempt: buildUnsentAttempt(UNWANTED_MESSAGE, now) })
      continue
    }
    try {
      all.prepared.push({ ...prepareDelivery(head, tools, now), head })
    } catch (error) {
      const { message } = error as Error
      const isKnown = error instanceof UnsendableError
      const reason = isKnown ? message : `internal error: the event could not be rendered (${message})`
      const unsent = { id: head.id, attempt: buildUnsentAttempt(reason, now) }
      const isYoung = now.getTime() - head.createdAt.getTime() < MAX_UNDECRYPTED_AGE_MS
      if (error instanceof DecryptionError && isYoung) all.undecrypted.push({ ...unsent, retryAt })
      else all.unrenderable.push(unsent)
    }
  }
  return all
}
