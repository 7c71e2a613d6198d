import { type Result, ResultBatch } from '../../shared/checks/result.ts'
import { type Random, seededRandom } from '../chaos/random.ts'
import { createClickhouseModel } from './clickhouse.ts'
import type { ActiveFaults } from './conditions.ts'
import type { Database } from './database.ts'
import { createDurableConsumer } from './durable-consumer.ts'
import type { JetStream } from './jetstream.ts'
import type { Chronicle, HistoryRecord, StoredMessage } from './oracle/chronicle.ts'
import { createHistoryOracle } from './oracle/history.ts'
import { type SimulatedRecorders, startRecorders } from './recorders.ts'
import type { Time } from './time.ts'

type Parts = {
  seed: number
  time: Time
  activeFaults: ActiveFaults
  stream: JetStream
  database: Database
  chronicle: Chronicle
}

type SimulatedHistory = { recorders: SimulatedRecorders; finish: () => HistoryRecord }

/** Without a fault, this share of the messages is recorded: recording all of them would make the simulation two fifths slower. */
const ONE_IN = 16
/** All messages are recorded from 2 minutes before such a fault until 5 minutes after it. */
const CONCERNS_HISTORY =
  /^(clickhouse-|nats-away|postgres-away|postgres-restored|fleet-killed|control-plane-redeployed)/
const BEFORE_MS = 2 * 60_000
const AFTER_MS = 5 * 60_000

/** The recorders with a durable consumer and ClickHouse. The oracle judges what they do. */
export function startHistory({ seed, time, activeFaults, stream, database, chronicle }: Parts): SimulatedHistory {
  const random: Random = seededRandom(seed ^ 0x4157)
  const oracle = createHistoryOracle(chronicle)
  const consumer = createDurableConsumer({
    ...{ time, activeFaults, stream },
    observer: {
      delivered: (_, isAgain) => oracle.delivered(isAgain),
      acknowledged: sequence => oracle.acknowledged(sequence, time.nowMs()),
    },
  })
  const onRows = (keys: string[]) => oracle.recorded(keys, time.nowMs())
  const createInsert = createClickhouseModel({ time, activeFaults, random, onRows })
  const recorders = startRecorders({ time, random, database, consumer, createInsert })
  let first = 1
  let near = 0
  for (const { fromMs, toMs } of chronicle.faults.filter(({ kind }) => CONCERNS_HISTORY.test(kind))) {
    time.after(fromMs - BEFORE_MS, () => void near++)
    time.after(toMs + AFTER_MS, () => void near--)
  }
  stream.onStored(() => {
    const { lastSequence, firstSequence } = stream.state()
    if (firstSequence !== first) {
      first = firstSequence
      oracle.forgotten(first, time.nowMs())
    }
    if (near === 0 && lastSequence % ONE_IN > 0) return
    oracle.stored(describeMessage(stream.get(lastSequence)!, time.nowMs()))
    consumer.add(lastSequence)
  })
  return { recorders, finish: () => oracle.finish(time.nowMs()) }
}

type TakenMessage = NonNullable<ReturnType<JetStream['get']>>

/** The rows that the history must have of a message, by their keys. */
function describeMessage({ sequence, data }: TakenMessage, atMs: number): StoredMessage {
  const { region, probeId, results, witnessed } = ResultBatch.decode(data)
  const buildKey = ({ monitorId, scheduledAtMs, attempt }: Result, last: string | number) =>
    `"${monitorId}","${region}",${scheduledAtMs},${attempt},"${probeId}",${last}`
  const keys = results.map(result => buildKey(result, result.epoch))
  if (witnessed) keys.push(buildKey(witnessed, '"witness"'))
  return { sequence, atMs, keys }
}
