import {
  bucketStream,
  CLOCK_STREAM,
  LATE_STREAM,
  PINGS_STREAM,
  partitionFilter,
  RESULTS_STREAM,
  SCREENSHOTS_BUCKET,
  SCREENSHOTS_STREAM,
} from '../../../shared/nats/subjects.ts'
import type { Nats } from '../../foundation/platform/nats/client.ts'
import { syncExistingJetstreamClock } from '../../foundation/platform/nats/jetstream-clock.ts'
import { findLastMessage } from '../../foundation/platform/nats/ordered-reader.ts'
import {
  findNextMessage,
  findStreamInfo,
  loadConsumerBacklog,
  type StreamInfo,
} from '../../foundation/platform/nats/stream-info.ts'
import { machineNowMs, withTimeout } from '../../foundation/platform/time/clock.ts'
import type { ClockFact, NatsFacts, PartitionFact } from './facts.ts'

/** A fact that needs longer is unknown, and the others are not. */
const READ_TIMEOUT_MS = 5_500
const PING_TIMEOUT_MS = 1_500
const SCREENSHOTS = bucketStream(SCREENSHOTS_BUCKET)
const STREAMS = [RESULTS_STREAM, LATE_STREAM, PINGS_STREAM, SCREENSHOTS_STREAM, SCREENSHOTS]
/** The durable consumers of the recorder by stream. */
const RECORDERS: Record<string, string> = { [RESULTS_STREAM]: 'record', [LATE_STREAM]: 'record-late' }

/**
 * Asks for all facts at once; those without an answer are `unread`. Throws when NATS answers nothing, or was lost meanwhile.
 * It creates no stream: without CLOCK the time is unknown.
 */
export async function readNatsFacts(
  nats: Nats,
  partitions: PartitionFact[],
): Promise<NatsFacts & { clock: ClockFact[] }> {
  const infos = new Map(STREAMS.map(name => [name, findStreamInfo(nats, name)]))
  const [clock, streams, recorders, uncounted] = await Promise.all([
    readEach([CLOCK_STREAM], () => learnTime(nats)),
    readEach(STREAMS, name => infos.get(name)!),
    readEach(Object.keys(RECORDERS), stream => loadConsumerBacklog(nats, stream, RECORDERS[stream]!)),
    readEach(partitions, async partition => {
      const results = await infos.get(RESULTS_STREAM)!
      return results && findUncounted(nats, partition, results)
    }),
  ])
  const isSilent = [streams, recorders, uncounted].every(({ known }) => known.length === 0)
  const isComplete = [clock, streams, recorders, uncounted].every(({ unread }) => unread.length === 0)
  if (isSilent || !(isComplete || (await answersPing(nats)))) throw new Error('NATS does not answer')
  const nowMs = nats.clock.nowMs()
  return {
    nowMs,
    clock: nowMs === null ? [] : [{ name: 'JetStream', aheadMs: nowMs - machineNowMs() }],
    missingStreams: [...streams.known, ...clock.known].flatMap(([name, found]) =>
      // the bucket of screenshots is created with the first one
      found || name === SCREENSHOTS ? [] : [name],
    ),
    streams: streams.known.flatMap(([name, info]) => (info === null ? [] : [{ name, ...info }])),
    recorders: recorders.known.map(([stream, backlog]) => ({ stream, ...backlog })),
    uncounted: new Map(uncounted.known.flatMap(([{ id }, message]) => (message ? [[id, message] as const] : []))),
    unread: {
      streams: streams.unread,
      recorders: recorders.unread,
      partitions: uncounted.unread.map(({ id }) => id),
      clock: clock.unread.length > 0,
    },
  }
}

/** False without the stream. A control plane already follows the clock; the command line does not. */
async function learnTime(nats: Nats): Promise<boolean> {
  if (nats.clock.nowMs() !== null) return true
  try {
    await syncExistingJetstreamClock(nats)
    return true
  } catch (error) {
    const isCreated = (await findStreamInfo(nats, CLOCK_STREAM)) !== null
    // the loop of a control plane that has just started learned it at the same moment
    if (nats.clock.nowMs() !== null) return true
    if (!isCreated) return false
    throw error
  }
}

async function readEach<K, V>(
  keys: readonly K[],
  read: (key: K) => Promise<V>,
): Promise<{ known: [K, V][]; unread: K[] }> {
  const known: [K, V][] = []
  const unread: K[] = []
  const answers = await Promise.all(
    keys.map(key =>
      withTimeout(
        read(key).then(value => ({ value })),
        READ_TIMEOUT_MS,
      ).catch(() => null),
    ),
  )
  answers.forEach((answer, i) => {
    if (answer === null) unread.push(keys[i]!)
    else known.push([keys[i]!, answer.value])
  })
  return { known, unread }
}

/** True when the connection works, so that a request without an answer is not the fault of the whole server. */
const answersPing = ({ connection }: Nats): Promise<boolean> =>
  withTimeout(
    connection.rtt().then(() => true),
    PING_TIMEOUT_MS,
  ).then(
    isAnswered => isAnswered ?? false,
    () => false,
  )

/** The oldest uncounted message of a partition. A position in a stream that was created again is ignored. */
async function findUncounted(
  nats: Nats,
  { id, position, streamCreated }: PartitionFact,
  stream: StreamInfo,
): Promise<{ takenAtMs: number } | null> {
  const counted = streamCreated === stream.created ? position : 0
  if (counted >= stream.lastSequence) return null
  const last = await findLastMessage(nats, RESULTS_STREAM, partitionFilter(id))
  // without this check, the search for an idle partition would scan to the end of the stream
  if (last === null || last.sequence <= counted) return null
  return findNextMessage(nats, RESULTS_STREAM, partitionFilter(id), counted + 1)
}
