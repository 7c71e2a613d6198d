import { v7 as uuidv7 } from 'uuid'
import { computePartition } from '../../shared/nats/subjects.ts'

/** A new id of a monitor whose results belong to this partition. */
export function createIdOfPartition(partition: number): string {
  for (;;) {
    const id = uuidv7()
    if (computePartition(id) === partition) return id
  }
}
