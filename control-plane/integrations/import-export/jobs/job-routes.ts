import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { isId } from '../../../foundation/platform/ids.ts'
import { nowMs } from '../../../foundation/platform/time/clock.ts'
import { getAuditActor, withAuditActor } from '../../../foundation/web/auth/audit-actor.ts'
import { getCaller, hasScope } from '../../../foundation/web/auth/authentication.ts'
import { deleteRoute, listRoute, readRoute } from '../../../foundation/web/resource-routes.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { ApiError, found, notFound } from '../../../foundation/web/server/errors.ts'
import { addScope } from '../../../foundation/web/server/scope.ts'
import { dataSchema, responseSchemas } from '../../../foundation/web/validation/schemas.ts'
import { listItems } from './item-store.ts'
import { hideChannelConfig } from './items.ts'
import { ABANDONED_ERROR, createImportJobs, type ImportActor, type JobTools, removeImport } from './job-actions.ts'
import { ABANDONED_AFTER_MS, findJob, listJobs, type StoredJob } from './job-store.ts'
import { ImportItemRecord, ImportRecord, ItemQuery, UploadQuery } from './schema.ts'

const tags = ['Import and export']
const OCTETS = 'application/octet-stream'
/** 256 MiB at 4 Mbit/s take nine minutes. */
const UPLOAD_TIMEOUT_MS = 10 * 60_000

/** The routes of `/imports`: imports of uploaded files, as jobs (docs/design/import-jobs.md). */
export function importJobRoutes(app: App, tools: JobTools): void {
  const { db } = tools
  const jobs = createImportJobs(tools)
  const find = async (request: FastifyRequest, id: string) =>
    found(isId(id) && (await findJob(db, getCaller(request).projectId, id)), 'import')
  addScope(app, scope => uploadRoute(scope, jobs, db))
  listRoute(app, '/imports', {
    summary: 'List imports of uploaded files, newest first',
    tags,
    record: ImportRecord,
    list: async (request, bounds) => {
      const { jobs, total } = await listJobs(db, getCaller(request).projectId, bounds)
      return { data: jobs.map(toResponse), total }
    },
  })
  readRoute(app, '/imports/:id', {
    summary: 'Get an import with its progress',
    tags,
    record: ImportRecord,
    read: async request => toResponse(await find(request, request.params.id)),
  })
  listRoute(app, '/imports/:id/items', {
    summary: 'List what an import changes, entry by entry',
    description:
      'The plan before it is applied, then the result. Secrets are masked; without write access also the settings of alert channels.',
    tags,
    record: ImportItemRecord,
    querystring: ItemQuery,
    list: async (request, bounds) => {
      const { id } = await find(request, request.params.id)
      const { action, has_warnings: hasWarnings, q: text } = request.query as Static<typeof ItemQuery>
      const { items, total } = await listItems(db, id, { action, hasWarnings, text }, bounds)
      return { data: hasScope(getCaller(request), 'write') ? items : items.map(hideChannelConfig), total }
    },
  })
  app.post(
    '/imports/:id/apply',
    {
      schema: {
        summary: 'Apply the plan of an import',
        description:
          'Applies the stored file. The plan is made again, so the result shows what has changed meanwhile. With `prune`, the import fails and changes nothing when it would delete a record or a field of a data source that the plan did not list.',
        tags,
        params: Type.Object({ id: Type.String() }),
        response: responseSchemas(202, dataSchema(ImportRecord), 404, 409),
      },
    },
    async (request, reply) => {
      const { id } = request.params as { id: string }
      if (!isId(id)) throw notFound('import')
      const job = await jobs.apply(toStarter(request, db), id)
      return reply.code(202).send({ data: toResponse(job) } as never)
    },
  )
  deleteRoute(app, '/imports/:id', {
    summary: 'Delete an import and its stored file',
    tags,
    errors: [404, 409],
    remove: async request => {
      await removeImport(db, await find(request, request.params.id))
    },
  })
}

function uploadRoute(app: App, jobs: ReturnType<typeof createImportJobs>, db: JobTools['db']): void {
  app.removeAllContentTypeParsers()
  // the handler reads the body; its size is part of what an Idempotency-Key compares
  app.addContentTypeParser(OCTETS, (request: FastifyRequest, _body: unknown, done: (e: null, v: string) => void) =>
    done(null, `${request.headers['content-length'] ?? 'unknown'} bytes`),
  )
  app.addContentTypeParser('*', async () => {
    throw new ApiError(415, 'unsupported_media_type', `the body must be the file itself, with Content-Type: ${OCTETS}`)
  })
  app.post(
    '/imports',
    {
      config: { isPatient: true, bodyTimeoutMs: UPLOAD_TIMEOUT_MS },
      schema: {
        summary: 'Upload a file to import',
        description:
          'Accepts a database (`kuma.db`) of Uptime Kuma of up to 256 MiB, or up to 32 MiB of JSON or YAML: a Picket file, a backup of Uptime Kuma, or a configuration of Gatus. The response comes when the file is stored; then the import is planned.',
        tags,
        consumes: [OCTETS],
        querystring: UploadQuery,
        body: Type.Unsafe<string>({ type: 'string', format: 'binary', description: 'The file.' }),
        response: responseSchemas(202, dataSchema(ImportRecord), 400, 409, 413, 415, 503),
      },
    },
    async (request, reply) => {
      const { from: source = 'picket', prune = false, dry_run = true, file_name = null } = request.query
      const length = request.headers['content-length']
      const job = await jobs.start(toStarter(request, db), {
        ...{ body: request.raw, declaredBytes: length === undefined ? null : Number(length) },
        ...{ source, isPruning: prune, isDryRun: dry_run, fileName: file_name },
      })
      return reply.code(202).send({ data: toResponse(job) } as never)
    },
  )
}

const toStarter = (request: FastifyRequest, db: JobTools['db']): ImportActor => ({
  caller: getCaller(request),
  actorDb: withAuditActor(db, getAuditActor(request)),
  log: request.log,
})

const RUNNING = ['uploading', 'reading', 'planning', 'applying']

function toResponse(job: StoredJob): Static<typeof ImportRecord> {
  const isAbandoned = RUNNING.includes(job.status) && nowMs() - job.aliveAt.getTime() > ABANDONED_AFTER_MS
  return {
    id: job.id,
    status: isAbandoned ? 'failed' : job.status,
    from: job.source,
    prune: job.isPruning,
    file_name: job.fileName,
    bytes: job.bytes,
    can_apply: job.hasFile && (isAbandoned || ['ready', 'failed'].includes(job.status)),
    progress: { done: job.done, total: job.total },
    summary: job.summary,
    error: isAbandoned ? ABANDONED_ERROR : job.error,
    created_at: job.createdAt,
    updated_at: job.updatedAt,
  }
}
