import type { Random } from '../chaos/random.ts'
import { startReviews } from './alerts.ts'
import type { Database } from './database.ts'
import { type FleetProcess, startFleetProcess } from './fleet.ts'
import type { Hints } from './hints.ts'
import type { JetStream } from './jetstream.ts'
import { followEpochs } from './known-epochs.ts'
import type { SimulatedRecorders } from './recorders.ts'
import { createHost, type Host, type Time } from './time.ts'
import { createTopic } from './topic.ts'
import { type PartitionReading, type PersistentState, startReading } from './verdict.ts'

type Parts = {
  time: Time
  random: Random
  database: Database
  stream: JetStream
  hints: Hints
  shared: PersistentState
  recorders: SimulatedRecorders
}

export type ControlPlanes = {
  /** the processes that accept connections */
  fleet: () => FleetProcess[]
  /** `isInOrder`: it ends what it is doing first. */
  stopFleet: (name: string, isInOrder: boolean) => void
  startFleet: (name: string) => void
  /** Ends the process that counts. `isInOrder`: it stores its checkpoint and releases its partitions first. */
  endVerdict: (isInOrder: boolean) => void
  /** Starts to read from the stored position again. Call it after PostgreSQL was restored. */
  restartVerdict: () => void
}

/** From the last renewal of a lease by a killed process until another process can acquire it. */
const LEASE_MS = 7_000
const OWNERSHIP_MS = 1_500
const BEGIN_MS = 50
const FOLLOW_MS = 2_000
const READ_AFTER_MS = 2

/** Starts two processes of the roles `fleet` and `verdict`. One of them counts. */
export function startControlPlanes(parts: Parts): ControlPlanes {
  const { time, random, database, stream, hints, shared, recorders } = parts
  const alarm = createTopic<void>()
  const processes = new Map<string, FleetProcess>()
  let owner: { host: Host; reading: PartitionReading | null; revision: number } | null = null
  let isReadDue = false

  function startFleet(name: string): void {
    if (processes.has(name)) return
    if (database.isUnavailable()) return void time.after(BEGIN_MS * 20, () => startFleet(name))
    const host = createHost(time, random)
    processes.set(name, startFleetProcess({ name, host, database, stream, hints, alarm }))
    startReviews(host, database)
    recorders.start(name)
  }

  function takeOver(): void {
    const host = createHost(time, random)
    const mine = { host, reading: null as PartitionReading | null, revision: 0 }
    owner = mine
    const known = followEpochs(host, database, stream, hints)
    const begin = () => {
      if (database.isUnavailable()) return void host.machine.after(1_000, begin)
      mine.revision = database.latestRevision()
      mine.reading = startReading({ host, database, stream, hints, known, shared })
      mine.reading.read()
    }
    host.machine.after(BEGIN_MS, begin)
    const follow = () => {
      if (database.isUnavailable() || !mine.reading) return
      const changed = database.changedSince(mine.revision)
      mine.reading.markStale(changed.map(({ id }) => id))
      mine.revision = changed.at(-1)?.revision ?? mine.revision
    }
    database.onMonitors(() => {
      host.machine.after(5, follow)
      return host.isAlive()
    })
    host.machine.every(FOLLOW_MS, follow)
  }

  function read(): void {
    if (isReadDue) return
    isReadDue = true
    time.after(READ_AFTER_MS, () => {
      isReadDue = false
      owner?.reading?.read()
    })
  }

  stream.onStored(read)
  startFleet('a')
  startFleet('b')
  takeOver()
  return {
    fleet: () => [...processes.values()],
    startFleet,
    stopFleet(name, isInOrder) {
      processes.get(name)?.stop()
      processes.delete(name)
      recorders.stop(name, isInOrder)
    },
    endVerdict(isInOrder) {
      const ended = owner
      if (!ended) return
      if (isInOrder) ended.reading?.save()
      ended.host.end()
      owner = null
      const untilFreeMs = isInOrder ? 0 : random.between(LEASE_MS - OWNERSHIP_MS, LEASE_MS)
      const take = () => {
        if (owner) return
        if (database.isUnavailable()) time.after(OWNERSHIP_MS, take)
        else takeOver()
      }
      time.after(untilFreeMs + random.between(0, OWNERSHIP_MS), take)
    },
    restartVerdict() {
      owner?.host.end()
      owner = null
      takeOver()
    },
  }
}
