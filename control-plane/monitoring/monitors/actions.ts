import { isDeepStrictEqual } from 'node:util'
import { computePartition } from '../../../shared/nats/subjects.ts'
import { assertWithinLimit } from '../../accounts/plans/actions.ts'
import { checkPlanLimit, type InstallationLimits } from '../../accounts/plans/plans.ts'
import { lockUsage } from '../../accounts/plans/store.ts'
import type { CheckLiteral } from '../../alerting/channels/types.ts'
import { linkDefaultChannels } from '../../alerting/routing/rules/rule-store.ts'
import { type SecretCipher, sha256 } from '../../foundation/platform/crypto/encryption.ts'
import { isId, newId, randomBase62 } from '../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../foundation/platform/postgres/client.ts'
import { createYieldPoint } from '../../foundation/platform/time/clock.ts'
import { type ApiCaller, assertMayRedirectSecrets } from '../../foundation/web/auth/authentication.ts'
import { unmaskHeaders } from '../../foundation/web/masked-secrets/header-map.ts'
import { findRedirectedSecrets } from '../../foundation/web/masked-secrets/secret-redirect.ts'
import { conflict, type ErrorDetail, notFound, validationError } from '../../foundation/web/server/errors.ts'
import { isActive } from './settings/configuration-issues.ts'
import { authProblems, unmaskAuth } from './settings/credentials.ts'
import { encryptPingToken, type MonitorAuthConfig } from './settings/encryption.ts'
import {
  changesTheCheck,
  decryptFields,
  encryptChanges,
  encryptFields,
  type MonitorFields,
  toCreatedFields,
  toUpdatedFields,
} from './settings/fields.ts'
import { findMonitorProblems, findNewMonitorProblems } from './settings/problems.ts'
import { retainExpiry } from './settings/retained-expiry.ts'
import type { MonitorCreate, MonitorUpdate } from './settings/schema.ts'
import { insertMonitors, lockMonitor, updateMonitors } from './store.ts'
import type { MonitorAuthType, StoredMonitor } from './types.ts'

export type MonitorTools = {
  db: Db
  secrets: SecretCipher
  checkLiteral: CheckLiteral
  /** takes a monitor that will not be checked any more out of the verdict; answers it as it is then */
  leaveUnchecked: (tx: Tx, monitor: StoredMonitor, publicUrl: string, now: Date) => Promise<StoredMonitor>
  publicUrl: string
  /** left out: those of the plans */
  limits?: InstallationLimits
}

/** A monitor as a create would store it, not stored. Throws 400. */
export async function draftMonitor(
  { checkLiteral, secrets }: Pick<MonitorTools, 'checkLiteral' | 'secrets'>,
  projectId: string,
  body: MonitorCreate,
  now: Date,
  pause = createYieldPoint(),
): Promise<StoredMonitor> {
  const fields = toCreatedFields(body)
  const problems = await findNewMonitorProblems(fields, checkLiteral, pause)
  if (problems.length > 0) throw validationError(problems)
  return toStored(fields, projectId, secrets, now)
}

/** The same of a body in which nothing can be wrong. */
export const buildMonitor = (secrets: SecretCipher, projectId: string, body: MonitorCreate, now: Date): StoredMonitor =>
  toStored(toCreatedFields(body), projectId, secrets, now)

/** Creates one monitor and links the default channels. Throws 400, or 402 when the plan is full. */
export async function createMonitor(tools: MonitorTools, caller: ApiCaller, body: MonitorCreate, now: Date) {
  const monitor = await draftMonitor(tools, caller.projectId, body, now)
  await tools.db.transaction(async tx => {
    await addMonitors(tx, caller, [monitor], tools.limits)
    await linkDefaultChannels(tx, caller.projectId, [monitor.id])
  })
  return monitor
}

/** Stores drafts, without rules. Throws 402 when not all of them fit into the plan. */
export async function addMonitors(
  tx: Tx,
  { organizationId }: ApiCaller,
  monitors: StoredMonitor[],
  limits?: InstallationLimits,
): Promise<void> {
  await assertWithinLimit(tx, organizationId, 'monitors', monitors.length, limits)
  await insertMonitors(tx, monitors)
}

/** One place of a bulk create. With `faults`, what the schema found, the body may be anything. */
export type BulkItem = { body: MonitorCreate; faults: ErrorDetail[] }
export type BulkResult = { created: StoredMonitor[]; errors: { index: number; error: string }[] }

/** Creates what can be created of many, in one transaction; the others are told why by their place. */
export async function createMonitors(tools: MonitorTools, caller: ApiCaller, items: BulkItem[], now: Date) {
  const errors: BulkResult['errors'] = []
  const accepted: { index: number; monitor: StoredMonitor }[] = []
  const pause = createYieldPoint()
  for (const [index, { body, faults }] of items.entries()) {
    await pause()
    const fields = faults.length > 0 ? null : toCreatedFields(body)
    const problems = fields === null ? faults : await findNewMonitorProblems(fields, tools.checkLiteral, pause)
    if (fields && problems.length === 0) {
      accepted.push({ index, monitor: toStored(fields, caller.projectId, tools.secrets, now) })
    } else {
      errors.push({ index, error: problems.map(({ message }) => message).join('; ') })
    }
  }
  return await tools.db.transaction(async (tx): Promise<BulkResult> => {
    const usage = await lockUsage(tx, caller.organizationId, 'monitors', tools.limits)
    const created: StoredMonitor[] = []
    for (const { index, monitor } of accepted) {
      const refusal = checkPlanLimit({ ...usage, used: usage.used + created.length }, 1)
      if (refusal === null) created.push(monitor)
      else errors.push({ index, error: refusal })
    }
    if (created.length > 0) await storeNew(tx, caller.projectId, created)
    return { created, errors: errors.sort((a, b) => a.index - b.index) }
  })
}

/**
 * Changes what the body names. Throws 404, 400 for what does not fit together with what is stored, and 403 where
 * stored secrets would go to another origin (assertMayLead), and 409 for what a data source sets.
 */
export async function changeMonitor(
  tools: MonitorTools,
  caller: ApiCaller,
  id: string,
  body: MonitorUpdate,
  now: Date,
) {
  return await rewriteMonitor(tools, caller.projectId, id, now, async (before, stored) => {
    const after = toUpdatedFields(before, body)
    const { headers, problems } = unmaskHeaders(body.headers ?? {}, before.headers, 'headers')
    if (body.headers) after.headers = headers
    if (INTERDEPENDENT_FIELDS.some(key => key in body)) {
      problems.push(...(await findMonitorProblems(after, tools.checkLiteral, createYieldPoint(), before)))
    }
    const led = problems.length === 0 ? findRedirectedSecrets(before, after, body) : []
    assertMayRedirectSecrets(caller, led, suggestMove(led))
    if (problems.length === 0) assertEditable(stored, Object.keys(body))
    return { after, problems }
  })
}

/** How a write key moves a monitor with stored secrets: an update takes headers and no credentials (decisions 3.3). */
function suggestMove(led: string[]): string {
  const headers = led.filter(place => place !== 'auth_config')
  const ways = [
    ...(headers.length < led.length
      ? ['clear auth_config with nulls by PUT /monitors/{id}/auth, and set it there again after this change']
      : []),
    ...(headers.length > 0 ? [`send ${headers.join(', ')} again in this request, or headers without it`] : []),
  ]
  return ways.join('; ')
}

/** Fields that are checked against each other; an update that names none of them leaves what is stored alone. */
const INTERDEPENDENT_FIELDS = ['type', 'url', 'headers', 'keyword', 'keyword_type', 'assertions']

type AuthBody = { auth_type: MonitorAuthType | null; auth_config: MonitorAuthConfig | null }

/** Replaces the credentials, or clears them with nulls (decisions 3.3). Throws 404, 400, and 409 as `changeMonitor` does. */
export async function changeAuth(tools: MonitorTools, projectId: string, id: string, body: AuthBody, now: Date) {
  return await rewriteMonitor(tools, projectId, id, now, async (before, stored) => {
    const sent = { authType: body.auth_type, authConfig: body.auth_config }
    const { authConfig, problems } = unmaskAuth(sent, before)
    const after = { ...before, ...sent, authConfig }
    problems.push(...authProblems(after))
    if (problems.length === 0) assertEditable(stored, ['auth_type', 'auth_config'])
    return { after, problems }
  })
}

/** What a data source leaves to the owner of a monitor that it made (decisions 9.1). */
const EDITABLE_CHILD_FIELDS = ['name', 'tags']

function assertEditable({ dataSource }: StoredMonitor, names: string[]): void {
  const foreign = dataSource === null ? [] : names.filter(name => !EDITABLE_CHILD_FIELDS.includes(name))
  if (foreign.length === 0) return
  throw conflict(
    `a monitor of a data source takes ${EDITABLE_CHILD_FIELDS.join(' and ')} only; change the data source instead`,
  )
}

type ChangeResult = { after: MonitorFields; problems: ErrorDetail[] }
type ComputeChange = (before: MonitorFields, stored: StoredMonitor) => Promise<ChangeResult>
export type MonitorRewrite = { stored: StoredMonitor; monitor: StoredMonitor }

/** Changes a monitor on its locked row. Throws 404, and 400 for the problems that `change` finds. */
async function rewriteMonitor(
  tools: MonitorTools,
  projectId: string,
  id: string,
  now: Date,
  change: ComputeChange,
): Promise<StoredMonitor> {
  return await tools.db.transaction(async tx => {
    const stored = isId(id) ? await lockMonitor(tx, projectId, id) : null
    if (!stored) throw notFound('monitor')
    const [monitor] = await storeRewrites(tools, tx, [await computeRewrite(tools, stored, now, change)], now)
    return monitor!
  })
}

/** What a change makes of a monitor whose row is locked; nothing is stored. Throws 400 for the problems that it finds. */
export async function computeRewrite(
  { secrets }: Pick<MonitorTools, 'secrets'>,
  stored: StoredMonitor,
  now: Date,
  change: ComputeChange,
): Promise<MonitorRewrite> {
  const before = decryptFields(stored, secrets)
  const { after, problems } = await change(before, stored)
  if (problems.length > 0) throw validationError(problems)
  const configVersion = stored.configVersion + (changesTheCheck(before, after) ? 1 : 0)
  const changed = { ...stored, ...encryptChanges(before, after, stored, secrets), ...retainExpiry(stored, after) }
  const updatedAt = isDeepStrictEqual(before, after) ? stored.updatedAt : now
  return { stored, monitor: withPingToken({ ...changed, configVersion, updatedAt }, secrets) }
}

/** Stores changed monitors, whose rows are locked, in one statement. Answers them as they are then. */
export async function storeRewrites(
  { leaveUnchecked, publicUrl }: Pick<MonitorTools, 'leaveUnchecked' | 'publicUrl'>,
  tx: Tx,
  changes: MonitorRewrite[],
  now: Date,
): Promise<StoredMonitor[]> {
  await updateMonitors(
    tx,
    changes.map(({ monitor }) => monitor),
  )
  const stored: StoredMonitor[] = []
  for (const { stored: before, monitor } of changes) {
    stored.push(leavesVerdict(before, monitor) ? await leaveUnchecked(tx, monitor, publicUrl, now) : monitor)
  }
  return stored
}

/** A heartbeat's verdict says nothing of an address that is checked, nor the other way round. */
function leavesVerdict(before: StoredMonitor, after: StoredMonitor): boolean {
  const isOtherKind = (before.type === 'heartbeat') !== (after.type === 'heartbeat')
  return isActive(before) && (isOtherKind || !isActive(after))
}

/** 24 characters of base62: 142 random bits */
const PING_TOKEN_LENGTH = 24

/** A new ping token as it is stored: sealed to be shown, hashed to be found by (decisions 3.7). */
export function createPingToken(owner: { id: string; projectId: string }, secrets: SecretCipher) {
  const token = randomBase62(PING_TOKEN_LENGTH)
  return { pingToken: encryptPingToken(token, owner, secrets), pingTokenHash: sha256(token) }
}

const NO_PING_TOKEN = { pingToken: null, pingTokenHash: null }

/** A monitor that becomes a heartbeat gets its ping URL then, and keeps it for good. */
function withPingToken(monitor: StoredMonitor, secrets: SecretCipher): StoredMonitor {
  if (monitor.type !== 'heartbeat' || monitor.pingToken !== null) return monitor
  return { ...monitor, ...createPingToken(monitor, secrets) }
}

function toStored(fields: MonitorFields, projectId: string, secrets: SecretCipher, now: Date): StoredMonitor {
  const id = newId()
  const monitor: StoredMonitor = {
    ...NO_PING_TOKEN,
    ...encryptFields(fields, { id, projectId }, secrets),
    id,
    projectId,
    partition: computePartition(id),
    configVersion: 1,
    revision: 0,
    status: null,
    statusChangedAt: null,
    isPaused: false,
    sslExpiresAt: null,
    domainExpiresAt: null,
    dataSource: null,
    deletedAt: null,
    createdAt: now,
    updatedAt: now,
  }
  return withPingToken(monitor, secrets)
}

async function storeNew(tx: Tx, projectId: string, monitors: StoredMonitor[]): Promise<void> {
  await insertMonitors(tx, monitors)
  await linkDefaultChannels(
    tx,
    projectId,
    monitors.map(({ id }) => id),
  )
}
