import { insertOperatorProject } from '../../control-plane/accounts/organizations/operator-project-store.ts'
import type { Db } from '../../control-plane/foundation/platform/postgres/client.ts'
import type { Tenant } from './tenant.ts'

/** Makes the tenant's project the operator project, so that its keys can read the fleet. */
export async function makeOperator<T extends Tenant>(db: Db, tenant: T): Promise<T> {
  await db.transaction(tx => insertOperatorProject(tx, tenant.projectId, new Date()))
  return tenant
}
