import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import type { CheckpointPosition } from '../partitions/start-position.ts'
import { LEASE_MS, type PartitionReading, type ReaderTools, savePosition } from '../reading-actions.ts'
import { createByteWriter } from './bytes.ts'
import { type CheckpointContents, readCheckpoint, writeCheckpointHeader, writeMonitor } from './checkpoint.ts'
import { findStoredCheckpoint, storeCheckpoint, storePositionAndCheckpoint } from './checkpoint-store.ts'

const MIN_INTERVAL_MS = 5_000
/** A large partition makes checkpoints less often, so that they take at most a fiftieth of its time. */
const INTERVAL_FACTOR = 50
const MAX_INTERVAL_MS = 60_000
const MONITORS_PER_TURN = 2_000

/**
 * Stores what only memory has, if a checkpoint is due. To be called when everything that was counted is stored. A
 * checkpoint only makes a start quicker: without one, the next reader reads at least two minutes again
 * (docs/design/results.md#position).
 */
export async function saveCheckpoint(reading: PartitionReading, isLast = false): Promise<void> {
  const { tools, partition, position, streamCreated, checkpoint } = reading
  // while results are read again, memory is not complete, and a later reader would not read them
  if (!reading.isCounting) return
  const isDue = isLast || monotonicMs() >= checkpoint.dueMs
  if (!isDue || position.takenAtMs === null || position.sequence === checkpoint.sequence) return
  const startedMs = monotonicMs()
  try {
    const data = await encode(reading, position.takenAtMs)
    const made = { streamCreated, sequence: position.sequence, takenAtMs: position.takenAtMs, data }
    // a checkpoint counts only up to the stored position
    let isStored = false
    await savePosition(reading, async () => {
      await storePositionAndCheckpoint(tools.db, partition, reading.stored, made, LEASE_MS)
      isStored = true
    })
    if (!isStored) await storeCheckpoint(tools.db, partition, made)
    checkpoint.sequence = position.sequence
  } catch (err) {
    tools.metrics.checkpointsFailed.inc()
    tools.log.warn({ err, partition: partition.id }, 'cannot store a checkpoint')
  }
  const endedMs = monotonicMs()
  // from the start of this one: the next one is due no later than the position, and stores it
  checkpoint.dueMs =
    startedMs + Math.min(Math.max(MIN_INTERVAL_MS, (endedMs - startedMs) * INTERVAL_FACTOR), MAX_INTERVAL_MS)
}

/** The newest checkpoint; null if there is none that this version can read. */
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
    log.warn({ err, partition }, 'cannot read a checkpoint; reading earlier results again')
    return null
  }
}

/** Encodes in portions, so that other work can run. Nothing is counted in the meantime. */
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
