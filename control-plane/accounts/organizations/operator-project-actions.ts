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

/** `api_key` and `claim_url` are shown this once; null: the project was there before, the user needs no link. */
export type OperatorProject = { project_id: string; api_key: string | null; claim_url: string | null; message: string }

/**
 * The operator project with an admin key, for a user who may be there already. There is one of it: a second call
 * changes nothing and names it.
 */
export function createOperatorProject(
  db: Db,
  { email, publicUrl }: { email: string; publicUrl: string },
): Promise<OperatorProject> {
  return db.transaction(async tx => {
    await lockOperatorProject(tx)
    const existing = await findOperatorProjectId(tx)
    if (existing !== null) {
      const message = 'The operator project was made before. "operator key" makes another API key.'
      return { project_id: existing, api_key: null, claim_url: null, message }
    }
    const { userId, claimUrl, awaitsProof } = await findOrCreateAdmin(tx, email, publicUrl)
    const projectId = await createProject(tx, userId, awaitsProof)
    const { key } = await createApiKey(tx, { projectId, userId }, { name: 'First key', scope: 'admin' })
    const works = 'The API key works now and is not shown again. It may see the fleet: GET /probes, GET /regions.'
    const message = awaitsProof ? `${works} ${UNPROVEN}` : works
    return { project_id: projectId, api_key: key, claim_url: claimUrl, message }
  })
}

const UNPROVEN =
  'An account with this address was there before, and anybody may have made it: it opens the operator project once its owner has set a password by the claim link.'

/** A new user, or the one of the address: whoever made that account may have chosen its password. */
async function findOrCreateAdmin(tx: Tx, email: string, publicUrl: string) {
  const created = await createUser(tx, { email, name: null, publicUrl, provesEmail: true })
  if (created) return { ...created, awaitsProof: false }
  const { id: userId, isProven } = (await lockUserByEmail(tx, email.toLowerCase()))!
  const claimUrl = isProven ? null : await replacePasswordLinks(tx, userId, publicUrl)
  return { userId, claimUrl, awaitsProof: !isProven }
}

/** Another admin key of the operator project. Throws an Error with a sentence when there is no such project yet. */
export async function createOperatorKey(db: Db): Promise<string> {
  const projectId = await findOperatorProjectId(db)
  if (projectId === null) throw new Error('there is no operator project yet; "operator create" makes it')
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
