import { type Book, createBook, enterEpoch, enterMonitor, planOf } from '../../control-plane/fleet/book.ts'
import { markLinks } from '../../control-plane/fleet/desk.ts'
import { isBehind, isPossibleEpoch, type KnownSet } from '../../control-plane/fleet/epochs.ts'
import { type Link, type MessageBody, outboxFor } from '../../control-plane/fleet/link.ts'
import { isSameSet, nextLiveSet } from '../../control-plane/fleet/live-set.ts'
import { assignmentsOf } from '../../control-plane/fleet/messages.ts'
import { type Piece, takePiece } from '../../control-plane/fleet/outbox.ts'
import { isPlanned } from '../../control-plane/fleet/plan.ts'
import type { Entry } from '../../control-plane/fleet/roster.ts'
import { FLEET_TIMING } from '../../control-plane/fleet/timing.ts'
import type { Hello, ProbeMessage, Welcome } from '../../proto/gen/probe/v1/fleet.ts'
import { CAPABILITIES, type Database, type MonitorRow } from './database.ts'
import { type Hints, hearHints, hearProbe } from './hints.ts'
import type { JetStream } from './jetstream.ts'
import { specOf } from './scene.ts'
import type { Host } from './time.ts'

export type Caller = {
  probeId: string
  region: string
  name: string
  hello: Hello
  latencyMs: number
  isReached: () => boolean
  /** Runs at the probe, unless it has ended; later when it stands still. */
  deliver: (ms: number, take: () => void) => void
  onWelcome: (welcome: Welcome) => void
  onMessage: (body: MessageBody) => void
  onEnd: () => void
}

/** A connection of a probe, as the probe has it. */
export type Session = {
  hear: (body: NonNullable<ProbeMessage['body']>) => void
  /** A heartbeat; answers JetStream's time as this process knows it; null: it does not. */
  beat: (latencyMs: number, natsAwayMs: number) => number | null
  isOpen: () => boolean
  close: () => void
  /** The probe's process has ended, and its host says so. */
  breakOff: () => void
}

export type FleetProcess = {
  connect: (caller: Caller) => Session
  /** Ends with its links. */
  stop: () => void
}

/** What the parts of one process of the role `fleet` share. */
export type FleetDesk = {
  book: Book
  links: Map<string, Link>
  host: Host
  database: Database
  stream: JetStream
  hints: Hints
  pump: (link: Link) => void
}

const { deadAfterMs, heartbeatIntervalMs, roundMs } = FLEET_TIMING
const FOLLOW_EVERY_MS = 2_000
const NOTIFIED_AFTER_MS = 5
/** After a change rounds are made for so long: until a probe that came back is steady. Between changes they find nothing. */
const RESTLESS_MS = 90_000

export function startFleetProcess(parts: {
  name: string
  host: Host
  database: Database
  stream: JetStream
  hints: Hints
  monitors: (row: MonitorRow) => Entry
}): FleetProcess {
  const { name, host, database, stream, hints } = parts
  const { machine } = host
  const book = createBook()
  const links = new Map<string, Link>()
  const ended: string[] = []
  const desk: FleetDesk = { book, links, host, database, stream, hints, pump }
  let connections = 0
  let restlessUntilMs = machine.monotonicMs() + RESTLESS_MS
  let soundSinceMs = machine.monotonicMs()
  let recordedMs = machine.monotonicMs()
  let timeline = 0

  const wake = () => {
    if (machine.monotonicMs() > restlessUntilMs) recordedMs = machine.monotonicMs()
    restlessUntilMs = machine.monotonicMs() + RESTLESS_MS
  }
  /** What the database refuses comes again with the next round. */
  const trying = (work: () => void) => {
    try {
      work()
    } catch (error) {
      if (!database.isAway()) throw error
      wake()
    }
  }

  function catchUp(): void {
    if (timeline !== database.timeline()) {
      const isFirst = timeline === 0
      timeline = database.timeline()
      if (!isFirst) beginAgain()
    }
    for (const row of database.changedSince(book.roster.revision)) {
      for (const link of markLinks(links, enterMonitor(book, parts.monitors(row)))) pump(link)
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

  function updateLiveSets(regions: readonly string[], mayBury: boolean): void {
    for (const region of regions) {
      const current = database.liveSet(region)
      const next = nextLiveSet(current, database.probesSeen(region), FLEET_TIMING, mayBury)
      if (!isSameSet([...current].sort(), next)) database.saveEpoch(region, next)
    }
  }

  function round(): void {
    const now = machine.monotonicMs()
    for (const link of [...links.values()]) {
      if (now - link.lastHeardMs <= deadAfterMs) continue
      link.close('silent')
    }
    if (now > restlessUntilMs) return
    trying(() => {
      for (const link of links.values()) {
        if (link.lastHeardMs <= link.recordedMs || now - link.recordedMs < heartbeatIntervalMs) continue
        const awayMs = link.health?.nats_away_ms ?? 0
        if (database.recordSeen(link.probeId, link.connectedTo, Math.max(0, now - link.lastHeardMs), awayMs))
          link.recordedMs = now
        else link.close('taken over')
      }
      database.markDisconnected(ended.splice(0))
      if (now - recordedMs > deadAfterMs / 2) soundSinceMs = now
      recordedMs = now
      updateLiveSets(database.regions(), now - soundSinceMs > deadAfterMs)
      readEpochs()
    })
  }

  function pump(link: Link): void {
    while (link.isOpen) {
      const now = { revision: book.roster.revision, epoch: planOf(book, link.region).epoch }
      const piece = takePiece(link.outbox, now, id => book.roster.entries.get(id)?.sizeBytes ?? 64)
      if (piece === null) return
      void link.send(bodyOf(link, piece))
    }
  }

  function bodyOf({ region, probeId }: Link, piece: Piece): MessageBody {
    switch (piece.kind) {
      case 'assignments': {
        const states = database.isAway() ? null : storedStates(region, piece.ids)
        const value = assignmentsOf(piece, { book, region, probeId, states, differences: new Map() })
        return { $case: 'assignments', value }
      }
      case 'epoch':
        return { $case: 'epochChanged', value: { epoch: piece.epoch } }
      case 'states':
        return {
          $case: 'regionStates',
          value: { states: piece.states.map(([monitorId, state]) => ({ monitorId, state })) },
        }
      case 'run':
        return { $case: 'runNow', value: piece.run }
    }
  }

  function storedStates(region: string, ids: readonly [string, unknown][]) {
    const states = new Map<string, { regionState: string | null }>()
    for (const [id] of ids) {
      const state = database.monitor(id)?.state
      if (state) states.set(id, { regionState: state.cells.find(cell => cell.region === region)?.state ?? null })
    }
    return states
  }

  /** As `welcomeProbe`: the connection is written down, the live set brought up to date, then the link opens. */
  function letIn(caller: Caller): Link | null {
    const { probeId, region, hello } = caller
    if (!host.isRunning() || database.isAway()) return null
    const connectedTo = `${name} ${++connections}`
    database.connectProbe(probeId, region, connectedTo)
    wake()
    if (!isPlanned(planOf(book, region), { id: probeId, capabilities: CAPABILITIES })) {
      updateLiveSets([region], false)
      readEpochs()
    }
    const lastEpoch = hello.lastEpoch ?? 0
    if (lastEpoch > planOf(book, region).epoch && isPossibleEpoch(lastEpoch, stream.nowMs())) {
      readEpochs()
      if (lastEpoch > planOf(book, region).epoch) renew({ region, epoch: lastEpoch, probeIds: null })
    }
    links.get(probeId)?.close('replaced')
    const link = newLink(caller, connectedTo)
    links.set(probeId, link)
    return link
  }

  function newLink(caller: Caller, connectedTo: string): Link {
    const { probeId, region, hello, latencyMs, isReached, deliver } = caller
    const now = machine.monotonicMs()
    const link: Link = {
      ...{ probeId, region, name: caller.name, instanceId: hello.instanceId, connectedTo },
      outbox: outboxFor(book, region, probeId, hello),
      isPumping: false,
      isOpen: true,
      lastHeardMs: now,
      recordedMs: now,
      credentialsEndMs: 0,
      health: null,
      isFree: () => true,
      send(body) {
        // packets that vanish are sent again by TCP until the link is given up: the probe takes a snapshot then
        const arrive = () => {
          if (isReached()) caller.onMessage(body)
          else if (link.isOpen) deliver(1_000, arrive)
        }
        deliver(latencyMs, arrive)
        return Promise.resolve(true)
      },
      close() {
        if (!link.isOpen) return
        link.isOpen = false
        if (links.get(probeId) === link) links.delete(probeId)
        ended.push(connectedTo)
        wake()
        if (isReached()) deliver(latencyMs, caller.onEnd)
      },
    }
    return link
  }

  const everyMs = (ms: number, work: () => void) => machine.every(ms, () => host.isRunning() && work())
  catchUp()
  readEpochs()
  everyMs(roundMs, round)
  everyMs(
    FOLLOW_EVERY_MS,
    () =>
      machine.monotonicMs() <= restlessUntilMs &&
      trying(() => {
        catchUp()
        readEpochs()
      }),
  )
  const onNotice = (work: () => void) => () => {
    if (!host.isAlive()) return false
    wake()
    machine.after(NOTIFIED_AFTER_MS, () => trying(work))
    return true
  }
  database.onMonitors(onNotice(catchUp))
  database.onEpochs(onNotice(readEpochs))
  hearHints(desk)

  return {
    stop() {
      for (const link of [...links.values()]) link.close('stopping')
      if (!database.isAway()) database.markDisconnected(ended.splice(0))
      host.end()
    },
    connect(caller) {
      let link: Link | null = null
      machine.after(caller.latencyMs, () => {
        link = caller.isReached() ? letIn(caller) : null
        if (!link) {
          if (caller.isReached()) caller.deliver(caller.latencyMs, caller.onEnd)
          return
        }
        const { epoch } = planOf(book, caller.region)
        const welcome: Welcome = {
          ...{ probeId: caller.probeId, region: caller.region, natsUrl: '', natsCredentials: '' },
          ...{ heartbeatIntervalMs, deadAfterMs, epoch },
        }
        caller.deliver(caller.latencyMs, () => caller.onWelcome(welcome))
        pump(link)
      })
      const isUp = () => host.isAlive() && link !== null && link.isOpen
      return {
        isOpen: () => isUp() && host.isRunning(),
        beat(latencyMs, natsAwayMs) {
          if (!isUp()) return null
          link!.lastHeardMs = machine.monotonicMs() + latencyMs
          if (natsAwayMs > 0 || (link!.health?.nats_away_ms ?? 0) > 0) {
            wake()
            link!.health = { nats_away_ms: natsAwayMs } as Link['health']
          }
          return hints.logNowMs()
        },
        hear(body) {
          if (!isUp()) return
          link!.lastHeardMs = machine.monotonicMs()
          if (body.$case === 'draining') {
            trying(() => database.markDraining(link!.probeId, link!.connectedTo))
            wake()
          } else hearProbe(desk, link!, body)
        },
        close: () => link?.close('gone'),
        breakOff: () => link?.close('gone'),
      }
    },
  }
}

export const entryOf = (row: MonitorRow): Entry => {
  const { id, revision, configVersion, settings } = row
  const { intervalS, retryCount, regions } = settings
  const base = { id, revision, configVersion, tenant: row.index % 8, sizeBytes: 200 }
  if (row.isPaused) return { ...base, intervalS: 0, retryCount: 0, regions: [], spec: null }
  return { ...base, intervalS, retryCount, regions, spec: specOf(row, settings) }
}
