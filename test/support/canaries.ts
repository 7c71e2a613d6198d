import { v7 as uuidv7 } from 'uuid'
import { createOperatorProject } from '../../control-plane/accounts/organizations/operator-project-actions.ts'
import { publishEvents } from '../../control-plane/alerting/routing/publishing/publish-actions.ts'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createSigner } from '../../control-plane/foundation/platform/crypto/signer.ts'
import { type Db, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import type { CanaryTools } from '../../control-plane/insight/canaries/actions.ts'
import { CANARY_KEY_PURPOSE } from '../../control-plane/insight/canaries/canary-urls.ts'
import { findCanaryProject, insertCanaryAlert, loadCanaries } from '../../control-plane/insight/canaries/store.ts'
import { createProbeToken } from '../../control-plane/monitoring/fleet/probes/enrolment-actions.ts'
import { insertTransitions } from '../../control-plane/verdict/core/store.ts'
import { changeEvent } from './publishing.ts'

const publicUrl = 'https://picket.test'

/** The tools to create canaries; `key`: the key of the installation. */
export function canaryTools(db: Db, key: Buffer): CanaryTools {
  const sign = createSigner(key, CANARY_KEY_PURPOSE)
  return { db, secrets: createSecretCipher(key), sign, checkLiteral: () => null, publicUrl }
}

export const makeOperator = (db: Db) => createOperatorProject(db, { email: 'operator@example.com', publicUrl })

/** An enrolled probe. */
export async function insertProbe(db: Db, region: string): Promise<void> {
  await createProbeToken(db, region, { isReusable: true })
  await execute(
    db,
    `INSERT INTO probes (id, token_id, region, name, instance_id, version, capabilities, last_seen_at, created_at)
     SELECT :id, id, region, 'probe', 'instance', '0.1.0', '{http}', now(), now()
     FROM probe_tokens WHERE region = :region LIMIT 1`,
    { id: uuidv7(), region },
  )
}

export async function findCanary(db: Db, region: string) {
  return (await loadCanaries(db)).find(canary => canary.region === region)!
}

/** A transition of a canary with its alert, all at the same time. A null status is a pause without an alert. */
export async function completeCanaryTurn(
  db: Db,
  monitorId: string,
  status: 'down' | 'up' | null,
  at: Date,
): Promise<void> {
  const { projectId, organizationId } = (await findCanaryProject(db))!
  const explanation = { timings: { first_failure_at: status === 'down' ? new Date(at.getTime() - 4_000) : null } }
  const ids = { id: uuidv7(), project_id: projectId, monitor_id: monitorId }
  const row = { ...ids, from_status: null, to_status: status, at, quorum: 'full' as const, summary: '' }
  await db.transaction(async tx => {
    await insertTransitions(tx, [{ ...row, explanation: explanation as never }], at)
    if (status === null) return
    const tenant = { projectId, organizationId, userId: '' }
    await publishEvents(tx, [changeEvent(tenant, { monitorId, status }, at)], at)
  })
  if (status !== null)
    await insertCanaryAlert(db, { deliveryId: await lastDelivery(db, monitorId), monitorId, now: at })
}

async function lastDelivery(db: Db, monitorId: string): Promise<string> {
  const sql = 'SELECT id FROM deliveries WHERE subject = ? ORDER BY seq DESC LIMIT 1'
  const [row] = await query<{ id: string }>(db, sql, [`monitor:${monitorId}`])
  return row!.id
}
