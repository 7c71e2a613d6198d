import type { ResultBatch } from '../../../shared/checks/result.ts'
import { isId } from '../../foundation/platform/ids.ts'
import { jetstreamNowMs } from '../../foundation/platform/nats/client.ts'
import type { StreamMessage } from '../../foundation/platform/nats/ordered-reader.ts'
import { monotonicMs } from '../../foundation/platform/time/clock.ts'
import { saveCheckpoint } from './checkpoint/checkpoint-actions.ts'
import { commitEffects } from './commit/commit-actions.ts'
import { retryDeferred } from './commit/deferred-actions.ts'
import { createBatchEffects } from './counting/batch-effects.ts'
import { applyClockStep, countBatch, findEpochAhead, updateRegionAbsences } from './counting/counting-state.ts'
import { decodeBatch } from './counting/decode.ts'
import { needsReload } from './counting/tracked-monitors.ts'
import { mayLookUp } from './counting/unknown-monitors.ts'
import { isAlreadyCounted } from './partitions/start-position.ts'
import { type PartitionReading, reloadMonitors, retryUntilDone, savePosition } from './reading-actions.ts'

/** How often the position is stored if nothing else has to be stored. */
export const SAVE_INTERVAL_MS = 5_000
const RESULTS_PER_TURN = 5_000
/** The size of a large message counts as results, so that messages that are set aside end a turn, too. */
const BYTES_PER_RESULT = 200

/**
 * Handles a run of messages:
 *
 * 1. Retry deferred changes whose time has come.
 * 2. Update the absences of regions, and reload monitors that were changed.
 * 3. For each message: follow steps of JetStream's clock, decode the batch, and count its results. Before a batch with
 *    unknown monitors or a newer epoch, commit what was counted and load them. After 5,000 results or 1 MB, commit and
 *    let other work run.
 * 4. Commit the rest.
 * 5. Store a checkpoint with the position if one is due, and the position if it was not stored for 5 s.
 */
export async function countMessages(reading: PartitionReading, messages: StreamMessage[]): Promise<void> {
  await retryDeferred(reading)
  updateRegionAbsences(reading, reading.tools.liveSets.absences())
  if (reading.stale.size > 0) await reloadStale(reading)
  let effects = createBatchEffects()
  let counted = 0
  for (const message of messages) {
    reportClockStep(reading, message)
    const batch = decode(reading, message)
    const unknown = batch && findVersionsToLoad(reading, batch)
    const aheadEpoch = batch && findEpochAhead(reading.tools, batch)
    if (unknown || aheadEpoch || counted >= RESULTS_PER_TURN) {
      await commitEffects(reading, effects)
      effects = createBatchEffects()
      counted = 0
      if (aheadEpoch) await awaitEpoch(reading, batch, aheadEpoch)
      if (unknown) await reload(reading, unknown)
      await new Promise(resolve => setImmediate(resolve))
    }
    if (batch) countBatch(reading, reading.tools, effects, message, batch, monotonicMs())
    counted += Math.max(batch?.results.length ?? 0, message.data.length / BYTES_PER_RESULT)
    if (!isAlreadyCounted(reading.start, message)) {
      reading.position = { sequence: message.sequence, takenAtMs: message.takenAtMs }
    }
  }
  await commitEffects(reading, effects)
  await saveCheckpoint(reading)
  if (monotonicMs() - reading.savedMs >= SAVE_INTERVAL_MS) await retryUntilDone(reading, () => savePosition(reading))
}

async function reloadStale(reading: PartitionReading): Promise<void> {
  const versions = new Map([...reading.stale].map(id => [id, 0]))
  reading.stale.clear()
  await reload(reading, versions)
}

const reload = (reading: PartitionReading, versions: Map<string, number>) =>
  retryUntilDone(reading, () => reloadMonitors(reading, versions, { isDiscarded: false }))

/** Returns null for a message that cannot be decoded; the others count. */
function decode({ tools }: PartitionReading, message: StreamMessage): ResultBatch | null {
  try {
    return decodeBatch(message.subject, message.data)
  } catch (err) {
    const { subject, sequence } = message
    tools.setAside('message', 'set aside a message that cannot be decoded', { err, subject, sequence })
    return null
  }
}

/** The monitors to load before this batch counts, with the config versions looked for; null if there are none. */
function findVersionsToLoad(
  { memory, unknownMonitors }: PartitionReading,
  batch: ResultBatch,
): Map<string, number> | null {
  let versions: Map<string, number> | null = null
  for (const result of batch.results) {
    const { monitorId, configVersion } = result
    if (!needsReload(memory, result) || !isId(monitorId)) continue
    if (!versions?.has(monitorId) && !mayLookUp(unknownMonitors, monitorId, monotonicMs())) continue
    versions ??= new Map()
    versions.set(monitorId, Math.max(versions.get(monitorId) ?? 0, configVersion))
  }
  return versions
}

const awaitEpoch = (reading: PartitionReading, { region, probeId }: ResultBatch, epoch: number) =>
  retryUntilDone(reading, () => reading.tools.liveSets.waitForEpoch(region, epoch, probeId, reading.signal))

function reportClockStep(reading: PartitionReading, { takenAtMs }: StreamMessage): void {
  const { tools, partition } = reading
  const stepMs = applyClockStep(reading, takenAtMs, monotonicMs(), jetstreamNowMs(tools.nats))
  if (stepMs === 0) return
  tools.log.warn({ partition: partition.id, seconds: Math.round(stepMs) / 1_000 }, "JetStream's clock was set")
}
