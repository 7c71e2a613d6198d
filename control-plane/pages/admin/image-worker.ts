import type { Egress } from '../../../shared/egress/types.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import type { Loop, LoopTools } from '../../foundation/platform/time/loop.ts'
import { startScheduledLoop } from '../../foundation/platform/time/scheduled-loop.ts'
import { claimDueImages, type DueImage, findNextFetchAt } from '../core/images/image-store.ts'
import { refreshImage } from './image-actions.ts'

/** The wait after which work is looked for even without a notification. */
const MAX_IDLE_MS = 60_000
const MAX_CONCURRENT_FETCHES = 8
/** Longer than a fetch, and the wait for the thread that sanitizes a large SVG. */
const LEASE_MS = 180_000

/**
 * Fetches the logos and favicons of status pages: a new address immediately, a failed one again, and each one daily.
 * Any number of processes may run it. Call `wake` on NOTIFY "page_images".
 */
export function startImageWorker({ db, egress, log, metrics }: LoopTools & { db: Db; egress: Egress }): Loop {
  const fetches = metrics.counter(
    'picket_status_page_image_fetches_total',
    'Fetches of logos and favicons of status pages',
    ['outcome'],
  )
  const refresh = async (image: DueImage) => {
    try {
      fetches.inc({ outcome: (await refreshImage({ db, egress, now }, image)) ? 'ok' : 'failed' })
    } catch (err) {
      // an internal error: the lease expires, and the other images are not affected
      log.error({ err, page_id: image.pageId, kind: image.kind }, 'an image of a status page could not be refreshed')
      fetches.inc({ outcome: 'broken' })
    }
  }
  return startScheduledLoop('page-images', MAX_IDLE_MS, { log, metrics }, async () => {
    const due = await claimDueImages(db, { now: now(), leaseMs: LEASE_MS, limit: MAX_CONCURRENT_FETCHES })
    await Promise.all(due.map(refresh))
    return findNextFetchAt(db)
  })
}
