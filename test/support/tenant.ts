import { randomBytes } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import type { Db } from '../../control-plane/foundation/platform/postgres/client.ts'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'

export type Tenant = { organizationId: string; projectId: string; userId: string }

/** Inserts a user with an organization and a project, for tests below the API. */
export async function insertTenant(db: Db, plan = 'business'): Promise<Tenant> {
  const tenant = { organizationId: uuidv7(), projectId: uuidv7(), userId: uuidv7() }
  const email = `${randomBytes(6).toString('hex')}@example.com`
  await execute(db, 'INSERT INTO users (id, email, created_at, updated_at) VALUES (:userId, :email, now(), now())', {
    ...tenant,
    email,
  })
  await execute(
    db,
    `INSERT INTO organizations (id, name, plan, created_at, updated_at)
     VALUES (:organizationId, 'Acme', :plan, now(), now())`,
    { ...tenant, plan },
  )
  await execute(
    db,
    `INSERT INTO memberships (organization_id, user_id, role, entered_at, created_at)
     VALUES (:organizationId, :userId, 'admin', now(), now())`,
    tenant,
  )
  await execute(
    db,
    `INSERT INTO projects (id, organization_id, name, created_at, updated_at)
     VALUES (:projectId, :organizationId, 'Acme', now(), now())`,
    tenant,
  )
  return tenant
}
