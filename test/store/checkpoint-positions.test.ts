import t from 'tap'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import {
  findStoredCheckpoint,
  storePositionAndCheckpoint,
} from '../../control-plane/verdict/reader/checkpoint/checkpoint-store.ts'
import {
  FencedError,
  PositionMovedError,
  type StoredPosition,
} from '../../control-plane/verdict/reader/partitions/partition-store.ts'
import { createDatabase } from '../support/database.ts'

const ID = 3
const LEASE_MS = 60_000
const BASE_MS = Date.UTC(2026, 0, 1)

const db = createPostgres((await createDatabase(t)).url, 2)
t.teardown(() => db.destroy())

const checkpoint = (sequence: number) => ({
  streamCreated: 'stream',
  sequence,
  takenAtMs: BASE_MS + sequence,
  data: Uint8Array.from([0, sequence, 255]),
})

async function readPartition() {
  const [row] = await query<{ position: number; stream: string | null; isLeased: boolean }>(
    db,
    `SELECT position, stream_created AS stream, coalesce(lease_until > clock_timestamp(), false) AS "isLeased"
     FROM partitions WHERE id = ?`,
    [ID],
  )
  return row!
}

t.test('A position and its checkpoint are stored together, or neither', async t => {
  await execute(db, 'UPDATE partitions SET epoch = 7, position = 0, stream_created = NULL, lease_until = NULL')
  const partition = { id: ID, epoch: 7 }
  const none = { sequence: 0, streamCreated: null }
  await storePositionAndCheckpoint(db, partition, none, checkpoint(10), LEASE_MS)
  const first = { position: 10, stream: 'stream', isLeased: true }
  t.same(await readPartition(), first)
  t.same({ ...(await findStoredCheckpoint(db, ID)) }, { ...checkpoint(10), data: Buffer.from(checkpoint(10).data) })

  const refuse = (epoch: number, from: StoredPosition) =>
    storePositionAndCheckpoint(db, { id: ID, epoch }, from, checkpoint(20), LEASE_MS).catch(error => error)
  t.ok((await refuse(7, none)) instanceof PositionMovedError, 'the stored position is another one')
  const counted = { sequence: 10, streamCreated: 'stream' }
  t.ok((await refuse(6, counted)) instanceof FencedError, 'another process has the partition')
  t.same(await readPartition(), first)
  t.equal((await findStoredCheckpoint(db, ID))?.sequence, 10)

  await storePositionAndCheckpoint(db, partition, counted, checkpoint(20), LEASE_MS)
  t.equal((await readPartition()).position, 20)
  t.equal((await findStoredCheckpoint(db, ID))?.sequence, 20, 'the newer one replaces the older one')
})
