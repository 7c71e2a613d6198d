import { REGIONS } from '../../../shared/checks/check.ts'
import { type Clickhouse, select } from '../../foundation/platform/clickhouse.ts'
import type { Nats } from '../../foundation/platform/nats/client.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { StandbyError } from '../../foundation/platform/postgres/read-only.ts'
import { machineNowMs, withTimeout } from '../../foundation/platform/time/clock.ts'
import { listRegions } from '../../monitoring/fleet/probes/probe-store.ts'
import type { ClickhouseFacts, ClockFact, HealthFacts, PostgresFacts } from './facts.ts'
import { readNatsFacts } from './nats-facts-reader.ts'
import {
  loadForeignReportFacts,
  loadLiveProbeFacts,
  loadPartitionFacts,
  loadServerNow,
  loadStandbyFacts,
  loadWorkFacts,
} from './store.ts'

/** An engine that needs longer counts as unreachable. */
const ANSWER_TIMEOUT_MS = 8_000

/** Null: the engine cannot be reached. */
export type EngineClients = { db: Db | null; nats: Nats | null; clickhouse: Clickhouse }

/** Queries all engines independently, so that an unreachable one does not hide the others. */
export async function readHealthFacts({ db, nats, clickhouse }: EngineClients): Promise<HealthFacts> {
  const answer = db && (await settleAnswer(readPostgresUnlessStandby(db)))
  const isStandby = answer === 'standby'
  const postgres = isStandby ? null : answer
  const [natsAnswer, clickhouseAnswer] = await Promise.all([
    nats && settleAnswer(readNatsFacts(nats, postgres?.partitions ?? [])),
    settleAnswer(readClickhouseFacts(clickhouse)),
  ])
  return {
    machineMs: machineNowMs(),
    clocks: [...(postgres?.clock ?? []), ...(natsAnswer?.clock ?? []), ...(clickhouseAnswer?.clock ?? [])],
    postgres,
    isStandby,
    nats: natsAnswer,
    clickhouse: clickhouseAnswer,
  }
}

/** Null without an answer in time. */
const settleAnswer = <T>(answer: Promise<T>): Promise<T | null> =>
  withTimeout(answer, ANSWER_TIMEOUT_MS).catch(() => null)

const readPostgresUnlessStandby = (db: Db) =>
  readPostgresFacts(db).catch((error: unknown) => {
    if (error instanceof StandbyError) return 'standby' as const
    throw error
  })

async function readPostgresFacts(db: Db): Promise<PostgresFacts & Clock> {
  const [{ isReadOnly, ...server }, clock] = await askWithClock('PostgreSQL', () => loadServerNow(db))
  return {
    ...{ ...server, isReadOnly, clock },
    partitions: await loadPartitionFacts(db),
    regions: (await listRegions(db, REGIONS)).map(row => ({
      region: row.region,
      monitors: row.monitors,
      unassigned: row.unassigned,
      liveProbes: row.live_probes,
      noLiveProbeSinceMs: row.no_live_probe_since?.getTime() ?? null,
      lastHeartbeatAtMs: row.last_heartbeat_at?.getTime() ?? null,
    })),
    probes: await loadLiveProbeFacts(db),
    foreignReports: await loadForeignReportFacts(db),
    ...(await loadWorkFacts(db)),
    standbys: await loadStandbyFacts(db),
  }
}

async function readClickhouseFacts(clickhouse: Clickhouse): Promise<ClickhouseFacts & Clock> {
  const [rows, clock] = await askWithClock('ClickHouse', async () => {
    const [row] = await select<{ nowMs: string; lastMs: string }>(clickhouse, NEWEST_RESULT_SQL)
    return { nowMs: Number(row!.nowMs), lastMs: Number(row!.lastMs) }
  })
  return { nowMs: rows.nowMs, lastRecordedAtMs: rows.lastMs > 0 ? rows.lastMs : null, clock }
}

const NEWEST_RESULT_SQL = `
  SELECT toString(toUnixTimestamp64Milli(now64(3))) AS nowMs, toString(toUnixTimestamp64Milli(max(recorded_at))) AS lastMs
  FROM results WHERE scheduled_at > now() - INTERVAL 1 DAY AND recorded_at > now() - INTERVAL 1 HOUR`

type Clock = { clock: ClockFact[] }

/** A slower answer is too imprecise to compare clocks. */
const MAX_ROUND_TRIP_MS = 1_000

/** The answer of an engine, and how far its clock is ahead of this machine's in the middle of the round trip. */
async function askWithClock<T extends { nowMs: number }>(
  name: string,
  ask: () => Promise<T>,
): Promise<[T, ClockFact[]]> {
  const sentMs = machineNowMs()
  const answer = await ask()
  const receivedMs = machineNowMs()
  const isPrecise = receivedMs - sentMs <= MAX_ROUND_TRIP_MS
  return [answer, isPrecise ? [{ name, aheadMs: answer.nowMs - (sentMs + receivedMs) / 2 }] : []]
}
