import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { LATE_STREAM, RESULTS_STREAM } from '../../shared/nats/subjects.ts'
import { waitFor } from '../support/wait.ts'
import type { ChaosContext } from './context.ts'
import { type ChaosScale, listProbeNames } from './plan.ts'
import { TIMEOUT_MS } from './scales.ts'
import type { System } from './system.ts'

/** A write whose server was killed can be repeated after 90 seconds. A short run does not wait for it. */
export const getWriteTimeoutMs = ({ isShort }: ChaosScale) => (isShort ? 3_000 : 120_000)

export async function waitForStatuses({ db }: Pick<System, 'db'>, monitorIds: string[], status: string): Promise<void> {
  const sql = 'SELECT name, status FROM monitors WHERE id = ANY(?) AND status IS DISTINCT FROM ?'
  let others: unknown[] = []
  const areThere = async () => {
    others = await query(db, sql, [monitorIds, status])
    return others.length === 0
  }
  await waitFor(areThere, {
    timeoutMs: TIMEOUT_MS,
    everyMs: 250,
    label: () => `${status} instead of ${JSON.stringify(others)}`,
  })
}

/** Waits until the probes have sent all results of their spools. */
export async function waitForEmptySpools({ scale, system }: ChaosContext): Promise<void> {
  const spools = listProbeNames(scale).map(name => join(system.dir, 'probes', name, 'spool'))
  const files = (spool: string) =>
    readdirSync(spool, { recursive: true, encoding: 'utf8' }).map(name => statSync(join(spool, name)))
  const areEmpty = () => spools.flatMap(files).every(file => file.isDirectory() || file.size === 0)
  await waitFor(areEmpty, { timeoutMs: TIMEOUT_MS, everyMs: 250, label: 'empty spools' })
}

/** Acknowledged data that is not processed yet. */
type Backlog = { toRead: number; toRecord: number; toDeliver: number; partitionsToCount: number[] }

/** Waits until all results are recorded and counted and all deliveries are sent. No probe may be running. */
export async function waitUntilDrained(context: ChaosContext): Promise<void> {
  await shortenAckWait(context.system)
  let left: Backlog | null = null
  const isNothing = async () => {
    left = await loadBacklog(context)
    const { toRead, toRecord, toDeliver, partitionsToCount } = left
    return toRead === 0 && toRecord === 0 && toDeliver === 0 && partitionsToCount.length === 0
  }
  const label = () => `an empty backlog instead of ${JSON.stringify(left)}`
  await waitFor(isNothing, { timeoutMs: TIMEOUT_MS, everyMs: 250, label })
}

/** JetStream then redelivers the messages of a killed recorder after 10 seconds instead of a minute. */
async function shortenAckWait({ nats }: System): Promise<void> {
  for (const [stream, name] of RECORDERS) {
    await nats.manager.consumers.update(stream, name, { ack_wait: ACK_WAIT_MS * 1_000_000 })
  }
}

const ACK_WAIT_MS = 10_000
const RECORDERS = [
  [RESULTS_STREAM, 'record'],
  [LATE_STREAM, 'record-late'],
] as const

async function loadBacklog({ system: { db, nats }, ledger, monitorIds }: ChaosContext): Promise<Backlog> {
  const consumers = await Promise.all(RECORDERS.map(([stream, name]) => nats.manager.consumers.info(stream, name)))
  const [pending] = await query<{ n: number }>(
    db,
    `SELECT count(*) AS n FROM deliveries d JOIN events e ON e.id = d.event_id
     WHERE d.status = 'pending' AND e.project_id = (SELECT project_id FROM monitors WHERE id = ?)`,
    [monitorIds[0]!],
  )
  const positions = await query<{ id: number; position: number }>(db, 'SELECT id, position FROM partitions')
  const newest = new Map<number, number>()
  for (const { stream, partition, sequence } of ledger.messages) {
    if (stream === RESULTS_STREAM) newest.set(partition, sequence)
  }
  return {
    toRead: await ledger.countUnread(),
    toRecord: consumers.reduce((sum, one) => sum + one.num_pending + one.num_ack_pending, 0),
    toDeliver: pending!.n,
    partitionsToCount: positions.filter(({ id, position }) => position < (newest.get(id) ?? 0)).map(({ id }) => id),
  }
}
