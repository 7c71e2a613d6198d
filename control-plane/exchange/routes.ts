import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { createPauses, now } from '../platform/clock.ts'
import { actingAs } from '../web/acting.ts'
import type { App } from '../web/app.ts'
import { callerOf, isAllowed } from '../web/auth.ts'
import { type Detail, validationError } from '../web/errors.ts'
import { answers, dataOf, enumOf, Id, nullable, strictObject } from '../web/schemas.ts'
import { type Check, detailsOf, type FindFaults, faultsFinder } from '../web/validation.ts'
import { ProjectFile } from './document.ts'
import { exportProject } from './export.ts'
import { convertSource } from './from/convert-reader.ts'
import { foreignOf, SOURCES } from './from/index.ts'
import type { Converted } from './from/source.ts'
import { importProject } from './import-actions.ts'
import { ACTIONS, type Ledger, RESOURCES, type Warning } from './ledger.ts'
import { namingEntries } from './names.ts'
import type { ImportTools } from './run.ts'
import { readProject } from './state-reader.ts'
import { isOver } from './window-actions.ts'
import { writeYaml } from './yaml.ts'
import { readYaml } from './yaml-reader.ts'

export type ExchangeContext = Omit<ImportTools, 'findFaults'>

const tags = ['Import and export']
const YAML = 'application/yaml'

const ImportQuery = strictObject({
  dry_run: Type.Optional(
    Type.Boolean({ description: 'true unless it is said: what would change, and nothing changes' }),
  ),
  prune: Type.Optional(
    Type.Boolean({ description: 'deletes what the file does not name, in the sections that it has; default false' }),
  ),
  from: Type.Optional({
    ...enumOf(SOURCES, { default: 'picket' }),
    description: "the body is a backup of Uptime Kuma, or a configuration of Gatus, instead of Picket's own file",
  }),
})

const ImportAnswer = Type.Object({
  dry_run: Type.Boolean(),
  create: Type.Integer(),
  update: Type.Integer(),
  delete: Type.Integer(),
  unchanged: Type.Integer(),
  extra: Type.Integer({ description: 'records that the file does not name and that stay; prune deletes them' }),
  changes: Type.Array(
    Type.Object({
      action: enumOf(ACTIONS),
      resource: enumOf(RESOURCES),
      key: Type.String({ description: 'what people call it' }),
      id: nullable(Id),
      fields: Type.Record(
        Type.String(),
        Type.Object({
          from: Type.Unknown(),
          to: Type.Unknown(),
          is_secret: Type.Optional(Type.Boolean({ description: 'it differs, and is masked' })),
        }),
      ),
    }),
  ),
  warnings: Type.Array(Type.Object({ path: Type.String(), message: Type.String() })),
})

/** A project as a file, and back (decisions: import and export). */
export function exchangeRoutes(app: App, context: ExchangeContext): void {
  app.register(async scope => {
    scope.addContentTypeParser(YAML, { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) =>
      readYaml(callerOf(request).projectId, body),
    )
    exportRoute(scope as App, context)
    importRoute(scope as App, context)
  })
}

function exportRoute(app: App, { db, secrets }: ExchangeContext): void {
  app.get(
    '/export',
    {
      schema: {
        summary: 'The whole project as a file that POST /import takes; secrets are masked',
        tags,
        querystring: strictObject({ format: Type.Optional(enumOf(['yaml', 'json'], { default: 'yaml' })) }),
        response: {
          ...answers(200, Type.Unsafe<string>({}), 400),
          200: {
            description: 'The project',
            content: { 'application/json': { schema: ProjectFile }, [YAML]: { schema: Type.String() } },
          },
        },
      },
    },
    async (request, reply) => {
      const at = now()
      const caller = callerOf(request)
      const state = await readProject(db, caller.projectId)
      const pause = createPauses()
      const file = await exportProject(state, secrets, window => isOver(window, at), !isAllowed(caller, 'write'), pause)
      if (request.query.format === 'json') return reply.send(file as never)
      return reply.type(`${YAML}; charset=utf-8`).send(await writeYaml(file, pause))
    },
  )
}

function importRoute(app: App, context: ExchangeContext): void {
  app.post(
    '/import',
    {
      config: { isHeavy: true },
      onRequest: context.heavyWrites.assertRoom,
      preValidation: checkIsReady,
      attachValidation: true,
      schema: {
        summary: 'Make the project what a file says, or show what would change',
        tags,
        consumes: ['application/json', YAML],
        querystring: ImportQuery,
        body: ProjectFile,
        response: answers(200, dataOf(ImportAnswer), 400, 402, 403, 404, 409, 429, 503),
      },
    },
    async request => {
      const { dry_run: isDryRun = true, prune: isPruning = false, from = 'picket' } = request.query
      const { file, warnings } = await readFile(request)
      const tools = { ...context, db: actingAs(context.db, request), findFaults: faultsFinder(request) }
      const hasLeft = () => request.raw.socket.destroyed
      const options = { isDryRun, isPruning, isLenient: from !== 'picket', hasLeft }
      const ledger = await importProject(tools, callerOf(request), file, options, now())
      return { data: presentImport(ledger, warnings, isDryRun) }
    },
  )
}

/** The first import of a process compiles the check of its body: reading the body, that and checking it are a turn each. */
async function checkIsReady(request: FastifyRequest): Promise<void> {
  const pause = createPauses(0)
  await pause()
  const check = request.getValidationFunction('body') as unknown as Check | undefined
  check?.(null, 0)
  await pause()
}

type Query = { from?: (typeof SOURCES)[number] }

/** The file of a request, in Picket's own form. Throws 400. */
async function readFile(request: FastifyRequest<{ Querystring: Query }>): Promise<Converted> {
  const findFaults = faultsFinder(request)
  // where the body is not as ours, which is no fault of another product's, nobody has looked at the query yet
  const faults = findFaults(ImportQuery, request.query)
  if (faults.length > 0) throw validationError(detailsOf(faults, 'query'))
  const { from = 'picket' } = request.query
  if (from !== 'picket') return await convertSource(callerOf(request).projectId, from, request.body)
  if (request.validationError) throw validationError(wrongWith(request.body, findFaults))
  return { file: request.body as ProjectFile, warnings: [] }
}

function wrongWith(body: unknown, findFaults: FindFaults): Detail[] {
  const foreign = foreignOf(body)
  if (foreign === null) return namingEntries(detailsOf(findFaults(ProjectFile, body), 'body'), body)
  const message = `the body is no file of Picket; it reads like one of ${foreign}, which from=${foreign} takes`
  return [{ path: '', message }]
}

function presentImport({ changes, warnings, unchanged, extra }: Ledger, ofSource: Warning[], isDryRun: boolean) {
  const count = (action: (typeof ACTIONS)[number]) => changes.filter(change => change.action === action).length
  return {
    dry_run: isDryRun,
    create: count('create'),
    update: count('update'),
    delete: count('delete'),
    ...{ unchanged, extra, changes },
    warnings: [...ofSource, ...warnings],
  }
}
