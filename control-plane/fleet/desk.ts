import type { Log } from '../../shared/log.ts'
import type { Nats } from '../platform/nats.ts'
import type { Db } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Book, Mark } from './book.ts'
import type { Link } from './link.ts'
import type { FleetMeters } from './meters.ts'
import { markDirty } from './outbox.ts'
import type { RunsInHand } from './runs-in-hand.ts'
import type { FleetTiming } from './timing.ts'

/** What one fleet process has in hand: the book, its open links, and whom to tell. */
export type Desk = {
  db: Db
  nats: Nats
  secrets: Secrets
  log: Log
  /** for people, in `probes.connected_to` */
  processName: string
  /** where probes publish */
  natsUrl: string
  timing: FleetTiming
  book: Book
  /** by probe id */
  links: Map<string, Link>
  runs: RunsInHand
  meters: FleetMeters
  isStopping: boolean
  /** Brings a region's live set and the book up to date, because a probe has come. */
  admit(region: string): Promise<void>
  /** A probe has work of this epoch: the database has to know it, or gives a higher one. */
  heedEpoch(region: string, epoch: number): Promise<void>
  /** Have the next round now. */
  wake(): void
  /** Reads what changed of the monitors since the last time. */
  catchUp(): Promise<void>
  /** Changes of live sets are entered one after another. */
  enterInTurn: <T>(work: () => Promise<T>) => Promise<T>
  /** connections that ended and are not written down yet */
  ended: string[]
}

/** Notes for each of this process's probes what has changed for it; returns the links that have to hear of it. */
export function markLinks(links: ReadonlyMap<string, Link>, marks: readonly Mark[]): Set<Link> {
  const marked = new Set<Link>()
  for (const { probeId, monitorId, why } of marks) {
    const link = links.get(probeId)
    if (!link) continue
    markDirty(link.outbox, monitorId, why)
    marked.add(link)
  }
  return marked
}
