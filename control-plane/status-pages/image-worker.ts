import type { Egress } from '../../shared/egress/index.ts'
import { now } from '../platform/clock.ts'
import { startDueLoop } from '../platform/due-loop.ts'
import type { Loop, LoopTools } from '../platform/loop.ts'
import type { Db } from '../platform/postgres.ts'
import { refreshImage } from './image-actions.ts'
import { claimDueImages, type DueImage, nextFetchAt } from './image-store.ts'

/** A notification that got lost is made up for after this. */
const IDLE_MS = 60_000
const IMAGES_AT_ONCE = 8
/** longer than a fetch may take */
const LEASE_MS = 60_000

/**
 * Fetches the logos and favicons of status pages: a new address at once, one that failed again, and all of them daily. Any
 * number of processes may do so. `wake` it on NOTIFY "page_images".
 */
export function startImageWorker({ db, egress, log, metrics }: LoopTools & { db: Db; egress: Egress }): Loop {
  const fetches = metrics.counter(
    'picket_status_page_image_fetches_total',
    'Logos and favicons of status pages that were fetched from their addresses',
    ['outcome'],
  )
  const refresh = async (image: DueImage) => {
    try {
      fetches.inc({ outcome: (await refreshImage({ db, egress, now }, image)) ? 'ok' : 'failed' })
    } catch (err) {
      // ours: its claim ends by itself, and the others have nothing to do with it
      log.error({ err, page_id: image.pageId, kind: image.kind }, 'an image of a status page could not be refreshed')
      fetches.inc({ outcome: 'broken' })
    }
  }
  return startDueLoop('page-images', IDLE_MS, { log, metrics }, async () => {
    const at = now()
    const due = await claimDueImages(db, at, new Date(at.getTime() + LEASE_MS), IMAGES_AT_ONCE)
    await Promise.all(due.map(refresh))
    return nextFetchAt(db)
  })
}
