import { DiscardPolicy, type JetStreamManager, StorageType } from '@nats-io/jetstream'
import { CLOCK_STREAM } from '../../../../shared/nats/subjects.ts'
import { isStreamMissing } from './stream-errors.ts'

const MAX_MESSAGE_AGE_MS = 60_000

/** One message for each process, in memory. A stream with fewer replicas gets more: without its server, the time is unknown. */
export async function ensureClockStream(manager: JetStreamManager, replicas: number): Promise<void> {
  const known = await manager.streams.info(CLOCK_STREAM).catch(error => {
    if (isStreamMissing(error)) return null
    throw error
  })
  if (known !== null) {
    if (known.config.num_replicas < replicas) await manager.streams.update(CLOCK_STREAM, { num_replicas: replicas })
    return
  }
  await manager.streams.add({
    name: CLOCK_STREAM,
    subjects: [`${CLOCK_STREAM}.*`],
    storage: StorageType.Memory,
    discard: DiscardPolicy.Old,
    max_msgs_per_subject: 1,
    max_age: MAX_MESSAGE_AGE_MS * 1_000_000,
    max_bytes: 1024 * 1024,
    num_replicas: replicas,
  })
}
