import { v7 as uuidv7 } from 'uuid'
import { type Db, execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { computePartition } from '../../shared/nats/subjects.ts'

/** A new id of a monitor whose results belong to this partition. */
export function createIdOfPartition(partition: number): string {
  for (;;) {
    const id = uuidv7()
    if (computePartition(id) === partition) return id
  }
}

/**
 * What is stored about the reader of a monitor's partition. `unknown`: a process of the previous version owns it; `none`: its last
 * owner has stopped; `dead`: its owner was killed 5 s ago; otherwise for how many seconds the reader has seen everything. A lease
 * counts as renewed for the next hour, so that a pause of the machine does not end it.
 */
export type StoredReader = 'unknown' | 'none' | 'dead' | 'behind' | number

export async function storeReader(db: Db, monitorId: string, reader: StoredReader): Promise<void> {
  const ago = (seconds: number) => `clock_timestamp() - ${seconds} * interval '1 s'`
  const since = typeof reader === 'number' ? ago(reader) : reader === 'behind' ? `'infinity'` : ago(3_600)
  await execute(
    db,
    `UPDATE partitions SET epoch = epoch + 1, owner = ${reader === 'none' ? 'NULL' : `'test'`},
       lease_until = ${reader === 'none' ? 'NULL' : `clock_timestamp() + interval '1 hour'`},
       updated_at = ${ago(reader === 'dead' ? 5 : -3_600)},
       complete_epoch = epoch + ${reader === 'unknown' ? 0 : 1}, complete_since = ${since}
     WHERE id = (SELECT partition FROM monitors WHERE id = ?)`,
    [monitorId],
  )
}
