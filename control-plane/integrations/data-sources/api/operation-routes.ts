import { Type } from 'typebox'
import type { Egress } from '../../../../shared/egress/types.ts'
import { now, nowMs } from '../../../foundation/platform/time/clock.ts'
import { withRequestActor } from '../../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { rateLimited } from '../../../foundation/web/server/errors.ts'
import { createTestLimit, MAX_CONCURRENT_TESTS } from '../../../foundation/web/test-limit.ts'
import { dataSchema, Id, IdParams, responseSchemas } from '../../../foundation/web/validation/schemas.ts'
import { refreshSource } from '../configuration/source-actions.ts'
import { draftPreview, previewSource } from './preview-actions.ts'
import { publishFields } from './publish-actions.ts'
import { SourcePreview, SourcePublish } from './request-schema.ts'
import { getSourceResponse, type SourceReadContext } from './response-reader.ts'
import { PreviewRecord, SourceRecord } from './response-schema.ts'

type OperationContext = SourceReadContext & { egress: Egress; testsPerMinute: number }

const tags = ['Data sources']

/** Operations on data sources: refresh, preview and publish (docs/design/data-sources.md#api). */
export function sourceOperationRoutes(app: App, context: OperationContext): void {
  onDemandRoutes(app, context)
  publishRoute(app, context)
}

function onDemandRoutes(app: App, context: OperationContext): void {
  const { db, egress, testsPerMinute } = context
  const takeTurn = createTestLimit(testsPerMinute, 'fetches of data sources on demand')
  const inTurn = async <T>(projectId: string, work: () => Promise<T>): Promise<T> => {
    const turn = takeTurn(projectId, nowMs())
    if ('message' in turn) throw rateLimited(turn.message, turn.retryAfterSeconds)
    return work().finally(turn.end)
  }
  const description = `Limited to ${testsPerMinute} requests per minute and ${MAX_CONCURRENT_TESTS} concurrent requests per project; more are refused with 429.`

  app.post(
    '/data-sources/:id/refresh',
    {
      schema: {
        summary: 'Fetch a data source now',
        description: `Responds before the fetch ends. Refused with 409 while the data source is paused. ${description}`,
        tags,
        params: IdParams,
        response: responseSchemas(200, dataSchema(SourceRecord), 404, 409),
      },
    },
    async request => {
      const { projectId } = getCaller(request)
      const { id } = await getSourceResponse(context, projectId, request.params.id)
      await inTurn(projectId, () => refreshSource(withRequestActor(db, request), projectId, id, now()))
      return { data: await getSourceResponse(context, projectId, id) }
    },
  )

  app.post(
    '/data-sources/preview',
    {
      config: { isPatient: true },
      schema: {
        summary: 'Preview a data source',
        description: `Fetches the document and returns the monitors that a create would make. Stores nothing. ${description}`,
        tags,
        body: SourcePreview,
        response: responseSchemas(200, dataSchema(PreviewRecord), 400, 404),
      },
    },
    async request => {
      const { projectId } = getCaller(request)
      const draft = await draftPreview(context, getCaller(request), request.body)
      return { data: await inTurn(projectId, () => previewSource(egress, projectId, draft)) }
    },
  )
}

function publishRoute(app: App, { db }: OperationContext): void {
  app.post(
    '/data-sources/:id/publish',
    {
      schema: {
        summary: 'Publish the monitors of fields on a status page',
        description: 'Creates a component for each monitor of these fields that the status page does not show yet.',
        tags,
        params: IdParams,
        body: SourcePublish,
        response: responseSchemas(
          200,
          dataSchema(Type.Object({ created_component_ids: Type.Array(Id) })),
          400,
          404,
          409,
        ),
      },
    },
    async request => {
      const { projectId } = getCaller(request)
      const ids = await publishFields(withRequestActor(db, request), projectId, request.params.id, request.body, now())
      return { data: { created_component_ids: ids } }
    },
  )
}
