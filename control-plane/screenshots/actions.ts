import { ScreenshotKind } from '../../proto/gen/probe/v1/screenshot.ts'
import { type DifferenceHint, differenceHintSubject } from '../../shared/subjects.ts'
import { now } from '../platform/clock.ts'
import type { Nats } from '../platform/nats.ts'
import type { ObjectStore } from '../platform/objects.ts'
import type { Db, Tx } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import { type Arrival, type Arrived, storeKeyOf } from './arrived.ts'
import { acceptComparisons, lockBaseline, setBaseline, setDifference } from './baseline-store.ts'
import { differenceOf, type Page, readPage } from './compare.ts'
import { mayShow } from './may-show.ts'
import { insertScreenshot, picturedMonitor } from './store.ts'

export type ScreenshotTools = { db: Db; nats: Nats; objects: ObjectStore; secrets: Secrets }

export type Kept = 'kept' | 'unknown' | 'foreign'

/**
 * Keeps a screenshot that came from a probe: the bytes, the row, and for a comparison what it differs in from the
 * baseline, which the first one becomes. `unknown`: the monitor does not exist, or it left the region; `foreign`: the probe may not
 * report this. The same one again changes nothing. Throws a PictureError for a comparison that is not a page.
 */
export async function keepScreenshot(tools: ScreenshotTools, arrival: Arrival, arrived: Arrived): Promise<Kept> {
  const { db, objects } = tools
  const { id, probeId, order, contentType } = arrived
  const { monitorId, region, attempt } = order
  const monitor = await picturedMonitor(db, monitorId)
  if (monitor === null) return 'unknown'
  const standing = mayShow(monitor, arrival, arrived, tools.secrets)
  if (standing !== 'own') return standing === 'left' ? 'unknown' : 'foreign'
  const image = Buffer.from(arrived.image)
  const isComparison = order.kind === ScreenshotKind.COMPARISON
  const page = isComparison ? readPage(image) : null
  const storeKey = storeKeyOf(monitor.projectId, arrived)
  await objects.put(storeKey, image, contentType)
  const compared = await db.transaction(async tx => {
    const isNew = await insertScreenshot(tx, {
      ...{ id, monitorId, region, takenIn: arrival.takenIn, probeId, attempt, contentType, storeKey },
      projectId: monitor.projectId,
      scheduledAt: new Date(order.scheduledAtMs),
      kind: isComparison ? 'comparison' : 'failure',
      sizeBytes: image.length,
      difference: null,
      createdAt: now(),
    })
    if (!isNew || page === null) return null
    return { difference: await compare(tx, objects, { ...order, id, page, url: monitor.url }) }
  })
  if (compared) tellProbes(tools.nats, region, { monitorId, ...compared })
  return 'kept'
}

type Comparison = { id: string; monitorId: string; region: string; url: string; page: Page }

/** Null when the screenshot is the baseline from now on: the first of its region, or the first of another address. */
async function compare(
  tx: Tx,
  objects: ObjectStore,
  { id, monitorId, region, url, page }: Comparison,
): Promise<number | null> {
  const key = { monitorId, region, screenshotId: id, now: now() }
  const baseline = await lockBaseline(tx, monitorId, region)
  if (baseline?.screenshotId === id) return null
  const bytes = baseline?.url === url ? await objects.get(baseline.storeKey) : null
  if (bytes === null) {
    await setBaseline(tx, { ...key, url })
    return null
  }
  const difference = differenceOf(readPage(bytes), page)
  await setDifference(tx, { ...key, difference })
  return difference
}

/** From now on the newest comparison is what each region's page is compared with. Returns the regions that have one. */
export async function acceptBaseline({ db, nats }: Pick<ScreenshotTools, 'db' | 'nats'>, monitorId: string) {
  const regions = await db.transaction(tx => acceptComparisons(tx, monitorId, now()))
  for (const region of regions) tellProbes(nats, region, { monitorId, difference: null })
  return regions
}

/** A hint: a probe that does not hear it hears the next one, or reads it with its assignments. */
function tellProbes(nats: Nats, region: string, hint: DifferenceHint): void {
  nats.connection.publish(differenceHintSubject(region), JSON.stringify(hint))
}
