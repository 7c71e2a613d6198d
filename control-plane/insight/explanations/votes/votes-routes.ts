import type { Clickhouse } from '../../../foundation/platform/clickhouse.ts'
import { isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import { createGoneSignal } from '../../../foundation/web/connections.ts'
import { readRoute } from '../../../foundation/web/resource-routes.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { found } from '../../../foundation/web/server/errors.ts'
import { findMonitor } from '../../../monitoring/monitors/store.ts'
import { DATA_SOURCE_REGION, type StoredMonitor } from '../../../monitoring/monitors/types.ts'
import { createKnownAbsences, updateAbsences } from '../../../verdict/reader/live-sets/absences.ts'
import { loadRegionEpochs } from '../../../verdict/reader/live-sets/live-sets-store.ts'
import { loadMonitors } from '../../../verdict/reader/partitions/partition-store.ts'
import { findMonitorUnreadSince } from '../../../verdict/reader/partitions/unread-store.ts'
import { readHistory } from '../history-reader.ts'
import { listWithheldAlerts } from '../withheld-store.ts'
import { readMarkedMonitor } from './checkpoint-reader.ts'
import { buildCurrentVerdict, buildSourceVerdict, type CurrentVerdict, hasSingleSource } from './current-state.ts'
import { groupNewestChecks } from './newest-checks.ts'
import { listNewestChecks, listResultRuns } from './newest-checks-store.ts'
import { listSilencing } from './silencing.ts'
import { buildVotes, type NewestChecks } from './votes.ts'
import { MonitorVotes } from './votes-schema.ts'
import {
  findLastTransitionId,
  findStoredSilence,
  listCurrentMaintenance,
  listCurrentSilences,
  listDownAncestors,
} from './votes-store.ts'

/** A monitor has at most three withheld steps (docs/design/suppression.md#flapping), of one event each. */
const MAX_WITHHELD = 3

type VotesContext = { db: Db; clickhouse: Clickhouse }

/** The votes of a monitor now (docs/design/verdict.md#votes-now). */
export function voteRoutes(app: App, context: VotesContext): void {
  readRoute(app, '/monitors/:id/votes', {
    summary: 'Get what each region says about a monitor now',
    description:
      'The votes, what a verdict needs, the newest checks, and what holds back alerts. The parts have the names of `explanation` in the list of transitions.',
    tags: ['Monitors'],
    record: MonitorVotes,
    read: async (request, reply) => {
      const { projectId } = getCaller(request)
      const { id } = request.params
      const monitor = found(isId(id) && (await findMonitor(context.db, projectId, id)), 'monitor')
      return readVotes(context, monitor, now(), createGoneSignal(reply))
    },
  })
}

async function readVotes({ db, clickhouse }: VotesContext, monitor: StoredMonitor, at: Date, gone: AbortSignal) {
  const { id, projectId } = monitor
  const [verdict, checks, transitionId, maintenance, silences, ancestors, silence, withheld, unreadSince] =
    await Promise.all([
      readVerdict(db, monitor, at),
      readNewestChecks(clickhouse, monitor, gone),
      findLastTransitionId(db, projectId, id),
      listCurrentMaintenance(db, projectId, id, at),
      listCurrentSilences(db, projectId, id, at),
      listDownAncestors(db, projectId, id),
      findStoredSilence(db, id),
      listWithheldAlerts(db, { projectId, monitorIds: [id], incidentId: null, now: at }, MAX_WITHHELD),
      findMonitorUnreadSince(db, id),
    ])
  const { unchecked } = verdict.state
  const isUnchecked = monitor.status === null && unchecked !== null && unchecked !== undefined
  return {
    monitor_id: id,
    status: monitor.status,
    since: monitor.statusChangedAt,
    unread_since: unreadSince,
    unchecked_since: isUnchecked ? new Date(unchecked.sinceMs) : null,
    at,
    as_of: verdict.asOf,
    ...buildVotes(monitor, verdict, checks, at.getTime()),
    silenced_by: listSilencing(monitor.isPaused, maintenance, silences, ancestors, silence),
    alerts_withheld: silence !== null,
    withheld_alerts: withheld.map(({ event_id, event, at, reason, until }) => ({ event_id, event, at, reason, until })),
    last_transition_id: transitionId,
    checks_available: checks !== null,
  }
}

async function readVerdict(db: Db, monitor: StoredMonitor, at: Date): Promise<CurrentVerdict & { asOf: Date | null }> {
  const { id, partition } = monitor
  if (hasSingleSource(monitor)) {
    const [stored] = await loadMonitors(db, partition, [id])
    return { ...buildSourceVerdict(monitor, stored?.state ?? null), asOf: at }
  }
  const [{ marked, asOf }, rows] = await Promise.all([readMarkedMonitor(db, partition, id), loadRegionEpochs(db)])
  // after the checkpoint, so that the stored state is not older than it
  const [stored] = await loadMonitors(db, partition, [id])
  const clock = { logMs: at.getTime(), monotonicMs: at.getTime() }
  const { absences } = updateAbsences(createKnownAbsences(), rows, clock)
  return { ...buildCurrentVerdict(found(stored, 'monitor'), marked, absences, at.getTime()), asOf }
}

/** By region; null while the history cannot be read. Heartbeats have no checks. */
async function readNewestChecks(
  clickhouse: Clickhouse,
  { id, projectId, type, regions, dataSource }: StoredMonitor,
  gone: AbortSignal,
): Promise<NewestChecks | null> {
  if (type === 'heartbeat') return new Map()
  const asked = dataSource === null ? regions : [DATA_SOURCE_REGION]
  return readHistory(clickhouse, { projectId, gone }, async reads => {
    const [checks, runs] = await Promise.all([listNewestChecks(reads, id, asked), listResultRuns(reads, id, asked)])
    return groupNewestChecks(checks, runs)
  })
}
