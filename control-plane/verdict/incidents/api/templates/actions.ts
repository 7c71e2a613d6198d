import { isId, newId } from '../../../../foundation/platform/ids.ts'
import { type Db, isUniqueViolation, type Tx } from '../../../../foundation/platform/postgres/client.ts'
import { conflict, found } from '../../../../foundation/web/server/errors.ts'
import { isEmptyUpdate } from '../../../../foundation/web/validation/empty-update.ts'
import type { TemplateCreate, TemplateUpdate } from './schema.ts'
import { lockTemplate, lockTemplateCount, type StoredTemplate, saveTemplate } from './store.ts'

const MAX_TEMPLATES = 100

/** Throws 409 for a name in use, or when the project has too many templates. */
export function createTemplate(db: Db, projectId: string, body: TemplateCreate, now: Date): Promise<StoredTemplate> {
  const { name, title = null, severity = null, status = null, message } = body
  return db.transaction(async tx => {
    if ((await lockTemplateCount(tx, projectId)) >= MAX_TEMPLATES)
      throw conflict(`a project can have at most ${MAX_TEMPLATES} incident templates`)
    const proposed = { name, title, severity, status, message }
    return save(tx, { id: newId(), projectId, ...proposed, createdAt: now, updatedAt: now })
  })
}

/** Changes the fields that the body contains. Throws 404, and 409 for a name in use. */
export function changeTemplate(
  db: Db,
  projectId: string,
  id: string,
  body: TemplateUpdate,
  now: Date,
): Promise<StoredTemplate> {
  return db.transaction(async tx => {
    const before = found(isId(id) && (await lockTemplate(tx, projectId, id)), 'incident template')
    return isEmptyUpdate(body) ? before : save(tx, { ...before, ...body, updatedAt: now })
  })
}

async function save(tx: Tx, template: StoredTemplate): Promise<StoredTemplate> {
  try {
    await saveTemplate(tx, template)
    return template
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw conflict('an incident template with this name exists; names must differ in more than upper and lower case')
  }
}
