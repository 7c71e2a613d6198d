import { setTimeout as pause } from 'node:timers/promises'
import type { Nats } from '../../control-plane/foundation/platform/nats/client.ts'
import { loadStreamState, openOrderedReader } from '../../control-plane/foundation/platform/nats/ordered-reader.ts'
import { ResultBatch } from '../../shared/checks/result.ts'
import { LATE_STREAM, RESULTS_STREAM } from '../../shared/nats/subjects.ts'
import type { Teardown } from '../support/teardown.ts'
import type { StoredMessage } from './replay.ts'

/** A message as JetStream stored it, with its bytes. */
export type AcknowledgedMessage = StoredMessage & { stream: string; subject: string; data: Uint8Array }

/** All messages of results that JetStream has acknowledged and that can be decoded. They are read during the run. */
export type Ledger = {
  messages: AcknowledgedMessage[]
  /** number of messages in the streams that are not read yet; throws while NATS is unreachable */
  countUnread(): Promise<number>
}

const TAKE_WAIT_MS = 500

export function startLedger(t: Teardown, nats: Nats): Ledger {
  const messages: AcknowledgedMessage[] = []
  const read = new Map<string, number>([
    [RESULTS_STREAM, 0],
    [LATE_STREAM, 0],
  ])
  const stopping = new AbortController()

  const follow = async (stream: string) => {
    const reader = await openOrderedReader(nats, stream, `${stream}.>`, { sequence: read.get(stream)! + 1 })
    try {
      while (!stopping.signal.aborted) {
        for (const { subject, data, sequence, takenAtMs } of await reader.take(500, TAKE_WAIT_MS)) {
          const partition = Number(subject.split('.')[1])
          const batch = tryDecodeBatch(data)
          if (batch) messages.push({ stream, subject, data, sequence, takenAtMs, partition, batch })
          read.set(stream, sequence)
        }
      }
    } finally {
      await reader.close()
    }
  }
  const keep = async (stream: string) => {
    while (!stopping.signal.aborted) await follow(stream).catch(() => pause(TAKE_WAIT_MS))
  }
  const kept = Promise.all([...read.keys()].map(keep))
  t.teardown(async () => {
    stopping.abort()
    await kept
  })
  return {
    messages,
    async countUnread() {
      const states = await Promise.all(
        [...read.keys()].map(async stream => [stream, await loadStreamState(nats, stream)] as const),
      )
      return states.reduce((sum, [stream, { lastSequence }]) => sum + lastSequence - read.get(stream)!, 0)
    },
  }
}

/** Null for bytes that cannot be decoded as a batch. */
function tryDecodeBatch(data: Uint8Array): ResultBatch | null {
  try {
    return ResultBatch.decode(data)
  } catch {
    return null
  }
}
