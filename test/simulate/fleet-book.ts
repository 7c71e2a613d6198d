import { type Book, enterEpoch, enterMonitor, planOf } from '../../control-plane/fleet/book.ts'
import { markLinks } from '../../control-plane/fleet/desk.ts'
import { isBehind, type KnownSet } from '../../control-plane/fleet/epochs.ts'
import type { Link } from '../../control-plane/fleet/link.ts'
import { isSameSet, nextLiveSet } from '../../control-plane/fleet/live-set.ts'
import type { Entry } from '../../control-plane/fleet/roster.ts'
import { FLEET_TIMING } from '../../control-plane/fleet/timing.ts'
import type { Database, MonitorRow } from './database.ts'
import { checkOf } from './scene.ts'

type Parts = {
  book: Book
  links: Map<string, Link>
  database: Database
  pump: (link: Link) => void
  /** something has changed: rounds are made again */
  wake: () => void
}

/** How a fleet process keeps its book up to date (`roster-actions`, `epoch-actions` and `actions` of the room). */
export type Bookkeeping = {
  catchUp: () => void
  readEpochs: () => void
  /** A probe has work of this epoch: the database has to know it, or gives a higher one. */
  renew: (known: KnownSet) => void
  updateLiveSets: (regions: readonly string[], mayBury: boolean) => void
}

export function keepBook({ book, links, database, pump, wake }: Parts): Bookkeeping {
  let timeline = 0

  function catchUp(): void {
    if (timeline !== database.timeline()) {
      const isFirst = timeline === 0
      timeline = database.timeline()
      if (!isFirst) beginAgain()
    }
    for (const row of database.changedSince(book.roster.revision)) {
      for (const link of markLinks(links, enterMonitor(book, entryOf(row)))) pump(link)
    }
  }

  /** The database was restored: everything is read again, and each region gets a new epoch. */
  function beginAgain(): void {
    Object.assign(book.roster, { revision: 0, log: [], deleted: [] })
    for (const set of knownSets()) if (set.epoch > 0) renew({ ...set, epoch: set.epoch + 1, probeIds: null })
    wake()
  }

  const knownSets = (): KnownSet[] =>
    [...book.plans].map(([region, { epoch, probes }]) => ({ region, epoch, probeIds: probes.map(({ id }) => id) }))

  function readEpochs(): void {
    enterNewer()
    const rows = new Map(database.epochs().map(row => [row.region, row]))
    for (const set of knownSets()) if (isBehind(rows.get(set.region), set)) renew(set)
  }

  function enterNewer(): void {
    for (const row of database.epochs()) {
      if (row.epoch <= planOf(book, row.region).epoch) continue
      wake()
      for (const marks of enterEpoch(book, row)) markLinks(links, marks)
      for (const link of links.values()) if (link.region === row.region) pump(link)
    }
  }

  function renew(known: KnownSet): void {
    const stored = database.epochs().find(({ region }) => region === known.region)
    if (isBehind(stored, known)) database.saveEpoch(known.region, database.liveSet(known.region), known.epoch)
    enterNewer()
  }

  return {
    catchUp,
    readEpochs,
    renew,
    updateLiveSets(regions, mayBury) {
      for (const region of regions) {
        const current = database.liveSet(region)
        const next = nextLiveSet(current, database.probesSeen(region), FLEET_TIMING, mayBury)
        if (!isSameSet([...current].sort(), next)) database.saveEpoch(region, next, planOf(book, region).epoch)
      }
    },
  }
}

function entryOf(row: MonitorRow): Entry {
  const { id, revision, configVersion, settings } = row
  const { intervalS, retryCount, regions, witness } = settings
  const base = { id, revision, configVersion, tenant: row.index % 8, sizeBytes: 200 }
  if (row.isPaused) return { ...base, intervalS: 0, retryCount: 0, regions: [], spec: null }
  return { ...base, intervalS, retryCount, regions, spec: checkOf(row, settings), ...(witness && { witness: 'whole' }) }
}
