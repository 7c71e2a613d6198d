import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { createYieldPoint } from '../../../foundation/platform/time/clock.ts'
import { type CheckpointContents, iterateCheckpoint } from '../../../verdict/reader/checkpoint/checkpoint.ts'
import { findPartitionProgress } from './votes-store.ts'

/** The entry of a monitor in the checkpoint of its partition; null: none. `asOf`: up to when results are included. */
type MarkedMonitor = { marked: CheckpointContents[number] | null; asOf: Date | null }

/** Monitors read between two turns of other work. */
const MONITORS_PER_TURN = 200

/** Reads the newest checkpoint of a partition up to the monitor. One of another version counts as none. */
export async function readMarkedMonitor(db: Db, partition: number, monitorId: string): Promise<MarkedMonitor> {
  const { data, takenAtMs, positionAt } = await findPartitionProgress(db, partition)
  if (data === null || takenAtMs === null) return { marked: null, asOf: positionAt }
  const pause = createYieldPoint()
  let count = 0
  try {
    for (const marked of iterateCheckpoint(data, { takenAtMs })) {
      if (marked.monitorId === monitorId) return { marked, asOf: new Date(takenAtMs) }
      if (++count % MONITORS_PER_TURN === 0) await pause()
    }
  } catch (err) {
    if (!(err instanceof RangeError || err instanceof SyntaxError)) throw err
  }
  return { marked: null, asOf: positionAt }
}
