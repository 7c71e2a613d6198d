import { isDeepStrictEqual } from 'node:util'
import { assertWithinLimit } from '../../../accounts/plans/actions.ts'
import type { InstallationLimits } from '../../../accounts/plans/plans.ts'
import type { CheckLiteral } from '../../../alerting/channels/types.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { newId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { type ApiCaller, assertMayRedirectSecrets } from '../../../foundation/web/auth/authentication.ts'
import { findRedirectedSecrets } from '../../../foundation/web/masked-secrets/secret-redirect.ts'
import { conflict, validationError } from '../../../foundation/web/server/errors.ts'
import { isEmptyUpdate } from '../../../foundation/web/validation/empty-update.ts'
import type { FieldInput, SourceCreate, SourceUpdate } from '../api/request-schema.ts'
import { clearStatuses } from '../children/apply-actions.ts'
import { closeSourceIncident } from '../children/incident-actions.ts'
import type { StoredSource } from '../types.ts'
import { decryptSource, encryptSource } from './encryption.ts'
import { replaceFields, retireChildren } from './field-actions.ts'
import { listFields } from './field-store.ts'
import { withLockedSource } from './lock-actions.ts'
import { applySourceUpdate, type SourceSettings, toFieldSettings, toSourceSettings } from './settings.ts'
import {
  fetchSoon,
  forgetFailures,
  insertSource,
  removeSource,
  resetSource,
  updateSource,
  wakeWorkers,
} from './source-store.ts'
import { findFieldListProblems, findSourceProblems, findUpdateProblems, unmaskSource } from './validation.ts'

type SourceTools = {
  db: Db
  secrets: SecretCipher
  checkLiteral: CheckLiteral
  publicUrl: string
  limits?: InstallationLimits
}

/** Converts a create body to settings in plain text. Masks are replaced by the secrets of `stored`. Throws 400. */
export function draftSource(
  body: SourceCreate,
  checkLiteral: CheckLiteral,
  stored: SourceSettings | null = null,
): SourceSettings {
  const { source, problems } = unmaskSource(toSourceSettings(body), stored)
  problems.push(
    ...findSourceProblems(source, checkLiteral),
    ...findFieldListProblems((body.fields ?? []).map(toFieldSettings)),
  )
  if (problems.length > 0) throw validationError(problems)
  return source
}

/**
 * Creates a source, which is then fetched immediately. Returns its id. Ids of fields are ignored, because a new source
 * has no fields yet. Throws 400, and 402 when the limit of the plan is reached.
 */
export async function createSource(
  tools: SourceTools,
  caller: ApiCaller,
  body: SourceCreate,
  now: Date,
): Promise<string> {
  const fields = draftSource(body, tools.checkLiteral)
  const owner = { id: newId(), projectId: caller.projectId }
  const source: StoredSource = {
    ...fields,
    ...encryptSource(fields, owner, tools.secrets),
    ...owner,
    ...NEW_SOURCE_STATE,
    nextFetchAt: now,
    createdAt: now,
    updatedAt: now,
  }
  await tools.db.transaction(async tx => {
    await assertWithinLimit(tx, caller.organizationId, 'dataSources', 1, tools.limits)
    await insertSource(tx, source)
    await replaceFields(tx, source, (body.fields ?? []).map(withoutId), tools.publicUrl, now)
    await wakeWorkers(tx)
  })
  return source.id
}

const withoutId = ({ id, ...field }: FieldInput): FieldInput => field

const NEW_SOURCE_STATE = {
  revision: 1,
  lastFetchedAt: null,
  lastSuccessAt: null,
  lastError: null,
  failures: 0,
  documentKeys: null,
  incidentId: null,
}

/**
 * Updates the properties in the body. The source is fetched again when its request, its fields or its schedule change, and
 * when it is resumed. When it is paused, a fetch in flight is discarded, its incident is resolved, and the statuses of its
 * monitors are unknown.
 * Returns its id. Throws 400 for an invalid body, 404, and 403 when stored secrets would go to
 * another origin (assertMayRedirectSecrets).
 */
export async function changeSource(
  tools: SourceTools,
  caller: ApiCaller,
  id: string,
  body: SourceUpdate,
  now: Date,
): Promise<string> {
  const { db, secrets, checkLiteral, publicUrl } = tools
  const faults = findUpdateProblems(body, checkLiteral)
  if (faults.length > 0) throw validationError(faults)
  return withLockedSource(db, caller.projectId, id, async (tx, stored) => {
    const before: SourceSettings = { ...stored, ...decryptSource(stored, secrets) }
    const { source: after, problems } = unmaskSource(applySourceUpdate(before, body), before)
    if (VALIDATED_TOGETHER.some(key => key in body)) problems.push(...findSourceProblems(after, checkLiteral))
    problems.push(...findFieldListProblems((body.fields ?? []).map(toFieldSettings)))
    if (problems.length > 0) throw validationError(problems)
    assertMayRedirectSecrets(caller, findRedirectedSecrets(before, after, body))
    const updatedAt = isEmptyUpdate(body) ? stored.updatedAt : now
    await updateSource(tx, { ...stored, ...after, ...encryptChanged(stored, before, after, secrets), updatedAt })
    if (after.isPaused && !before.isPaused) {
      await closeSourceIncident(tx, stored, 'paused', publicUrl, now)
      await forgetFailures(tx, stored.id)
      await clearStatuses(tx, stored.id, 'The data source is paused.', publicUrl, now)
    }
    if (body.fields) await replaceFields(tx, stored, body.fields, publicUrl, now)
    if (body.fields || changesTheFetch(before, after)) await resetSource(tx, stored.id, now)
    return stored.id
  })
}

/** Properties that are validated together, only when an update has at least one of them. */
const VALIDATED_TOGETHER = ['url', 'headers', 'auth_type', 'auth_config', 'root_path']

/** Unchanged secrets keep their bytes. New ciphertext would appear as a change in the audit log. */
function encryptChanged(stored: StoredSource, before: SourceSettings, after: SourceSettings, secrets: SecretCipher) {
  const encrypted = encryptSource(after, stored, secrets)
  return {
    headers: isDeepStrictEqual(before.headers, after.headers) ? stored.headers : encrypted.headers,
    authConfig: isDeepStrictEqual(before.authConfig, after.authConfig) ? stored.authConfig : encrypted.authConfig,
  }
}

const FETCH_SETTINGS = [
  'url',
  'method',
  'headers',
  'body',
  'authType',
  'authConfig',
  'rootPath',
  'fetchIntervalS',
  'timeoutMs',
  'isPaused',
]

const changesTheFetch = (before: SourceSettings, after: SourceSettings) =>
  FETCH_SETTINGS.some(
    key => !isDeepStrictEqual(before[key as keyof SourceSettings], after[key as keyof SourceSettings]),
  )

/** Deletes a source and its monitors. The history of the monitors stays. Throws 404. */
export function deleteSource({ db, publicUrl }: SourceTools, projectId: string, id: string, now: Date): Promise<void> {
  return withLockedSource(db, projectId, id, async (tx, source) => {
    const fields = await listFields(tx, [source.id])
    const fieldIds = fields.map(field => field.id)
    await retireChildren(tx, source, fieldIds, 'deleted', publicUrl, now)
    await closeSourceIncident(tx, source, 'deleted', publicUrl, now)
    await removeSource(tx, source.id)
  })
}

/** Makes a source due now. Throws 404, and 409 while it is paused. */
export function refreshSource(db: Db, projectId: string, id: string, now: Date): Promise<void> {
  return withLockedSource(db, projectId, id, async (tx, source) => {
    if (source.isPaused) throw conflict('the data source is paused; set is_paused to false to fetch it')
    await fetchSoon(tx, source.id, now)
  })
}
