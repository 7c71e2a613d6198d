import { listAuditOfRecords } from '../../../accounts/audit/store.ts'
import type { Clickhouse } from '../../../foundation/platform/clickhouse.ts'
import { isId } from '../../../foundation/platform/ids.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { type ApiCaller, getCaller, hasScope } from '../../../foundation/web/auth/authentication.ts'
import { createGoneSignal } from '../../../foundation/web/connections.ts'
import { readRoute } from '../../../foundation/web/resource-routes.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { found } from '../../../foundation/web/server/errors.ts'
import { listPossibleCauses, MAX_CAUSES } from '../../../verdict/incidents/api/possible-cause-store.ts'
import { findIncident, type IncidentRecord } from '../../../verdict/incidents/store.ts'
import { listFirstUpdates } from '../../../verdict/incidents/update-store.ts'
import type { ScreenshotLinks } from '../../analytics/checks/check-actions.ts'
import { readHistory } from '../history-reader.ts'
import { listWithheldAlerts } from '../withheld-store.ts'
import { selectEvidence } from './evidence.ts'
import { readEvidence, toEvidence } from './evidence-reader.ts'
import { BEFORE_MS, computeCheckSpans } from './time-spans.ts'
import { buildTimeline } from './timeline.ts'
import { IncidentTimeline } from './timeline-schema.ts'
import {
  findOpening,
  listChecksInSpans,
  listIncidentDeliveries,
  listOverlappingPeriods,
  listOverlappingSilences,
  listTransitionsBetween,
} from './timeline-store.ts'

type TimelineContext = ScreenshotLinks & { clickhouse: Clickhouse }

/** An incident may have 1,000 monitors; the timeline is about these first ones. */
const MAX_MONITORS = 10

/** The largest number of items of each kind. For checks: around the start and around the end, each. */
const LIMITS = {
  ...{ transitions: 100, checks: 200, changes: 50, updates: 100, deliveries: 200, periods: 20, silences: 20 },
  withheld: 50,
  vendorIncidents: MAX_CAUSES - 1,
}

/** What happened around an incident, on one axis of time (docs/design/incidents.md#timeline). */
export function timelineRoutes(app: App, context: TimelineContext): void {
  readRoute(app, '/incidents/:id/timeline', {
    summary: 'Get what happened around an incident, oldest first',
    description:
      'Checks, transitions, updates, deliveries, withheld alerts, maintenance, silences, incidents of vendors, and changes of its monitors in the hour before. The number of items of each kind is limited.',
    tags: ['Incidents'],
    record: IncidentTimeline,
    read: async (request, reply) => {
      const caller = getCaller(request)
      const { id } = request.params
      const incident = found(isId(id) && (await findIncident(context.db, caller.projectId, id)), 'incident')
      return readTimeline(context, caller, incident, now(), createGoneSignal(reply))
    },
  })
}

/** A fixed number of statements, whatever the incident. */
async function readTimeline(
  context: TimelineContext,
  caller: ApiCaller,
  incident: IncidentRecord,
  at: Date,
  gone: AbortSignal,
) {
  const { db, clickhouse } = context
  const { projectId } = caller
  const { started_at: from, resolved_at } = incident
  const to = resolved_at ?? at
  const before = new Date(from.getTime() - BEFORE_MS)
  const monitorIds = incident.monitor_ids.slice(0, MAX_MONITORS)
  const scope = { projectId, monitorIds, from, to }
  const transitions = await listTransitionsBetween(db, { ...scope, from: before }, LIMITS.transitions + 1)
  const spans = computeCheckSpans(incident, transitions)
  const selection = selectEvidence(await findOpening(db, { ...scope, from: before, startedAt: from }))
  const [checks, evidence, changes, updates, deliveries, withheld, periods, silences, vendorIncidents] =
    await Promise.all([
      readHistory(clickhouse, { projectId, gone }, reads =>
        listChecksInSpans(reads, monitorIds, spans, LIMITS.checks + 1),
      ),
      selection && readHistory(clickhouse, { projectId, gone }, reads => readEvidence(reads, selection)),
      hasScope(caller, 'admin')
        ? listAuditOfRecords(db, projectId, 'monitor', monitorIds, { from: before, to: from }, LIMITS.changes + 1)
        : ('insufficient_scope' as const),
      listFirstUpdates(db, incident.id, LIMITS.updates + 1),
      listIncidentDeliveries(db, projectId, incident.id, LIMITS.deliveries + 1),
      listWithheldAlerts(db, { projectId, monitorIds, incidentId: incident.id, now: at }, LIMITS.withheld + 1),
      listOverlappingPeriods(db, scope, LIMITS.periods + 1),
      listOverlappingSilences(db, scope, LIMITS.silences + 1),
      listPossibleCauses(db, projectId, incident, at),
    ])
  const read = { transitions, checks: checks ?? ('unavailable' as const), changes, updates, deliveries, periods }
  const parts = { ...read, withheld, silences, vendorIncidents }
  return {
    ...buildTimeline(incident, monitorIds, parts, LIMITS),
    evidence: selection && evidence && (await toEvidence(context, projectId, selection, evidence)),
  }
}
