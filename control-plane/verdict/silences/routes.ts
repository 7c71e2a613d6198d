import { isId } from '../../foundation/platform/ids.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { withActor } from '../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../foundation/web/auth/authentication.ts'
import { createRoute, deleteRoute, listRoute, readRoute } from '../../foundation/web/resource-routes.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { found } from '../../foundation/web/server/errors.ts'
import { findMonitor } from '../../monitoring/monitors/store.ts'
import type { SuppressionReviewer } from '../maintenance/actions.ts'
import { createSilence, endSilence } from './actions.ts'
import { SilenceCreate, SilenceQuery, SilenceRecord } from './schemas.ts'
import { findAlertSilence, listAlertSilences } from './store.ts'
import type { MonitorSilence } from './types.ts'

const tags = ['Silences']

/** The routes of `/silences` (docs/design/suppression.md#silences). */
export function silenceRoutes(app: App, context: { db: Db; review: SuppressionReviewer }): void {
  readRoutes(app, context.db)

  createRoute(app, '/silences', {
    summary: 'Silence monitors until a time',
    description:
      'Checks, status, incidents, status pages and uptime go on; alerts are withheld. An outage that continues when the silence ends is sent then.',
    tags,
    body: SilenceCreate,
    record: SilenceRecord,
    errors: [400, 404, 409],
    create: async request => {
      const at = now()
      const { projectId } = getCaller(request)
      const silence = await createSilence(withActor(context, request).db, projectId, request.body, at)
      return toSilenceResponse(silence, at)
    },
  })

  deleteRoute(app, '/silences/:id', {
    summary: 'End a silence and remove it',
    tags,
    remove: request => endSilence(withActor(context, request), getCaller(request).projectId, request.params.id, now()),
  })
}

function readRoutes(app: App, db: Db): void {
  listRoute(app, '/silences', {
    summary: 'List silences, newest first',
    tags,
    querystring: SilenceQuery,
    record: SilenceRecord,
    errors: [400, 404],
    list: async (request, bounds) => {
      const at = now()
      const { projectId } = getCaller(request)
      const { monitor_id: monitorId = null, active: isActive = null } = request.query
      if (monitorId !== null) found(isId(monitorId) && (await findMonitor(db, projectId, monitorId)), 'monitor')
      const { silences, total } = await listAlertSilences(db, projectId, { monitorId, isActive, now: at }, bounds)
      return { data: silences.map(silence => toSilenceResponse(silence, at)), total }
    },
  })

  readRoute(app, '/silences/:id', {
    summary: 'Get a silence',
    tags,
    record: SilenceRecord,
    read: async request => {
      const { id } = request.params
      const silence = found(isId(id) && (await findAlertSilence(db, getCaller(request).projectId, id)), 'silence')
      return toSilenceResponse(silence, now())
    },
  })
}

const toSilenceResponse = ({ id, monitorIds, endsAt, reason, createdAt }: MonitorSilence, now: Date) => ({
  id,
  monitor_ids: monitorIds,
  until: endsAt,
  reason,
  status: endsAt > now ? ('active' as const) : ('ended' as const),
  created_at: createdAt,
})
