import { type Db, execute } from '../../control-plane/foundation/platform/postgres/client.ts'

/** Confirms addresses of an organization, as the link of a confirmation does. */
export async function confirmAddresses(db: Db, organizationId: string, ...addresses: string[]): Promise<void> {
  await execute(
    db,
    `INSERT INTO mail_addresses (organization_id, address, confirmed_at, created_at)
     SELECT ?, lower(address), now(), now() FROM unnest(?::text[]) AS r (address)
     ON CONFLICT (organization_id, address) DO UPDATE SET confirmed_at = now()`,
    [organizationId, addresses],
  )
}
