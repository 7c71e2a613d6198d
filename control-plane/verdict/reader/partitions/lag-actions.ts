import { partitionFilter, RESULTS_STREAM } from '../../../../shared/nats/subjects.ts'
import { findLastMessage, loadStreamState } from '../../../foundation/platform/nats/ordered-reader.ts'
import type { ReaderTools } from '../reading-actions.ts'
import { listStoredPositions } from './partition-store.ts'

/**
 * The stream at the last measurement in which all stored positions were at the end. Until the next message, nothing is
 * behind. Positions in memory do not count here, because another process may have to read from the stored ones.
 */
export type LagState = { caughtUpWith: { created: string; lastSequence: number } | null }

/**
 * Measures how far all partitions are behind, whichever process reads them, because a stuck reader cannot report it.
 * `countedHere` returns the position of this process, which is newer than the stored one. If the lag cannot be
 * measured, the gauges have no values.
 */
export async function measureLag(
  { db, nats, metrics }: Pick<ReaderTools, 'db' | 'nats' | 'metrics'>,
  countedHere: (partition: number) => number | null,
  seen: LagState,
): Promise<void> {
  try {
    const stream = await loadStreamState(nats, RESULTS_STREAM)
    const { created, lastSequence } = stream
    if (seen.caughtUpWith?.created === created && seen.caughtUpWith.lastSequence === lastSequence) return
    seen.caughtUpWith = null
    let isAllStored = true
    const partitions = await listStoredPositions(db)
    await Promise.all(
      partitions.map(async ({ id, position, positionAtMs, streamCreated }) => {
        const isSame = streamCreated === stream.created
        const stored = isSame ? position : 0
        const counted = Math.max(stored, countedHere(id) ?? 0)
        const isBehind = stored < stream.lastSequence
        const last = isBehind ? await findLastMessage(nats, RESULTS_STREAM, partitionFilter(id)) : null
        const messages = last ? Math.max(0, last.sequence - counted) : 0
        if (last && last.sequence > stored) isAllStored = false
        const partition = { partition: id }
        metrics.lag.set(partition, messages)
        const sinceMs = isSame ? positionAtMs : null
        metrics.lagSeconds.set(
          partition,
          last && messages > 0 ? (last.takenAtMs - (sinceMs ?? last.takenAtMs)) / 1_000 : 0,
        )
      }),
    )
    if (isAllStored) seen.caughtUpWith = { created, lastSequence }
  } catch (error) {
    seen.caughtUpWith = null
    metrics.lag.reset()
    metrics.lagSeconds.reset()
    throw error
  }
}
