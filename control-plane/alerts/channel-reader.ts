import { readAddresses } from '../accounts/addresses/actions.ts'
import { trustedChannels } from '../accounts/addresses/store.ts'
import type { MailRules } from '../accounts/mails/limits.ts'
import { kindOf } from '../channels/index.ts'
import { openConfig } from '../channels/sealed.ts'
import type { Db } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import { type Caller, isAllowed } from '../web/auth.ts'
import type { StoredChannel } from './channel-store.ts'
import { presentChannel } from './present.ts'

type Tools = { db: Db; secrets: Secrets; mailRules: MailRules }

/** Channels as the API answers them, with what is known of their mail addresses. */
export async function showChannels({ db, secrets, mailRules }: Tools, caller: Caller, rows: StoredChannel[]) {
  const isHidden = !isAllowed(caller, 'write')
  const channels = rows.map(channel => ({ channel, config: openConfig(channel, secrets) }))
  const withMail = channels.filter(({ channel }) => kindOf(channel.type).recipientsOf)
  const addresses = withMail.flatMap(({ channel, config }) => kindOf(channel.type).recipientsOf!(config))
  const trusted =
    withMail.length === 0
      ? new Set()
      : await trustedChannels(
          db,
          withMail.map(one => one.channel.id),
        )
  const known = await readAddresses(db, mailRules, caller.organizationId, addresses)
  return channels.map(({ channel, config }) =>
    presentChannel(channel, config, trusted.has(channel.id) ? null : known, isHidden),
  )
}

/** One of them. `signingSecret`: the new one, which is shown in full (decisions 1.7). */
export async function showChannel(
  tools: Tools,
  caller: Caller,
  channel: StoredChannel,
  signingSecret: string | null = null,
) {
  const [shown] = await showChannels(tools, caller, [channel])
  return { ...shown!, signing_secret: signingSecret ?? shown!.signing_secret }
}
