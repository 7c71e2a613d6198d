import type { ResultBatch } from '../../shared/result.ts'
import { monotonicMs } from '../platform/clock.ts'
import { isId } from '../platform/ids.ts'
import { logNowMs } from '../platform/nats.ts'
import type { StreamMessage } from '../platform/ordered-reader.ts'
import { lookAgain, persistently, type Reading, savePosition } from './actions.ts'
import { keepCheckpoint } from './checkpoint-actions.ts'
import { countBatch, epochAhead, followAbsences, followClock } from './counting.ts'
import { decodeBatch } from './decode.ts'
import { retryDeferred } from './deferred-actions.ts'
import { storeHarvest } from './harvest-actions.ts'
import { needsLook, newHarvest } from './memory.ts'
import { isCounted } from './start-position.ts'
import { mayAskFor } from './strangers.ts'

/** How often the position is stored when nothing else has to be. */
export const SAVE_INTERVAL_MS = 5_000
const RESULTS_AT_ONCE = 5_000

/** Counts what has come, in portions small enough that other work gets its turn, and stores what has to be stored. */
export async function countMessages(reading: Reading, messages: StreamMessage[]): Promise<void> {
  await retryDeferred(reading)
  followAbsences(reading, reading.tools.liveSets.absences())
  if (reading.stale.size > 0) await lookAtStale(reading)
  let harvest = newHarvest()
  let counted = 0
  for (const message of messages) {
    noteClock(reading, message)
    const batch = decode(reading, message)
    const unknown = batch && versionsToLookFor(reading, batch)
    const aheadEpoch = batch && epochAhead(reading.tools, batch)
    if (unknown || aheadEpoch || counted >= RESULTS_AT_ONCE) {
      await storeHarvest(reading, harvest)
      harvest = newHarvest()
      counted = 0
      if (aheadEpoch) await awaitEpoch(reading, batch, aheadEpoch)
      if (unknown) await look(reading, unknown)
      await new Promise(resolve => setImmediate(resolve))
    }
    if (batch) countBatch(reading, reading.tools, harvest, message, batch, monotonicMs())
    counted += batch?.results.length ?? 0
    if (!isCounted(reading.start, message)) {
      reading.position = { sequence: message.sequence, takenAtMs: message.takenAtMs }
    }
  }
  await storeHarvest(reading, harvest)
  if (monotonicMs() - reading.savedMs >= SAVE_INTERVAL_MS) await persistently(reading, () => savePosition(reading))
  await keepCheckpoint(reading)
}

async function lookAtStale(reading: Reading): Promise<void> {
  const versions = new Map([...reading.stale].map(id => [id, 0]))
  reading.stale.clear()
  await look(reading, versions)
}

const look = (reading: Reading, versions: Map<string, number>) =>
  persistently(reading, () => lookAgain(reading, versions, { isDiscarded: false }))

/** Null for a message that is set aside; its neighbours count. */
function decode({ tools }: Reading, message: StreamMessage): ResultBatch | null {
  try {
    return decodeBatch(message.subject, message.data)
  } catch (err) {
    const { subject, sequence } = message
    tools.setAside('message', 'a message was set aside', { err, subject, sequence })
    return null
  }
}

/** The monitors that the database has to be asked for before this batch counts; null when there are none. */
function versionsToLookFor({ memory, strangers }: Reading, batch: ResultBatch): Map<string, number> | null {
  let versions: Map<string, number> | null = null
  for (const result of batch.results) {
    const { monitorId, configVersion } = result
    if (!needsLook(memory, result) || !isId(monitorId)) continue
    if (!versions?.has(monitorId) && !mayAskFor(strangers, monitorId, monotonicMs())) continue
    versions ??= new Map()
    versions.set(monitorId, Math.max(versions.get(monitorId) ?? 0, configVersion))
  }
  return versions
}

const awaitEpoch = (reading: Reading, { region, probeId }: ResultBatch, epoch: number) =>
  persistently(reading, () => reading.tools.liveSets.await(region, epoch, probeId, reading.signal))

function noteClock(reading: Reading, { takenAtMs }: StreamMessage): void {
  const { tools, partition } = reading
  const stepMs = followClock(reading, takenAtMs, monotonicMs(), logNowMs(tools.nats))
  if (stepMs === 0) return
  tools.log.warn({ partition: partition.id, seconds: Math.round(stepMs) / 1_000 }, 'the clock of JetStream was set')
}
