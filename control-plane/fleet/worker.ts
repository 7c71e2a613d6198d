import { FleetService } from '../../proto/gen/probe/v1/fleet.ts'
import type { Log } from '../../shared/log.ts'
import type { Metrics } from '../../shared/metrics.ts'
import { atMost } from '../platform/at-most.ts'
import { monotonicMs } from '../platform/clock.ts'
import type { Suspicion } from '../platform/connection-watch.ts'
import { type GrpcTls, startGrpcServer } from '../platform/grpc.ts'
import { listen } from '../platform/listen.ts'
import { CRITICAL, startLoop } from '../platform/loop.ts'
import { isLoopback } from '../platform/loopback.ts'
import { logNowMs, type Nats } from '../platform/nats.ts'
import { connectAccounts } from '../platform/nats-accounts.ts'
import { nextRun } from '../platform/next-run.ts'
import type { Db } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import { createNoteAbsences, type NoteAbsences } from './absence-actions.ts'
import { startAccess } from './access-worker.ts'
import { type OnRead, updateLiveSets } from './actions.ts'
import { countsOf, createBook, planOf, type RegionEpoch } from './book.ts'
import type { Desk } from './desk.ts'
import { heedEpoch, readEpochs, takeEpochs } from './epoch-actions.ts'
import { fleetImplementation } from './grpc.ts'
import type { Link } from './link.ts'
import { fleetMeters, measure } from './meters.ts'
import { ownedBy } from './plan.ts'
import { readHints } from './reader.ts'
import { followMonitors } from './roster-actions.ts'
import { forgetRuns } from './runs-in-hand.ts'
import { markDisconnected, recordCounts, recordSeen } from './store.ts'
import { FLEET_TIMING, type FleetTiming } from './timing.ts'

export type FleetContext = {
  db: Db
  /** for LISTEN */
  databaseUrl: string
  suspicion?: Suspicion
  nats: Nats
  secrets: Secrets
  log: Log
  metrics: Metrics
  /** for people; shown as `probes.connected_to` */
  processName: string
  /** where probes connect; port 0: any free one */
  host: string
  port: number
  /** null: in plain text */
  tls: GrpcTls | null
  /** everyone who reaches the port may ask what it serves */
  reflection: boolean
  /** of one client address at a time */
  connectionsPerAddress: number
  /** where probes publish their results, as they see it */
  natsUrl: string
  timing?: FleetTiming
}

/** A change of all monitors is read page by page. */
const MONITORS_LIMITS = { isCritical: true, limitMs: 120_000 }
const STOP_WITHIN_MS = 2_000

/**
 * The role `fleet`: loads every monitor, then serves probes, follows changes, and keeps the live sets (decisions 11.1).
 * Throws when the port is taken or the database does not answer. `stop` ends the streams so that probes come back later.
 */
export async function startFleet(context: FleetContext): Promise<{ port: number; stop(): Promise<void> }> {
  const meters = fleetMeters(context.metrics)
  const admissions = new Map<string, () => Promise<void>>()
  let isWoken = false
  const takeWake = () => {
    const was = isWoken
    isWoken = false
    return was
  }
  const desk: Desk = {
    ...context,
    timing: context.timing ?? FLEET_TIMING,
    book: createBook(),
    links: new Map(),
    runs: new Map(),
    meters,
    isStopping: false,
    ended: [],
    admit(region) {
      const admit = admissions.get(region) ?? nextRun(() => admitTo(desk, region))
      admissions.set(region, admit)
      return admit()
    },
    heedEpoch: (region, epoch) => heedEpoch(desk, region, epoch),
    wake() {
      isWoken = true
      rounds.wake()
    },
    catchUp: nextRun(followMonitors(() => desk)),
    enterInTurn: atMost(1),
  }
  await desk.catchUp()
  await readEpochs(desk)
  const { operator, servers } = context.nats
  const accounts = operator && (await connectAccounts(servers, operator, () => logNowMs(context.nats)))
  const server = await startGrpcServer({
    host: context.host,
    port: context.port,
    tls: context.tls,
    service: FleetService,
    implementation: fleetImplementation(desk),
    protoFile: 'probe/v1/fleet.proto',
    reflection: context.reflection,
    limits: { perAddress: context.connectionsPerAddress, firstCallMs: desk.timing.firstCallMs },
    refused: why => meters.refused.inc({ why }),
  }).catch(async error => {
    await accounts?.close()
    throw error
  })
  if (context.tls === null && !isLoopback(context.host)) {
    context.log.warn('probes connect in plain text, with the secrets of monitors on the way: set GRPC_TLS_CERT')
  }

  context.metrics.beforeRender(() => measure(desk, monotonicMs()))
  const hints = readHints(desk)
  const rounds = startLoop('fleet_links', desk.timing.roundMs, context, createRound(desk, takeWake), CRITICAL)
  const monitors = startLoop('fleet_monitors', desk.timing.followMs, context, () => desk.catchUp(), MONITORS_LIMITS)
  const epochs = startLoop('fleet_epochs', 5 * desk.timing.followMs, context, () => readEpochs(desk), CRITICAL)
  const access = startAccess(desk, context, accounts)
  const loops = { monitors, region_epochs: epochs, probes_revoked: access }
  const listener = listen(
    context.databaseUrl,
    Object.keys(loops),
    channel => loops[channel as keyof typeof loops].wake(),
    context.log,
    context,
  )
  return {
    port: server.port,
    async stop() {
      desk.isStopping = true
      hints.stop()
      await Promise.all([listener.stop(), rounds.stop(), monitors.stop(), epochs.stop(), access.stop()])
      await accounts?.close()
      for (const link of [...desk.links.values()]) link.close('stopping')
      await server.stop(STOP_WITHIN_MS)
      await markDisconnected(desk.db, desk.ended.splice(0))
    },
  }
}

/** New probes of a region that can work at once do. */
async function admitTo(desk: Desk, region: string): Promise<void> {
  await updateLiveSets(desk.db, desk.timing, { region, mayBury: false, knownEpoch: epochsOf(desk) })
  await readEpochs(desk, region)
}

const epochsOf = (desk: Desk) => (region: string) => planOf(desk.book, region).epoch

/** Closes dead links, writes down who was heard, and buries or lets in probes. */
function createRound(desk: Desk, takeWake: () => boolean): () => Promise<void> {
  const { timing } = desk
  // since when everything heard was written down in time: only then is an old `last_seen_at` a dead probe (live-set.ts)
  let soundSinceMs = monotonicMs()
  let recordedMs = monotonicMs()
  const orphans = new Map<string, number>()
  const noteAbsences = createNoteAbsences(desk)
  // in every second round, and in one that was asked for; a new probe is let in at once, by `admit`
  let isLookDue = true
  const counts = createCounts(desk)
  return async () => {
    const startedMs = monotonicMs()
    const isLook = takeWake() || isLookDue
    // in the next round again, unless this one succeeds
    isLookDue = true
    for (const link of [...desk.links.values()]) {
      if (startedMs - link.lastHeardMs > timing.deadAfterMs) link.close('silent')
    }
    await recordLinks(desk, startedMs)
    await counts()
    if (monotonicMs() - recordedMs > timing.deadAfterMs / 2) soundSinceMs = monotonicMs()
    recordedMs = monotonicMs()
    const mayBury = recordedMs - soundSinceMs > timing.deadAfterMs
    if (isLook) {
      await lookAtLiveSets(desk, mayBury, noteAbsences)
      isLookDue = false
    }
    forgetRuns(desk.runs, monotonicMs())
    reportOrphans(desk, orphans)
  }
}

async function lookAtLiveSets(desk: Desk, mayBury: boolean, noteAbsences: NoteAbsences): Promise<void> {
  let read: readonly RegionEpoch[] = []
  const onRead: OnRead = async (rows, probes) => {
    read = rows
    await noteAbsences(
      rows.map(({ region }) => region),
      probes,
    )
  }
  const changed = await updateLiveSets(desk.db, desk.timing, { mayBury, knownEpoch: epochsOf(desk), onRead })
  if (changed.length === 0) return takeEpochs(desk, read)
  desk.log.info({ regions: changed }, 'other probes are live now')
  await readEpochs(desk)
}

/** Other processes write the same; what they or a restore of the database changed is written again. */
const COUNTS_AGAIN_MS = 10_000

function createCounts({ db, book }: Desk): () => Promise<void> {
  let recorded = ''
  let atMs = Number.NEGATIVE_INFINITY
  return async () => {
    const counts = countsOf(book)
    const text = JSON.stringify(counts)
    if (text === recorded && monotonicMs() - atMs < COUNTS_AGAIN_MS) return
    await recordCounts(db, counts)
    recorded = text
    atMs = monotonicMs()
  }
}

/** Says once when a region has probes and monitors that none of them can check, and again when they become more. */
function reportOrphans({ book, log }: Desk, reported: Map<string, number>): void {
  for (const [region, { probes, orphans }] of book.plans) {
    const monitors = probes.length > 0 ? orphans.size : 0
    if (monitors > (reported.get(region) ?? 0)) {
      log.warn({ region, monitors }, 'no live probe of the region can check these monitors: upgrade its probes')
    }
    reported.set(region, monitors)
  }
}

async function recordLinks(desk: Desk, atMs: number): Promise<void> {
  const due = [...desk.links.values()].filter(
    link => link.lastHeardMs > link.recordedMs && atMs - link.recordedMs >= desk.timing.heartbeatIntervalMs,
  )
  if (due.length > 0) {
    const lost = await recordSeen(
      desk.db,
      due.map(link => seenOf(desk, link, atMs)),
    )
    for (const link of due) {
      const reason = lost.get(link.probeId)
      if (reason) link.close(reason)
      else link.recordedMs = atMs
    }
  }
  const ended = [...desk.ended]
  if (ended.length === 0) return
  await markDisconnected(desk.db, ended)
  desk.ended.splice(0, ended.length)
}

function seenOf({ book }: Desk, link: Link, atMs: number) {
  const assignments = ownedBy(planOf(book, link.region), link.probeId).size
  return {
    id: link.probeId,
    connectedTo: link.connectedTo,
    silentMs: Math.max(0, atMs - link.lastHeardMs),
    health: link.health && { ...link.health, assignments },
  }
}
