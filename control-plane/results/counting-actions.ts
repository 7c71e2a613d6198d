import { type ResultBatch, Trigger } from '../../shared/result.ts'
import { monotonicMs } from '../platform/clock.ts'
import { isId } from '../platform/ids.ts'
import { logNowMs } from '../platform/nats.ts'
import type { StreamMessage } from '../platform/ordered-reader.ts'
import { afterStep, heedAbsences, isByNewClock } from './absences.ts'
import { LONG_AGO, lookAgain, persistently, type Reading, savePosition } from './actions.ts'
import { noteCertificate } from './certificates.ts'
import { keepCheckpoint } from './checkpoint-actions.ts'
import { decodeBatch, toCounted } from './decode.ts'
import { retryDeferred } from './deferred-actions.ts'
import { storeHarvest } from './harvest-actions.ts'
import { newestEpoch, refusalOf } from './live-sets.ts'
import { stepBefore, toleranceOf } from './log-time.ts'
import {
  beginAt,
  countRegion,
  countResult,
  type Harvest,
  needsLook,
  newHarvest,
  recallResult,
  stepAll,
} from './memory.ts'
import { isCounted } from './start-position.ts'
import { mayAskFor } from './strangers.ts'

/** How often the position is stored when nothing else has to be. */
export const SAVE_INTERVAL_MS = 5_000
const RESULTS_AT_ONCE = 5_000

/** Counts what has come, in portions small enough that other work gets its turn, and stores what has to be stored. */
export async function countMessages(reading: Reading, messages: StreamMessage[]): Promise<void> {
  await retryDeferred(reading)
  followAbsences(reading)
  if (reading.stale.size > 0) await lookAtStale(reading)
  let harvest = newHarvest()
  let counted = 0
  for (const message of messages) {
    followClock(reading, message)
    const batch = decode(reading, message)
    const unknown = batch && versionsToLookFor(reading, batch)
    const aheadEpoch = batch && epochAhead(reading, batch)
    if (unknown || aheadEpoch || counted >= RESULTS_AT_ONCE) {
      await storeHarvest(reading, harvest)
      harvest = newHarvest()
      counted = 0
      if (aheadEpoch) await awaitEpoch(reading, batch, aheadEpoch)
      if (unknown) await look(reading, unknown)
      await new Promise(resolve => setImmediate(resolve))
    }
    if (batch) countBatch(reading, harvest, message, batch)
    counted += batch?.results.length ?? 0
    if (!isCounted(reading.start, message)) {
      reading.position = { sequence: message.sequence, takenAtMs: message.takenAtMs }
    }
  }
  await storeHarvest(reading, harvest)
  if (monotonicMs() - reading.savedMs >= SAVE_INTERVAL_MS) await persistently(reading, () => savePosition(reading))
  await keepCheckpoint(reading)
}

/** Which regions have no probe, as of the newest reading. */
function followAbsences(reading: Reading): void {
  const known = reading.tools.liveSets.absences()
  if (known.absences === reading.absences || !isByNewClock(known, reading.steppedMs)) return
  reading.absences = known.absences
  heedAbsences(reading.memory, known.absences)
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
    tools.meters.setAside.inc({ what: 'message' })
    tools.log.error({ err, subject: message.subject, sequence: message.sequence }, 'a message was set aside')
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

/** The newest epoch of a batch when it is higher than the one that is known to be in force; else null. */
function epochAhead({ tools }: Reading, { region, results }: ResultBatch): number | null {
  const epoch = newestEpoch(results)
  return epoch > (tools.liveSets.of(region)?.epoch ?? 0) ? epoch : null
}

const awaitEpoch = (reading: Reading, { region, probeId }: ResultBatch, epoch: number) =>
  persistently(reading, () => reading.tools.liveSets.await(region, epoch, probeId, reading.signal))

/** Where JetStream's clock was set, what is remembered moves with it before the next result counts. */
function followClock(reading: Reading, { takenAtMs }: StreamMessage): void {
  const { tools, memory, unstored, logTime, partition, isCounting } = reading
  const stepMs = stepBefore(logTime, takenAtMs, monotonicMs(), logNowMs(tools.nats))
  if (stepMs === 0 || !isCounting) return
  tools.log.warn({ partition: partition.id, seconds: Math.round(stepMs) / 1_000 }, 'the clock of JetStream was set')
  for (const id of [...unstored.keys(), ...stepAll(memory, stepMs)]) unstored.set(id, LONG_AGO)
  reading.steppedMs = monotonicMs()
  reading.absences = afterStep(reading.absences, stepMs)
  heedAbsences(memory, reading.absences)
}

function countBatch(reading: Reading, harvest: Harvest, message: StreamMessage, batch: ResultBatch): void {
  const { memory, tools, mark } = reading
  const isRecall = isCounted(reading.start, message)
  // reading goes on by time, so the last ones that the checkpoint knows come again
  if (isRecall && mark && message.sequence <= mark.sequence && message.takenAtMs <= mark.takenAtMs) return
  if (!isRecall && !reading.isCounting) {
    const toStore = beginAt(memory, message.takenAtMs, reading.position.takenAtMs)
    for (const id of toStore) reading.unstored.set(id, LONG_AGO)
    reading.isCounting = true
  }
  if (isRecall) tools.meters.recalled.inc(batch.results.length)
  else {
    countRegion(harvest, batch.region)
    // the check of a witness comes by way of the fleet
    if (batch.results[0]?.trigger !== Trigger.WITNESS) tools.regionSight.heardMs.set(batch.region, monotonicMs())
  }
  const tolerance = toleranceOf(reading.logTime, message.takenAtMs, monotonicMs())
  const live = tools.liveSets.of(batch.region)
  const spans = live?.spans.get(batch.probeId)
  for (const result of batch.results) {
    const refusal = refusalOf(live, spans, result.epoch)
    if (refusal !== null) {
      if (!isRecall) harvest.kinds[refusal]++
      continue
    }
    try {
      const counted = toCounted(batch, result)
      if (isRecall) recallResult(memory, reading.unstored, result.monitorId, counted, message.takenAtMs)
      else {
        if (counted.isDoubted) tools.meters.doubted.inc({ region: batch.region })
        countResult(memory, harvest, result.monitorId, counted, message.takenAtMs, tolerance, tools.parents)
        if (memory.has(result.monitorId))
          noteCertificate(reading.certificates, harvest.certificates, batch.region, result, message.takenAtMs)
      }
    } catch (err) {
      tools.meters.setAside.inc({ what: 'result' })
      tools.log.error({ err, monitorId: result.monitorId, sequence: message.sequence }, 'a result was set aside')
    }
  }
}
