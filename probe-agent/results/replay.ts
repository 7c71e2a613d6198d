import { lateSubject } from '../../shared/nats/subjects.ts'
import type { Log } from '../../shared/process/log.ts'
import type { Machine } from '../clock.ts'
import { countBatchEntries, encodeBatch } from './batch.ts'
import type { SpoolRecord } from './frames.ts'
import type { ResultStream } from './nats.ts'
import type { Spool } from './spool.ts'

type ReplayOptions = {
  stream: ResultStream
  spool: Spool
  region: string
  /** maximum number of results a second, so that live results have priority */
  perSecond: number
  isAway: () => boolean
  /** called when JetStream has stored a message */
  onTaken: () => void
  machine: Machine
  log: Log
}

const REPLAY_INTERVAL_MS = 1000

type SpoolReplay = {
  /** late results stored by JetStream since the start */
  sent: () => number
  stop: () => Promise<void>
}

/** Publishes the content of the spool as late results, which only the recorder reads. */
export function startSpoolReplay({
  stream,
  spool,
  region,
  perSecond,
  isAway,
  onTaken,
  machine,
  log,
}: ReplayOptions): SpoolReplay {
  let turn: Promise<void> | null = null
  let sent = 0
  const stop = machine.every(REPLAY_INTERVAL_MS, () => {
    if (isAway() || turn || spool.bytes() === 0) return
    turn = replaySome()
      .catch(error => log.warn({ err: error }, 'JetStream did not store late results; they remain in the spool'))
      .finally(() => {
        turn = null
      })
  })

  async function replaySome(): Promise<void> {
    const records = await spool.peek(perSecond)
    for (const group of groupForSending(records)) {
      const { partition, probeId } = group[0]!
      const bytes = encodeBatch(
        probeId,
        region,
        group.map(record => record.piece),
      )
      await stream.publish(lateSubject(partition, region), bytes, machine.uuid())
      onTaken()
      sent += group.length
    }
    await spool.consume()
    if (records.length > 0) log.info({ results: records.length }, 'late results sent from the spool')
  }

  return {
    sent: () => sent,
    async stop() {
      stop()
      await turn
    },
  }
}

/** Groups records by partition and probe, in their order, within the limits of a message. */
function groupForSending(records: readonly SpoolRecord[]): SpoolRecord[][] {
  const groups = new Map<string, SpoolRecord[]>()
  for (const record of records) {
    const key = `${record.partition} ${record.probeId}`
    const group = groups.get(key)
    if (group) group.push(record)
    else groups.set(key, [record])
  }
  return [...groups.values()].flatMap(splitIntoBatches)
}

function splitIntoBatches(records: SpoolRecord[]): SpoolRecord[][] {
  const batches: SpoolRecord[][] = []
  for (let rest = records; rest.length > 0; rest = rest.slice(batches.at(-1)!.length)) {
    batches.push(rest.slice(0, countBatchEntries(rest)))
  }
  return batches
}
