import { isDeepStrictEqual } from 'node:util'
import { assertWithinLimit } from '../accounts/actions.ts'
import type { Limits } from '../accounts/plans.ts'
import type { CheckLiteral } from '../channels/types.ts'
import { newId } from '../platform/ids.ts'
import type { Db } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import { assertMayLead, type Caller } from '../web/auth.ts'
import { validationError } from '../web/errors.ts'
import { secretsLedElsewhere } from '../web/kept-secrets.ts'
import { namesNothing } from '../web/names-nothing.ts'
import { replaceFields, retireChildren } from './field-actions.ts'
import { fieldsOfSources } from './field-store.ts'
import { fieldOfCreate, type SourceFields, sourceOfCreate, sourceOfUpdate } from './fields.ts'
import { inSource } from './hold-actions.ts'
import { closeSourceIncident } from './incident-actions.ts'
import { listProblems, sourceProblems, unmaskSource } from './problems.ts'
import type { FieldInput, SourceCreate, SourceUpdate } from './schema.ts'
import { openSource, sealSource } from './sealed.ts'
import { fetchSoon, insertSource, removeSource, startAnew, updateSource, wakeWorkers } from './store.ts'
import type { StoredSource } from './types.ts'

export type SourceTools = { db: Db; secrets: Secrets; checkLiteral: CheckLiteral; publicUrl: string; limits?: Limits }

/** What a create body says, in plain text; masks in it stand for what is `stored`. Throws 400. */
export function draftSource(
  body: SourceCreate,
  checkLiteral: CheckLiteral,
  stored: SourceFields | null = null,
): SourceFields {
  const { source, problems } = unmaskSource(sourceOfCreate(body), stored)
  problems.push(...sourceProblems(source, checkLiteral), ...listProblems((body.fields ?? []).map(fieldOfCreate)))
  if (problems.length > 0) throw validationError(problems)
  return source
}

/**
 * Creates a source, which is fetched at once. Answers its id. Ids of fields are ignored: a new source has no fields yet
 * that they could name. Throws 400, and 402 when the plan is full.
 */
export async function createSource(tools: SourceTools, caller: Caller, body: SourceCreate, now: Date): Promise<string> {
  const fields = draftSource(body, tools.checkLiteral)
  const owner = { id: newId(), projectId: caller.projectId }
  const source: StoredSource = {
    ...fields,
    ...sealSource(fields, owner, tools.secrets),
    ...owner,
    ...NEW,
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

const NEW = {
  revision: 1,
  lastFetchedAt: null,
  lastSuccessAt: null,
  lastError: null,
  failures: 0,
  documentKeys: null,
  incidentId: null,
}

/**
 * Changes what the body names; what changes what is asked or how it is judged lets the source be fetched anew. Answers
 * its id. Throws 404, 400, and 403 where stored secrets would go to another origin (assertMayLead).
 */
export function changeSource(
  tools: SourceTools,
  caller: Caller,
  id: string,
  body: SourceUpdate,
  now: Date,
): Promise<string> {
  const { db, secrets, checkLiteral, publicUrl } = tools
  return inSource(db, caller.projectId, id, async (tx, stored) => {
    const before: SourceFields = { ...stored, ...openSource(stored, secrets) }
    const { source: after, problems } = unmaskSource(sourceOfUpdate(before, body), before)
    if (JUDGED_TOGETHER.some(key => key in body)) problems.push(...sourceProblems(after, checkLiteral))
    problems.push(...listProblems((body.fields ?? []).map(fieldOfCreate)))
    if (problems.length > 0) throw validationError(problems)
    assertMayLead(caller, secretsLedElsewhere(before, after, body))
    const updatedAt = namesNothing(body) ? stored.updatedAt : now
    await updateSource(tx, { ...stored, ...after, ...sealedAfter(stored, before, after, secrets), updatedAt })
    if (body.fields) await replaceFields(tx, stored, body.fields, publicUrl, now)
    if (body.fields || changesTheFetch(before, after)) await startAnew(tx, stored.id, now)
    return stored.id
  })
}

/** Fields that are checked against each other; an update that names none of them leaves what is stored alone. */
const JUDGED_TOGETHER = ['url', 'headers', 'auth_type', 'auth_config', 'root_path']

/** What did not change keeps its bytes: sealed anew, it would be told as changed. */
function sealedAfter(stored: StoredSource, before: SourceFields, after: SourceFields, secrets: Secrets) {
  const sealed = sealSource(after, stored, secrets)
  return {
    headers: isDeepStrictEqual(before.headers, after.headers) ? stored.headers : sealed.headers,
    authConfig: isDeepStrictEqual(before.authConfig, after.authConfig) ? stored.authConfig : sealed.authConfig,
  }
}

const FETCHED_BY = [
  'url',
  'method',
  'headers',
  'body',
  'authType',
  'authConfig',
  'rootPath',
  'fetchIntervalS',
  'timeoutMs',
]

const changesTheFetch = (before: SourceFields, after: SourceFields) =>
  FETCHED_BY.some(key => !isDeepStrictEqual(before[key as keyof SourceFields], after[key as keyof SourceFields]))

/** Deletes a source; its monitors are deleted like any other, and their pasts stay. Throws 404. */
export function deleteSource({ db, publicUrl }: SourceTools, projectId: string, id: string, now: Date): Promise<void> {
  return inSource(db, projectId, id, async (tx, source) => {
    const fields = await fieldsOfSources(tx, [source.id])
    const fieldIds = fields.map(field => field.id)
    await retireChildren(tx, source, fieldIds, 'deleted', publicUrl, now)
    await closeSourceIncident(tx, source, 'deleted', publicUrl, now)
    await removeSource(tx, source.id)
  })
}

/** Fetches a source at once, without waiting for its interval. Throws 404. */
export function refreshSource(db: Db, projectId: string, id: string, now: Date): Promise<void> {
  return inSource(db, projectId, id, (tx, source) => fetchSoon(tx, source.id, now))
}
