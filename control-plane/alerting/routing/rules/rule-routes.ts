import type { InstallationLimits } from '../../../accounts/plans/plans.ts'
import { isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { withRequestActor } from '../../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import {
  createRoute,
  deleteRoute,
  fullListRoute,
  readRoute,
  updateRoute,
} from '../../../foundation/web/resource-routes.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { found, notFound } from '../../../foundation/web/server/errors.ts'
import { hasMonitor } from '../../deliveries/log/store.ts'
import { toRuleResponse } from '../responses.ts'
import { RuleCreate, RuleQuery, RuleRecord, RuleUpdate } from '../schemas.ts'
import { changeRule, createRule } from './rule-actions.ts'
import { deleteRule, findRule, listRules, RULE_VERSION } from './rule-store.ts'

const tags = ['Alerts']

/** Rules: which events of a monitor a channel receives (docs/design/alerting.md#rules). */
export function ruleRoutes(app: App, { db, limits }: { db: Db; limits: InstallationLimits }): void {
  readRoutes(app, db)
  writeRoutes(app, db, limits.rulesPerMonitor)
}

function readRoutes(app: App, db: Db): void {
  fullListRoute(app, '/alerts/rules', {
    summary: 'List rules',
    description: 'Newest first. Returns all rules when neither `page` nor `per_page` is given.',
    tags,
    querystring: RuleQuery,
    record: RuleRecord,
    errors: [400, 404],
    list: async (request, bounds) => {
      const { projectId } = getCaller(request)
      const { monitor_id: monitorId = null } = request.query
      if (monitorId !== null && !(isId(monitorId) && (await hasMonitor(db, projectId, monitorId)))) {
        throw notFound('monitor')
      }
      const { rows, total } = await listRules(db, projectId, { monitorId }, bounds)
      return { data: rows.map(toRuleResponse), total }
    },
  })

  readRoute(app, '/alerts/rules/:id', {
    version: RULE_VERSION,
    summary: 'Get a rule',
    tags,
    record: RuleRecord,
    read: async request => {
      const { id } = request.params
      return toRuleResponse(found(isId(id) && (await findRule(db, getCaller(request).projectId, id)), 'rule'))
    },
  })
}

function writeRoutes(app: App, db: Db, limit: number): void {
  createRoute(app, '/alerts/rules', {
    version: RULE_VERSION,
    summary: 'Create a rule',
    description:
      'Sends events of a monitor to a channel. There can be one rule for each pair of a monitor and a channel.',
    tags,
    body: RuleCreate,
    record: RuleRecord,
    errors: [400, 402, 404, 409],
    create: async request => {
      const { projectId } = getCaller(request)
      return toRuleResponse(await createRule(withRequestActor(db, request), projectId, request.body, limit, now()))
    },
  })

  updateRoute(app, '/alerts/rules/:id', {
    version: { ...RULE_VERSION, isCheckedByAction: true },
    summary: 'Update a rule',
    description: 'Omitted fields are not changed.',
    tags,
    body: RuleUpdate,
    record: RuleRecord,
    errors: [400, 402, 404, 409],
    update: async request => {
      const { projectId } = getCaller(request)
      const { id } = request.params
      return toRuleResponse(await changeRule(withRequestActor(db, request), projectId, id, request.body, limit, now()))
    },
  })

  deleteRoute(app, '/alerts/rules/:id', {
    version: RULE_VERSION,
    summary: 'Delete a rule',
    tags,
    remove: async request => {
      const { id } = request.params
      const { projectId } = getCaller(request)
      return found(isId(id) && (await deleteRule(withRequestActor(db, request), projectId, id)), 'rule')
    },
  })
}
