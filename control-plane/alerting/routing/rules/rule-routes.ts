import type { InstallationLimits } from '../../../accounts/plans/plans.ts'
import { isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { withRequestActor } from '../../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { found, notFound } from '../../../foundation/web/server/errors.ts'
import { buildFullPageMeta, buildPageMeta, toPageBounds } from '../../../foundation/web/validation/pagination.ts'
import {
  DeletedResponse,
  dataSchema,
  IdParams,
  pageSchema,
  responseSchemas,
} from '../../../foundation/web/validation/schemas.ts'
import { toRuleResponse } from '../responses.ts'
import { RuleCreate, RuleQuery, RuleRecord, RuleUpdate } from '../schemas.ts'
import { changeRule, createRule } from './rule-actions.ts'
import { deleteRule, findRule, hasMonitor, listRules } from './rule-store.ts'

const tags = ['Alerts']

/** Rules: which events of a monitor a channel receives (docs/design/alerting.md#rules). */
export function ruleRoutes(app: App, { db, limits }: { db: Db; limits: InstallationLimits }): void {
  readRoutes(app, db)
  writeRoutes(app, db, limits.rulesPerMonitor)
}

function readRoutes(app: App, db: Db): void {
  app.get(
    '/alerts/rules',
    {
      schema: {
        summary: 'List rules',
        description: 'Newest first. Returns all rules when neither `page` nor `per_page` is given.',
        tags,
        querystring: RuleQuery,
        response: responseSchemas(200, pageSchema(RuleRecord), 400, 404),
      },
    },
    async request => {
      const { projectId } = getCaller(request)
      const { monitor_id: monitorId = null, page, per_page } = request.query
      if (monitorId !== null && !(isId(monitorId) && (await hasMonitor(db, projectId, monitorId)))) {
        throw notFound('monitor')
      }
      const isPaged = page !== undefined || per_page !== undefined
      const { rows, total } = await listRules(
        db,
        projectId,
        { monitorId },
        isPaged ? toPageBounds(request.query) : null,
      )
      return {
        data: rows.map(toRuleResponse),
        meta: isPaged ? buildPageMeta(request.query, total) : buildFullPageMeta(total),
      }
    },
  )

  app.get(
    '/alerts/rules/:id',
    {
      schema: {
        summary: 'Get a rule',
        tags,
        params: IdParams,
        response: responseSchemas(200, dataSchema(RuleRecord), 404),
      },
    },
    async request => {
      const { id } = request.params
      const rule = found(isId(id) && (await findRule(db, getCaller(request).projectId, id)), 'rule')
      return { data: toRuleResponse(rule) }
    },
  )
}

function writeRoutes(app: App, db: Db, limit: number): void {
  app.post(
    '/alerts/rules',
    {
      schema: {
        summary: 'Create a rule',
        description:
          'Sends events of a monitor to a channel. There can be one rule for each pair of a monitor and a channel.',
        tags,
        body: RuleCreate,
        response: responseSchemas(201, dataSchema(RuleRecord), 400, 402, 404, 409),
      },
    },
    async (request, reply) => {
      const rule = await createRule(
        withRequestActor(db, request),
        getCaller(request).projectId,
        request.body,
        limit,
        now(),
      )
      return reply.code(201).send({ data: toRuleResponse(rule) })
    },
  )

  app.put(
    '/alerts/rules/:id',
    {
      schema: {
        summary: 'Update a rule',
        description: 'Omitted fields are not changed.',
        tags,
        params: IdParams,
        body: RuleUpdate,
        response: responseSchemas(200, dataSchema(RuleRecord), 400, 402, 404, 409),
      },
    },
    async request => ({
      data: toRuleResponse(
        await changeRule(
          withRequestActor(db, request),
          getCaller(request).projectId,
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
    {
      schema: {
        summary: 'Delete a rule',
        tags,
        params: IdParams,
        response: responseSchemas(200, DeletedResponse, 404),
      },
    },
    async request => {
      const { id } = request.params
      if (!isId(id) || !(await deleteRule(withRequestActor(db, request), getCaller(request).projectId, id)))
        throw notFound('rule')
      return { data: { id, deleted: true as const } }
    },
  )
}
