import { newId } from '../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../foundation/platform/postgres/client.ts'
import { now as clock } from '../../foundation/platform/time/clock.ts'
import { createApiKey } from '../api-keys/actions.ts'
import { lockUserByEmail } from '../members/store.ts'
import type { PlanName } from '../plans/plans.ts'
import { createUser } from '../registration/actions.ts'
import { insertOrganization } from '../registration/store.ts'
import { replacePasswordLinks } from '../sign-in/password-links/actions.ts'
import { findOperatorProjectId, insertOperatorProject, lockOperatorProject } from './operator-project-store.ts'

const NAME = 'Operator'
const PLAN: PlanName = 'business'

/** `api_key` and `claim_url` are shown only once. `api_key` is null for an existing project, `claim_url` for a user who needs no link. */
type OperatorProject = { project_id: string; api_key: string | null; claim_url: string | null; message: string }

/**
 * Creates the operator project with an admin key, for a new or existing user. Only one can exist: a second call changes
 * nothing and returns it.
 */
export function createOperatorProject(
  db: Db,
  { email, publicUrl }: { email: string; publicUrl: string },
): Promise<OperatorProject> {
  return db.transaction(async tx => {
    await lockOperatorProject(tx)
    const existing = await findOperatorProjectId(tx)
    if (existing !== null) {
      const message = 'The operator project already exists. "operator key" creates another API key.'
      return { project_id: existing, api_key: null, claim_url: null, message }
    }
    const { userId, claimUrl, awaitsProof } = await findOrCreateAdmin(tx, email, publicUrl)
    const projectId = await createProject(tx, userId, awaitsProof)
    const { key } = await createApiKey(tx, { projectId, userId }, { name: 'First key', scope: 'admin' })
    const works = 'The API key works now and is not shown again. It can read the fleet: GET /probes, GET /regions.'
    const message = awaitsProof ? `${works} ${UNPROVEN}` : works
    return { project_id: projectId, api_key: key, claim_url: claimUrl, message }
  })
}

const UNPROVEN =
  'An account with this address existed before and may have been created by another person. It gets access to the operator project when its owner sets a password by the claim link.'

/** Creates a user, or finds the user of the address. An existing account awaits proof, because another person may have created it. */
async function findOrCreateAdmin(tx: Tx, email: string, publicUrl: string) {
  const created = await createUser(tx, { email, name: null, publicUrl, provesEmail: true })
  if (created) return { ...created, awaitsProof: false }
  const { id: userId, isProven } = (await lockUserByEmail(tx, email.toLowerCase()))!
  const claimUrl = isProven ? null : await replacePasswordLinks(tx, userId, publicUrl)
  return { userId, claimUrl, awaitsProof: !isProven }
}

/** Creates another admin key of the operator project. Throws an Error when the project does not exist. */
export async function createOperatorKey(db: Db): Promise<string> {
  const projectId = await findOperatorProjectId(db)
  if (projectId === null) throw new Error('the operator project does not exist; create it with "operator create"')
  return (await createApiKey(db, { projectId, userId: null }, { name: 'Operator key', scope: 'admin' })).key
}

async function createProject(tx: Tx, userId: string, awaitsProof: boolean): Promise<string> {
  const now = clock()
  const [organizationId, projectId] = [newId(), newId()]
  const named = { name: NAME, projectName: NAME, plan: PLAN }
  await insertOrganization(tx, { organizationId, projectId, userId, awaitsProof, ...named, now })
  await insertOperatorProject(tx, projectId, now)
  return projectId
}
