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
import { conflict, type ErrorDetail, found, validationError } from '../../foundation/web/server/errors.ts'
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
  /** removes a monitor that is no longer checked from the verdict; returns the monitor after that */
  leaveUnchecked: (tx: Tx, monitor: StoredMonitor, publicUrl: string, now: Date) => Promise<StoredMonitor>
  publicUrl: string
  /** default: the limits of the plans */
  limits?: InstallationLimits
}

/** Builds the monitor that a create would store, without storing it. Throws 400. */
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

/** Builds a monitor from a body that is known to be valid. */
export const buildMonitor = (secrets: SecretCipher, projectId: string, body: MonitorCreate, now: Date): StoredMonitor =>
  toStored(toCreatedFields(body), projectId, secrets, now)

/** Creates one monitor and links the default channels. Throws 400, or 402 when the plan's limit is reached. */
export async function createMonitor(tools: MonitorTools, caller: ApiCaller, body: MonitorCreate, now: Date) {
  const monitor = await draftMonitor(tools, caller.projectId, body, now)
  await tools.db.transaction(async tx => {
    await addMonitors(tx, caller, [monitor], tools.limits)
    await linkDefaultChannels(tx, caller.projectId, [monitor.id])
  })
  return monitor
}

/** Stores drafts without alert rules. Throws 402 when they exceed the plan's limit. */
export async function addMonitors(
  tx: Tx,
  { organizationId }: ApiCaller,
  monitors: StoredMonitor[],
  limits?: InstallationLimits,
): Promise<void> {
  await assertWithinLimit(tx, organizationId, 'monitors', monitors.length, limits)
  await insertMonitors(tx, monitors)
}

/** One item of a bulk create. `faults`: problems found by the schema; with any of them the body may have any shape. */
type BulkItem = { body: MonitorCreate; faults: ErrorDetail[] }
type BulkResult = { created: StoredMonitor[]; errors: { index: number; error: string }[] }

/** Creates the valid monitors of a list in one transaction, and reports the other ones by index. */
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
 * Changes the fields that the body names. Throws 404; 400 when a field does not fit the stored ones; 403 when stored
 * secrets would be sent to another origin (`assertMayRedirectSecrets`); 409 for fields that a data source sets.
 */
export async function changeMonitor(
  tools: MonitorTools,
  caller: ApiCaller,
  id: string,
  body: MonitorUpdate,
  now: Date,
) {
  return await rewriteMonitor(tools, caller.projectId, id, now, buildUpdate(tools, caller, body))
}

/** Computes the result of `changeMonitor` for a monitor whose row is locked. Stores nothing. Throws 400, 403 and 409. */
export const computeUpdate = (
  tools: Pick<MonitorTools, 'secrets' | 'checkLiteral'>,
  caller: ApiCaller,
  stored: StoredMonitor,
  body: MonitorUpdate,
  now: Date,
): Promise<MonitorRewrite> => computeRewrite(tools, stored, now, buildUpdate(tools, caller, body))

const buildUpdate =
  ({ checkLiteral }: Pick<MonitorTools, 'checkLiteral'>, caller: ApiCaller, body: MonitorUpdate): ComputeChange =>
  async (before, stored) => {
    const after = toUpdatedFields(before, body)
    const { headers, problems } = unmaskHeaders(body.headers ?? {}, before.headers, 'headers')
    if (body.headers) after.headers = headers
    if (INTERDEPENDENT_FIELDS.some(key => key in body)) {
      problems.push(...(await findMonitorProblems(after, checkLiteral, createYieldPoint(), before)))
    }
    const redirected = problems.length === 0 ? findRedirectedSecrets(before, after, body) : []
    assertMayRedirectSecrets(caller, redirected, suggestMove(redirected))
    if (problems.length === 0) assertEditable(stored, Object.keys(body))
    return { after, problems }
  }

/** Describes how a write key can move a monitor with stored secrets. An update accepts headers, but not credentials. */
function suggestMove(redirected: string[]): string {
  const headers = redirected.filter(place => place !== 'auth_config')
  const steps = [
    ...(headers.length < redirected.length
      ? ['clear auth_config with nulls by PUT /monitors/{id}/auth, and set it again after this change']
      : []),
    ...(headers.length > 0 ? [`send ${headers.join(', ')} again in this request, or headers without it`] : []),
  ]
  return steps.join('; ')
}

/** Fields that are validated together. An update that names none of them does not validate the stored ones again. */
const INTERDEPENDENT_FIELDS = ['type', 'url', 'headers', 'keyword', 'keyword_type', 'assertions']

type AuthBody = { auth_type: MonitorAuthType | null; auth_config: MonitorAuthConfig | null }

/** Replaces the credentials, or deletes them with nulls. Throws 404, 400 and 409 as `changeMonitor` does. */
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

/** The fields that users may change of a monitor that a data source created (docs/design/data-sources.md). */
const EDITABLE_CHILD_FIELDS = ['name', 'tags']

function assertEditable({ dataSource }: StoredMonitor, names: string[]): void {
  const foreign = dataSource === null ? [] : names.filter(name => !EDITABLE_CHILD_FIELDS.includes(name))
  if (foreign.length === 0) return
  throw conflict(
    `only ${EDITABLE_CHILD_FIELDS.join(' and ')} can be changed for a monitor of a data source; change the data source instead`,
  )
}

type ChangeResult = { after: MonitorFields; problems: ErrorDetail[] }
type ComputeChange = (before: MonitorFields, stored: StoredMonitor) => Promise<ChangeResult>
export type MonitorRewrite = { stored: StoredMonitor; monitor: StoredMonitor }

/** Locks a monitor's row and changes the monitor. Throws 404, and 400 for the problems that `change` finds. */
async function rewriteMonitor(
  tools: MonitorTools,
  projectId: string,
  id: string,
  now: Date,
  change: ComputeChange,
): Promise<StoredMonitor> {
  return await tools.db.transaction(async tx => {
    const stored = found(isId(id) && (await lockMonitor(tx, projectId, id)), 'monitor')
    const [monitor] = await storeRewrites(tools, tx, [await computeRewrite(tools, stored, now, change)], now)
    return monitor!
  })
}

/** Computes the result of a change of a monitor whose row is locked. Stores nothing. Throws 400 for the problems that it finds. */
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

/** Stores changed monitors, whose rows are locked, and returns them as they are after that. */
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

/** True when the status must be dropped. A heartbeat's status does not apply to a target that is checked, or vice versa. */
function leavesVerdict(before: StoredMonitor, after: StoredMonitor): boolean {
  const isOtherKind = (before.type === 'heartbeat') !== (after.type === 'heartbeat')
  return isActive(before) && (isOtherKind || !isActive(after))
}

/** 24 base62 characters have 142 random bits. */
const PING_TOKEN_LENGTH = 24

/** Creates a ping token as it is stored: encrypted, so that it can be shown, and hashed, so that it can be found. */
export function createPingToken(owner: { id: string; projectId: string }, secrets: SecretCipher) {
  const token = randomBase62(PING_TOKEN_LENGTH)
  return { pingToken: encryptPingToken(token, owner, secrets), pingTokenHash: sha256(token) }
}

const NO_PING_TOKEN = { pingToken: null, pingTokenHash: null }

/** A monitor gets its ping URL when it becomes a heartbeat, and keeps it. */
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
