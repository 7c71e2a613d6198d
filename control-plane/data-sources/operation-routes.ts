import { Type } from 'typebox'
import type { Egress } from '../../shared/egress/index.ts'
import { createTestLimit, TESTS_AT_ONCE } from '../fleet/test-limit.ts'
import { now, nowMs } from '../platform/clock.ts'
import { actingAs } from '../web/acting.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { rateLimited } from '../web/errors.ts'
import { answers, dataOf, Id, IdParams } from '../web/schemas.ts'
import { refreshSource } from './actions.ts'
import { draftPreview, preview } from './preview-actions.ts'
import { publishFields } from './publish-actions.ts'
import { type ReadContext, readSource } from './reader.ts'
import { PreviewRecord, SourceRecord } from './record.ts'
import { SourcePreview, SourcePublish } from './schema.ts'

export type OperationContext = ReadContext & { egress: Egress; testsPerMinute: number }

const tags = ['Data sources']

/** What is done with data sources beside changing them (specification, "Data sources"; decisions 9.1). */
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
  const description = `At most ${testsPerMinute} a minute and ${TESTS_AT_ONCE} at once a project, then 429.`

  app.post(
    '/data-sources/:id/refresh',
    {
      schema: {
        summary: 'Fetch a data source at once; answers before it is fetched',
        description,
        tags,
        params: IdParams,
        response: answers(200, dataOf(SourceRecord), 404),
      },
    },
    async request => {
      const { projectId } = callerOf(request)
      const { id } = await readSource(context, projectId, request.params.id)
      await inTurn(projectId, () => refreshSource(actingAs(db, request), projectId, id, now()))
      return { data: await readSource(context, projectId, id) }
    },
  )

  app.post(
    '/data-sources/preview',
    {
      config: { isPatient: true },
      schema: {
        summary: 'Fetch what a create would, and show the monitors that it would make; stores nothing',
        description,
        tags,
        body: SourcePreview,
        response: answers(200, dataOf(PreviewRecord), 400, 404),
      },
    },
    async request => {
      const { projectId } = callerOf(request)
      const draft = await draftPreview(context, callerOf(request), request.body)
      return { data: await inTurn(projectId, () => preview(egress, projectId, draft)) }
    },
  )
}

function publishRoute(app: App, { db }: OperationContext): void {
  app.post(
    '/data-sources/:id/publish',
    {
      schema: {
        summary: 'Put a component on a status page for each monitor of some fields that is not there yet',
        tags,
        params: IdParams,
        body: SourcePublish,
        response: answers(200, dataOf(Type.Object({ created_component_ids: Type.Array(Id) })), 400, 404, 409),
      },
    },
    async request => {
      const { projectId } = callerOf(request)
      const ids = await publishFields(actingAs(db, request), projectId, request.params.id, request.body, now())
      return { data: { created_component_ids: ids } }
    },
  )
}
