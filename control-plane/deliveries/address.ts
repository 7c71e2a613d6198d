import type { SealedColumn } from '../platform/reseal.ts'
import type { Secrets } from '../platform/secrets.ts'

type Owner = { id: string; projectId: string }

const bindingOf = ({ id, projectId }: Owner) => `${projectId}:delivery:${id}:address`

/** Where a delivery went: an address may hold a secret, so it is sealed like the config of its channel. */
export const sealAddress = (url: string, delivery: Owner, secrets: Secrets): Buffer =>
  secrets.seal(url, bindingOf(delivery))

/** Null when the key does not open it: one such delivery must stop neither the others nor the log. */
export function openAddress(sealed: Buffer, delivery: Owner, secrets: Secrets): string | null {
  try {
    return secrets.open(sealed, bindingOf(delivery))
  } catch {
    return null
  }
}

/** For a new key. */
export const SEALED_IN_DELIVERIES: SealedColumn[] = [
  {
    table: 'deliveries',
    column: 'request_address',
    key: ['id'],
    needs: ['project_id'],
    bindingOf: row => bindingOf({ id: row.id!, projectId: row.project_id! }),
  },
]
