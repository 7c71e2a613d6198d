import { type Clickhouse, select } from '../platform/clickhouse.ts'
import { type Loop, type LoopTools, startLoop } from '../platform/loop.ts'
import { RECOMPUTE_TOUCHED } from './hourly.ts'

const EVERY_MS = 60_000
/** Rows become visible a little after the time they carry; the last stretch is looked at twice. */
const OVERLAP_MS = 120_000
/** After a long rest: how much in one statement. */
const STEP_MS = 3_600_000

/**
 * Keeps the hourly figures true: every minute it computes anew the hours that new results touched, old hours
 * included. Repeating it changes nothing, so any number of processes may run it.
 */
export function startHourlyWorker({ clickhouse, ...tools }: LoopTools & { clickhouse: Clickhouse }): Loop {
  let doneMs: number | null = null
  return startLoop('hourly', EVERY_MS, tools, async signal => {
    const nowMs = await clickhouseNowMs(clickhouse)
    let fromMs: number = (doneMs ?? (await lastComputedMs(clickhouse, nowMs))) - OVERLAP_MS
    while (fromMs < nowMs && !signal.aborted) {
      const toMs = Math.min(fromMs + STEP_MS, nowMs)
      await clickhouse.command({ query: RECOMPUTE_TOUCHED, query_params: { fromMs, toMs } })
      fromMs = toMs
      doneMs = toMs
    }
  })
}

/** ClickHouse's clock: results are recorded by it. */
async function clickhouseNowMs(clickhouse: Clickhouse): Promise<number> {
  const [row] = await select<{ now: string }>(clickhouse, 'SELECT toUnixTimestamp64Milli(now64(3)) AS now')
  return Number(row!.now)
}

/** Where to go on: as far as figures were computed, else the oldest result, else now. */
async function lastComputedMs(clickhouse: Clickhouse, nowMs: number): Promise<number> {
  const [row] = await select<{ computed: string; recorded: string }>(
    clickhouse,
    `SELECT toUnixTimestamp64Milli((SELECT max(computed_at) FROM latency_hourly)) AS computed,
       toUnixTimestamp64Milli((SELECT min(recorded_at) FROM results)) AS recorded`,
  )
  return Number(row?.computed) || Number(row?.recorded) || nowMs
}
