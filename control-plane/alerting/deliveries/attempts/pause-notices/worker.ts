import { sanitizeNameForEmail } from '../../../../accounts/email/confirmation/address.ts'
import { enqueueMail } from '../../../../accounts/email/outbox/actions.ts'
import { getOrganizationName } from '../../../../accounts/members/store.ts'
import type { SecretCipher } from '../../../../foundation/platform/crypto/encryption.ts'
import type { Db } from '../../../../foundation/platform/postgres/client.ts'
import { now as clock } from '../../../../foundation/platform/time/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../../../../foundation/platform/time/loop.ts'
import { buildPauseEmail } from './pause-email.ts'
import { listOrganizationsToInform, listProvenAdmins, takeUnannounced } from './store.ts'

type PauseNoticeTools = LoopTools & { db: Db; secrets: SecretCipher; publicUrl: string }

/** Channels that are paused within this time are one email. */
const INTERVAL_MS = 60_000
/** An organization gets at most one announcement in this time; later pauses are in the next one. */
const MIN_INTERVAL_MS = 3_600_000
const BATCH_SIZE = 100
const MAX_ADMINS = 20

/** Informs the admins of an organization by email that channels were paused (docs/design/deliveries.md#auto-pause). */
export function startPauseNoticeWorker(tools: PauseNoticeTools): Loop {
  return startLoop('pause-notices', INTERVAL_MS, tools, async signal => {
    let count = BATCH_SIZE
    while (count === BATCH_SIZE && !signal.aborted) {
      const now = clock()
      const since = new Date(now.getTime() - MIN_INTERVAL_MS)
      const ids = await listOrganizationsToInform(tools.db, { since, now, limit: BATCH_SIZE })
      const failures: unknown[] = []
      for (const id of ids) {
        if (signal.aborted) return
        // the others must not wait for one that fails each time
        await announcePauses(tools, id, now).catch(error => failures.push(error))
      }
      if (failures.length > 0) throw failures[0]
      count = ids.length
    }
  })
}

async function announcePauses({ db, secrets, publicUrl, log }: PauseNoticeTools, organizationId: string, now: Date) {
  await db.transaction(async tx => {
    const channels = (await takeUnannounced(tx, organizationId, now)).map(channel => ({
      ...channel,
      name: sanitizeNameForEmail(channel.name),
    }))
    // another process has taken them
    if (channels.length === 0) return
    const organization = sanitizeNameForEmail(await getOrganizationName(tx, organizationId))
    const admins = await listProvenAdmins(tx, organizationId, MAX_ADMINS)
    for (const to of admins) await enqueueMail(tx, secrets, buildPauseEmail(to, { organization, channels, publicUrl }))
    log.info({ organizationId, channels: channels.length, admins: admins.length }, 'paused channels were announced')
  })
}
