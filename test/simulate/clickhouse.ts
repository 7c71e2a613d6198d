import type { RecorderTools } from '../../control-plane/insight/analytics/recording/record-messages.ts'
import type { Random } from '../chaos/random.ts'
import type { ActiveFaults } from './conditions.ts'
import { RECORDER_TURNS } from './durable-consumer.ts'
import type { Host, Time } from './time.ts'

type Parts = {
  time: Time
  activeFaults: ActiveFaults
  random: Random
  /** called with the keys of the rows that are stored */
  onRows: (keys: string[]) => void
}

const REFUSED_AFTER_MS = 2
const STORED_AFTER_MS = 10
const ANSWERED_AFTER_MS = 15
/** The client waits this long for an answer. */
const REQUEST_TIMEOUT_MS = 30_000
/** The share of lost answers whose connection is reset, so the client does not wait. */
const RESET_SHARE = 0.5

/**
 * A model of ClickHouse for inserts. The key makes a row unique, so only keys are observed, and a repeated row changes nothing.
 * Returns the `insert` of a process.
 */
export function createClickhouseModel({ time, activeFaults, random, onRows }: Parts) {
  const { clickhouse } = activeFaults
  return (host: Host): RecorderTools['insert'] =>
    (table, lines) =>
      new Promise((resolve, reject) => {
        let isStored = false
        const answer = (afterMs: number) =>
          host.machine.after(afterMs, () => {
            if (isStored && afterMs === ANSWERED_AFTER_MS) resolve()
            else reject(new Error('ClickHouse did not answer'))
            time.settled(RECORDER_TURNS)
          })
        if (clickhouse.away > 0) return void answer(REFUSED_AFTER_MS)
        // the server stores rows also if the process has ended meanwhile
        time.after(STORED_AFTER_MS, () => {
          if (clickhouse.away > 0) return
          isStored = true
          onRows(splitLines(lines).map(line => buildRowKey(table, line)))
        })
        if (clickhouse.answersLost === 0) answer(ANSWERED_AFTER_MS)
        else answer(random.chance(RESET_SHARE) ? ANSWERED_AFTER_MS + 1 : REQUEST_TIMEOUT_MS)
      })
}

const splitLines = (lines: Buffer) => lines.toString().split('\n').slice(0, -1)

/** The number of columns at the beginning of a line that make a row unique (docs/design/history.md#data). */
const KEY_COLUMNS = { results: 6, witness_checks: 5 }

/** The first columns of a line of JSONCompactEachRow. They contain neither commas nor quotes. */
function buildRowKey(table: keyof typeof KEY_COLUMNS, line: string): string {
  let end = 0
  for (let column = 0; column < KEY_COLUMNS[table]; column++) end = line.indexOf(',', end + 1)
  return table === 'results' ? line.slice(1, end) : `${line.slice(1, end)},"witness"`
}
