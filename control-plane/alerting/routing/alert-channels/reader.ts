import { loadAddressStates } from '../../../accounts/email/confirmation/actions.ts'
import { listTrustedChannelIds } from '../../../accounts/email/confirmation/store.ts'
import type { MailRules } from '../../../accounts/email/daily-limits/limits.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { type ApiCaller, hasScope } from '../../../foundation/web/auth/authentication.ts'
import { decryptConfig } from '../../channels/config/encrypted-config.ts'
import { getChannelKind } from '../../channels/registry.ts'
import { toChannelResponse } from '../responses.ts'
import type { StoredChannel } from './store.ts'

type Tools = { db: Db; secrets: SecretCipher; mailRules: MailRules }

/** API responses of channels, with the state of their mail addresses. */
export async function buildChannelResponses(
  { db, secrets, mailRules }: Tools,
  caller: ApiCaller,
  rows: StoredChannel[],
) {
  const isHidden = !hasScope(caller, 'write')
  const channels = rows.map(channel => ({ channel, config: decryptConfig(channel, secrets) }))
  const mailChannels = channels.filter(({ channel }) => getChannelKind(channel.type).getRecipients)
  const addresses = mailChannels.flatMap(({ channel, config }) => getChannelKind(channel.type).getRecipients!(config))
  const trusted =
    mailChannels.length === 0
      ? new Set()
      : await listTrustedChannelIds(
          db,
          mailChannels.map(one => one.channel.id),
        )
  const known = await loadAddressStates(db, mailRules, caller.organizationId, addresses)
  return channels.map(({ channel, config }) =>
    toChannelResponse(channel, config, trusted.has(channel.id) ? null : known, isHidden),
  )
}

/** API response of one channel. `signingSecret`: a new secret, which is shown in full. */
export async function buildChannelResponse(
  tools: Tools,
  caller: ApiCaller,
  channel: StoredChannel,
  signingSecret: string | null = null,
) {
  const [shown] = await buildChannelResponses(tools, caller, [channel])
  return { ...shown!, signing_secret: signingSecret ?? shown!.signing_secret }
}
