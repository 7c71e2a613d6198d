import { logNowMs } from '../platform/nats.ts'
import { renewEpoch } from './actions.ts'
import { enterEpoch, planOf, type RegionEpoch } from './book.ts'
import { type Desk, markLinks } from './desk.ts'
import { isBehind, isPossibleEpoch, type KnownSet } from './epochs.ts'
import { pump } from './grpc.ts'
import { regionEpochs } from './store.ts'

/**
 * Live sets as they are now, of all regions or of one, into the book and to the probes of this process. Where the database
 * is behind what this process has sent to probes, it takes a new epoch first.
 */
export async function readEpochs(desk: Desk, only: string | null = null): Promise<void> {
  await takeEpochs(desk, await regionEpochs(desk.db, only), only)
}

/** The same with rows that were read a moment ago; a live set that is newer than these rows is compared with the database again. */
export async function takeEpochs(desk: Desk, rows: readonly RegionEpoch[], only: string | null = null): Promise<void> {
  await enterNewer(desk, rows)
  const stored = new Map(rows.map(row => [row.region, row]))
  const known = setsOf(desk, only).filter(set => isBehind(stored.get(set.region), set))
  for (const set of known) await renew(desk, set)
}

/**
 * A probe says that its work is of this epoch. When the database does not know it, although it may have been given out, the
 * region gets a new one: else all results of the probe would be of an epoch that is ahead.
 */
export async function heedEpoch(desk: Desk, region: string, epoch: number): Promise<void> {
  const isKnown = () => epoch <= planOf(desk.book, region).epoch
  if (isKnown() || !isPossibleEpoch(epoch, logNowMs(desk.nats))) return
  await readEpochs(desk, region)
  if (!isKnown()) await renew(desk, { region, epoch, probeIds: null })
}

/** Each region with probes gets an epoch that no process knows yet. */
export async function giveNewEpochs(desk: Desk): Promise<void> {
  for (const { region, epoch } of setsOf(desk, null)) {
    if (epoch > 0) await renew(desk, { region, epoch: epoch + 1, probeIds: null })
  }
}

async function renew(desk: Desk, { region, epoch, probeIds }: KnownSet): Promise<void> {
  if (await renewEpoch(desk.db, { region, epoch, probeIds })) {
    desk.meters.renewed.inc({ region })
    desk.log.warn({ region, epoch }, 'PostgreSQL is not where it was; the region gets a higher epoch')
  }
  await enterNewer(desk, await regionEpochs(desk.db, region))
}

async function enterNewer(desk: Desk, rows: readonly RegionEpoch[]): Promise<void> {
  for (const row of rows) {
    if (row.epoch > planOf(desk.book, row.region).epoch) await desk.enterInTurn(() => enterRow(desk, row))
  }
}

const setsOf = ({ book }: Desk, only: string | null): KnownSet[] =>
  [...book.plans]
    .filter(([region]) => only === null || region === only)
    .map(([region, { epoch, probes }]) => ({ region, epoch, probeIds: probes.map(({ id }) => id) }))

/** With a hundred thousand monitors this takes a while: other work has its turn between the parts. */
async function enterRow(desk: Desk, row: RegionEpoch): Promise<void> {
  for (const marks of enterEpoch(desk.book, row)) {
    markLinks(desk.links, marks)
    await new Promise(resolve => setImmediate(resolve))
  }
  for (const link of desk.links.values()) if (link.region === row.region) pump(desk, link)
}
