import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import type { CheckpointPosition } from '../partitions/start-position.ts'
import { type PartitionReading, type ReaderTools, savePosition } from '../reading-actions.ts'
import { createByteWriter } from './bytes.ts'
import { type CheckpointContents, readCheckpoint, writeCheckpointHeader, writeMonitor } from './checkpoint.ts'
import { findStoredCheckpoint, storeCheckpoint } from './checkpoint-store.ts'

const MIN_INTERVAL_MS = 5_000
/** A large partition makes them less often, so that they cost a fiftieth of its time, but young enough to begin at. */
const INTERVAL_FACTOR = 50
const MAX_INTERVAL_MS = 60_000
const MONITORS_PER_TURN = 2_000

/**
 * Stores what only memory has, now and then. To be called when everything that was counted is stored. It is of use for
 * a quick start only: when it fails, the next reader reads two minutes again, or twice as long as votes live.
 */
export async function saveCheckpoint(reading: PartitionReading, isLast = false): Promise<void> {
  const { tools, partition, position, streamCreated, checkpoint } = reading
  // what is still read again is not in memory yet, and a later reader would not read it
  if (!reading.isCounting) return
  const isDue = isLast || monotonicMs() >= checkpoint.dueMs
  if (!isDue || position.takenAtMs === null || position.sequence === checkpoint.sequence) return
  const startedMs = monotonicMs()
  try {
    const data = await encode(reading, position.takenAtMs)
    // a checkpoint counts only up to the stored position
    await savePosition(reading)
    const place = { streamCreated, sequence: position.sequence, takenAtMs: position.takenAtMs }
    await storeCheckpoint(tools.db, partition, { ...place, data })
    checkpoint.sequence = position.sequence
  } catch (err) {
    tools.meters.checkpointsFailed.inc()
    tools.log.warn({ err, partition: partition.id }, 'a checkpoint could not be stored')
  }
  const endedMs = monotonicMs()
  checkpoint.dueMs =
    endedMs + Math.min(Math.max(MIN_INTERVAL_MS, (endedMs - startedMs) * INTERVAL_FACTOR), MAX_INTERVAL_MS)
}

/** The newest checkpoint; null when there is none that this version can read. */
export async function loadCheckpoint(
  { db, log }: ReaderTools,
  partition: number,
): Promise<(CheckpointPosition & { marked: CheckpointContents }) | null> {
  const stored = await findStoredCheckpoint(db, partition)
  if (!stored) return null
  const { data, ...mark } = stored
  try {
    return { ...mark, marked: readCheckpoint(data, mark) }
  } catch (err) {
    if (!(err instanceof RangeError || err instanceof SyntaxError)) throw err
    log.warn({ err, partition }, 'a checkpoint cannot be read; the results before it are')
    return null
  }
}

/** In portions, so that other work gets its turn; nothing is counted meanwhile. */
async function encode({ memory, unstored }: PartitionReading, takenAtMs: number): Promise<Uint8Array> {
  const out = createByteWriter()
  const names = new Map<string, number>()
  writeCheckpointHeader(out)
  let count = 0
  for (const { policy, state } of memory.values()) {
    if (!policy) continue
    writeMonitor(out, names, { takenAtMs }, state, unstored.has(state.monitorId))
    if (++count % MONITORS_PER_TURN === 0) await new Promise(resolve => setImmediate(resolve))
  }
  return out.bytes()
}
