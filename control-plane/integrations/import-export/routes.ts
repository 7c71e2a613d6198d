import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { createYieldPoint, now } from '../../foundation/platform/time/clock.ts'
import { withRequestActor } from '../../foundation/web/auth/audit-actor.ts'
import { getCaller, hasScope } from '../../foundation/web/auth/authentication.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { found, validationError } from '../../foundation/web/server/errors.ts'
import { addScope } from '../../foundation/web/server/scope.ts'
import {
  dataSchema,
  Id,
  nullable,
  responseSchemas,
  strictObject,
  stringEnum,
} from '../../foundation/web/validation/schemas.ts'
import {
  createFaultFinder,
  type SchemaCheck,
  toErrorDetails,
} from '../../foundation/web/validation/validation-errors.ts'
import { convertForeignFile } from './converters/convert-reader.ts'
import type { ConvertedFile } from './converters/foreign-file.ts'
import { IMPORT_SOURCES, listFileProblems } from './converters/index.ts'
import { dropEmptySections, exportProject } from './export.ts'
import { ProjectFile } from './file/project-file.ts'
import { formatYaml } from './file/yaml.ts'
import { parseYamlBody } from './file/yaml-reader.ts'
import { importProject } from './import/import-actions.ts'
import {
  IMPORT_ACTIONS,
  type ImportReport,
  type ImportWarning,
  isLeftOutRecord,
  RESOURCE_KINDS,
} from './import/import-report.ts'
import type { ImportTools } from './import/import-run.ts'
import { hasWindowEnded } from './import/resources/window-actions.ts'
import { importJobRoutes } from './jobs/job-routes.ts'
import { loadProject, selectRecord } from './project-reader.ts'

type ImportExportContext = Omit<ImportTools, 'findFaults'>

const tags = ['Import and export']
const YAML = 'application/yaml'

const ImportQuery = strictObject({
  dry_run: Type.Optional(
    Type.Boolean({ description: 'Show what would change, without changing anything. Defaults to true.' }),
  ),
  prune: Type.Optional(
    Type.Boolean({
      description: 'Delete records that the file does not name, in the sections that it has. Defaults to false.',
    }),
  ),
  from: Type.Optional({
    ...stringEnum(IMPORT_SOURCES, { default: 'picket' }),
    description: 'Format of the body: a Picket file, a backup of Uptime Kuma, or a configuration of Gatus.',
  }),
})

const ImportResponse = Type.Object({
  dry_run: Type.Boolean(),
  create: Type.Integer(),
  update: Type.Integer(),
  delete: Type.Integer(),
  unchanged: Type.Integer(),
  extra: Type.Integer({
    description: 'Number of records that the file does not name and that are kept. `prune` deletes them.',
  }),
  changes: Type.Array(
    Type.Object({
      action: stringEnum(IMPORT_ACTIONS),
      resource: stringEnum(RESOURCE_KINDS),
      key: Type.String({ description: 'Name of the record for people.' }),
      id: nullable(Id),
      fields: Type.Record(
        Type.String(),
        Type.Object({
          from: Type.Unknown(),
          to: Type.Unknown(),
          is_secret: Type.Optional(Type.Boolean({ description: 'The values differ and are masked.' })),
        }),
      ),
    }),
  ),
  warnings: Type.Array(Type.Object({ path: Type.String(), message: Type.String() })),
})

/** Routes of export and import (docs/design/import-export.md). */
export function importExportRoutes(app: App, context: ImportExportContext): void {
  addScope(app, scope => {
    scope.addContentTypeParser(YAML, { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) =>
      parseYamlBody(getCaller(request).projectId, body),
    )
    exportRoute(scope, context)
    importRoute(scope, context)
  })
  importJobRoutes(app, context)
}

function exportRoute(app: App, { db, secrets }: ImportExportContext): void {
  app.get(
    '/export',
    {
      schema: {
        summary: 'Export a project',
        description:
          'Returns the project as a file that `POST /import` accepts, or one record of it. Secrets are masked.',
        tags,
        querystring: strictObject({
          format: Type.Optional(stringEnum(['yaml', 'json'], { default: 'yaml' })),
          id: Type.Optional(
            Type.String({ maxLength: 100, description: 'Only the record with this id, in its section of the file.' }),
          ),
        }),
        response: {
          ...responseSchemas(200, Type.Unsafe<string>({}), 400, 404),
          200: {
            description: 'The project',
            content: { 'application/json': { schema: ProjectFile }, [YAML]: { schema: Type.String() } },
          },
        },
      },
    },
    async (request, reply) => {
      const at = now()
      const caller = getCaller(request)
      const { id, format } = request.query
      const project = await loadProject(db, caller.projectId)
      const state = id === undefined ? project : selectRecord(project, id)
      const pause = createYieldPoint()
      const exported = await exportProject(
        state,
        secrets,
        window => hasWindowEnded(window, at),
        !hasScope(caller, 'write'),
        pause,
      )
      const file = id === undefined ? exported : found(dropEmptySections(exported), 'record of a project file')
      if (format === 'json') return reply.send(file as never)
      return reply.type(`${YAML}; charset=utf-8`).send(await formatYaml(file, pause))
    },
  )
}

function importRoute(app: App, context: ImportExportContext): void {
  app.post(
    '/import',
    {
      config: { isHeavy: true },
      onRequest: context.heavyWrites.assertCapacity,
      preValidation: compileBodyCheck,
      attachValidation: true,
      schema: {
        summary: 'Import a project',
        description: 'Makes the project match a file, or shows what would change.',
        tags,
        consumes: ['application/json', YAML],
        querystring: ImportQuery,
        body: ProjectFile,
        response: responseSchemas(200, dataSchema(ImportResponse), 400, 402, 403, 404, 409, 429, 503),
      },
    },
    async request => {
      const { dry_run: isDryRun = true, prune: isPruning = false, from = 'picket' } = request.query
      const { file, warnings } = await loadFile(request)
      const tools = { ...context, db: withRequestActor(context.db, request), findFaults: createFaultFinder(request) }
      const isStopped = () => request.raw.socket.destroyed
      const options = {
        isDryRun,
        isPruning,
        isLenient: from !== 'picket',
        isPartial: warnings.some(isLeftOutRecord),
        isStopped,
      }
      const report = await importProject(tools, getCaller(request), file, options, now())
      return { data: toImportResponse(report, warnings, isDryRun) }
    },
  )
}

/** Compiles the check of the body in a separate turn of the event loop, because the first compilation takes long. */
async function compileBodyCheck(request: FastifyRequest): Promise<void> {
  const pause = createYieldPoint(0)
  await pause()
  const check = request.getValidationFunction('body') as unknown as SchemaCheck | undefined
  check?.(null, 0)
  await pause()
}

type Query = { from?: (typeof IMPORT_SOURCES)[number] }

/** Returns the file of a request in Picket's format. Throws 400. */
async function loadFile(request: FastifyRequest<{ Querystring: Query }>): Promise<ConvertedFile> {
  const findFaults = createFaultFinder(request)
  // the query is checked here, because validation stops at the body, which another product may have written
  const faults = findFaults(ImportQuery, request.query)
  if (faults.length > 0) throw validationError(toErrorDetails(faults, 'query'))
  const { from = 'picket' } = request.query
  if (from !== 'picket') return await convertForeignFile(getCaller(request).projectId, from, request.body)
  if (request.validationError) throw validationError(listFileProblems(request.body, findFaults))
  return { file: request.body as ProjectFile, warnings: [] }
}

function toImportResponse(
  { changes, warnings, unchanged, extra }: ImportReport,
  conversionWarnings: ImportWarning[],
  isDryRun: boolean,
) {
  const count = (action: (typeof IMPORT_ACTIONS)[number]) => changes.filter(change => change.action === action).length
  return {
    dry_run: isDryRun,
    create: count('create'),
    update: count('update'),
    delete: count('delete'),
    ...{ unchanged, extra, changes },
    warnings: [...conversionWarnings, ...warnings],
  }
}
