import type { Limits } from '../accounts/plans.ts'
import { now } from '../platform/clock.ts'
import { isId } from '../platform/ids.ts'
import type { Db } from '../platform/postgres.ts'
import { actingAs } from '../web/acting.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { notFound } from '../web/errors.ts'
import { metaOf, metaOfAll, pageOf } from '../web/pages.ts'
import { answers, DeletedResponse, dataOf, IdParams, pageOf as pageSchema } from '../web/schemas.ts'
import { presentRule } from './present.ts'
import { changeRule, createRule } from './rule-actions.ts'
import { RuleCreate, RuleQuery, RuleRecord, RuleUpdate } from './schema.ts'
import { deleteRule, findRule, hasMonitor, listRules } from './store.ts'

const tags = ['Alerts']

/** Which channel hears of which monitor (specification, "Alert rule"). */
export function ruleRoutes(app: App, { db, limits }: { db: Db; limits: Limits }): void {
  readRoutes(app, db)
  writeRoutes(app, db, limits.rulesPerMonitor)
}

function readRoutes(app: App, db: Db): void {
  app.get(
    '/alerts/rules',
    {
      schema: {
        summary: 'List rules, newest first; all of them unless a page is asked for',
        tags,
        querystring: RuleQuery,
        response: answers(200, pageSchema(RuleRecord), 400, 404),
      },
    },
    async request => {
      const { projectId } = callerOf(request)
      const { monitor_id: monitorId = null, page, per_page } = request.query
      if (monitorId !== null && !(isId(monitorId) && (await hasMonitor(db, projectId, monitorId)))) {
        throw notFound('monitor')
      }
      const isPaged = page !== undefined || per_page !== undefined
      const { rows, total } = await listRules(db, projectId, { monitorId }, isPaged ? pageOf(request.query) : null)
      return { data: rows.map(presentRule), meta: isPaged ? metaOf(request.query, total) : metaOfAll(total) }
    },
  )

  app.get(
    '/alerts/rules/:id',
    { schema: { summary: 'One rule', tags, params: IdParams, response: answers(200, dataOf(RuleRecord), 404) } },
    async request => {
      const { id } = request.params
      const rule = isId(id) ? await findRule(db, callerOf(request).projectId, id) : null
      if (!rule) throw notFound('rule')
      return { data: presentRule(rule) }
    },
  )
}

function writeRoutes(app: App, db: Db, limit: number): void {
  app.post(
    '/alerts/rules',
    {
      schema: {
        summary: 'Link a monitor to a channel',
        tags,
        body: RuleCreate,
        response: answers(201, dataOf(RuleRecord), 400, 402, 404, 409),
      },
    },
    async (request, reply) => {
      const rule = await createRule(actingAs(db, request), callerOf(request).projectId, request.body, limit, now())
      return reply.code(201).send({ data: presentRule(rule) })
    },
  )

  app.put(
    '/alerts/rules/:id',
    {
      schema: {
        summary: 'Change a rule: fields that are not named stay',
        tags,
        params: IdParams,
        body: RuleUpdate,
        response: answers(200, dataOf(RuleRecord), 400, 402, 404, 409),
      },
    },
    async request => ({
      data: presentRule(
        await changeRule(
          actingAs(db, request),
          callerOf(request).projectId,
          request.params.id,
          request.body,
          limit,
          now(),
        ),
      ),
    }),
  )

  app.delete(
    '/alerts/rules/:id',
    { schema: { summary: 'Delete a rule', tags, params: IdParams, response: answers(200, DeletedResponse, 404) } },
    async request => {
      const { id } = request.params
      if (!isId(id) || !(await deleteRule(actingAs(db, request), callerOf(request).projectId, id)))
        throw notFound('rule')
      return { data: { id, deleted: true as const } }
    },
  )
}
