import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { newDeliveryId, newId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import type { ApiCaller } from '../../../foundation/web/auth/authentication.ts'
import { conflict, found, validationError } from '../../../foundation/web/server/errors.ts'
import { encryptConfig, encryptSigningSecret } from '../../channels/config/encrypted-config.ts'
import { getChannelKind } from '../../channels/registry.ts'
import {
  sendUnstored,
  type UnstoredOutcome,
  type UnstoredSendTools,
} from '../../deliveries/attempts/unstored-send-actions.ts'
import type { QueuedDelivery } from '../../deliveries/queue/lane-store.ts'
import type { ChannelCreate } from '../schemas.ts'
import { getChatInstallationId, newSigningSecret } from './actions.ts'
import { type ConfigTools, resolveConfig } from './config.ts'
import { isForeignRelaySource } from './relay-source-store.ts'
import { findChatInstallation } from './store.ts'
import { buildTestEvent } from './test-event.ts'

export type UnstoredTestTools = UnstoredSendTools &
  ConfigTools & { db: Db; secrets: SecretCipher; relayUrl: string | null }

/** `signingSecret`: signed this request only; null for a type that does not sign. */
type UnstoredTest = {
  deliveryId: string
  event: 'monitor.down'
  signingSecret: string | null
  outcome: UnstoredOutcome
}

/**
 * Sends a test event to a channel that is not stored, and stores neither channel, event nor delivery. Throws 400 for an
 * invalid config, 404 for an unknown chat installation and 409 for a relay source of another project.
 */
export async function testUnstoredChannel(
  tools: UnstoredTestTools,
  { projectId }: Pick<ApiCaller, 'projectId'>,
  body: ChannelCreate,
  now: Date,
): Promise<UnstoredTest> {
  const { db, secrets, publicUrl, relayUrl } = tools
  const { type, name } = body
  const { config, problems } = resolveConfig(type, body.config, null, tools)
  if (problems.length > 0) throw validationError(problems)
  const kind = getChannelKind(type)
  const relayId = kind.getRelayId?.(config) ?? null
  if (relayUrl !== null && relayId !== null && (await isForeignRelaySource(db, projectId, relayId)))
    throw conflict('this relay_source_id belongs to another project')
  const installationId = getChatInstallationId(type, config)
  const chat =
    installationId === null
      ? null
      : found(await findChatInstallation(db, projectId, installationId), 'chat installation')
  const owner = { id: newId(), projectId }
  const signingSecret = kind.isSigned ? newSigningSecret() : null
  const event = buildTestEvent({ ...owner, name }, { id: newId(), publicUrl, now })
  const head: QueuedDelivery = {
    id: newDeliveryId(),
    projectId,
    channelId: owner.id,
    channelType: type,
    config: encryptConfig(config, owner, secrets),
    signingSecret: signingSecret === null ? null : encryptSigningSecret(signingSecret, owner, secrets),
    chat,
    eventId: event.id,
    eventName: event.name,
    eventData: event.data,
    subject: event.subject,
    createdAt: now,
    attemptsMade: 0,
    uncountedAttempts: 0,
    isDeferred: false,
    isReplay: false,
    isCrowd: false,
    reminder: null,
    body: null,
    requestUrl: null,
    requestAddress: null,
    subscriberId: null,
    componentIds: null,
  }
  return { deliveryId: head.id, event: event.name, signingSecret, outcome: await sendUnstored(head, tools, now) }
}
