import { partitionFilter, RESULTS_STREAM } from '../../shared/subjects.ts'
import { lastMessageOn, streamState } from '../platform/ordered-reader.ts'
import type { ReaderTools } from './actions.ts'
import type { PartitionReader } from './reader.ts'
import { storedPositions } from './store.ts'

/** A look at a stream that found nothing to count: until another message comes, nothing is behind. */
export type LagSeen = { caughtUpWith: { created: string; lastSequence: number } | null }

/**
 * Measures how far all partitions are behind, whichever process reads them, or none: a reader that is stuck cannot say
 * so. What this process has counted itself is newer than what is stored. When it cannot be measured there is no value.
 */
export async function measureLag(
  { db, nats, meters }: Pick<ReaderTools, 'db' | 'nats' | 'meters'>,
  readers: ReadonlyMap<number, PartitionReader>,
  seen: LagSeen,
): Promise<void> {
  try {
    const stream = await streamState(nats, RESULTS_STREAM)
    const { created, lastSequence } = stream
    if (seen.caughtUpWith?.created === created && seen.caughtUpWith.lastSequence === lastSequence) return
    seen.caughtUpWith = null
    let waiting = 0
    const partitions = await storedPositions(db)
    await Promise.all(
      partitions.map(async ({ id, position, positionAtMs, streamCreated }) => {
        const isSame = streamCreated === stream.created
        const counted = Math.max(isSame ? position : 0, readers.get(id)?.position() ?? 0)
        const isBehind = counted < stream.lastSequence
        const last = isBehind ? await lastMessageOn(nats, RESULTS_STREAM, partitionFilter(id)) : null
        const messages = last ? Math.max(0, last.sequence - counted) : 0
        waiting += messages
        const partition = { partition: id }
        meters.lag.set(partition, messages)
        const sinceMs = isSame ? positionAtMs : null
        meters.lagSeconds.set(
          partition,
          last && messages > 0 ? (last.takenAtMs - (sinceMs ?? last.takenAtMs)) / 1_000 : 0,
        )
      }),
    )
    if (waiting === 0) seen.caughtUpWith = { created, lastSequence }
  } catch (error) {
    seen.caughtUpWith = null
    meters.lag.reset()
    meters.lagSeconds.reset()
    throw error
  }
}
