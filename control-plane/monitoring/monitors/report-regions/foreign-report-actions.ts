import { REGIONS } from '../../../../shared/checks/check.ts'
import type { Log } from '../../../../shared/process/log.ts'
import type { Metrics } from '../../../../shared/process/metrics.ts'
import { isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import {
  FOREIGN_REPORT_KINDS,
  type ForeignReport,
  type ForeignReportKind,
  recordForeignReport,
} from './foreign-report-store.ts'

/** Counts what probes sent that is not theirs to send, and tells the operator of it. */
export type ForeignReportRecorder = (report: ForeignReport) => Promise<void>

/** The two recorders of a process share one counter. */
const counters = new WeakMap<Metrics, ReturnType<typeof createCounter>>()

export function createForeignReportRecorder({
  db,
  log,
  metrics,
}: {
  db: Db
  log: Log
  metrics: Metrics
}): ForeignReportRecorder {
  const counter = counters.get(metrics) ?? createCounter(metrics)
  counters.set(metrics, counter)
  return async report => {
    const { region, what, amount } = report
    counter.inc({ region, what }, amount)
    log.warn(report, 'a probe reports for a region or a monitor that is not its own; it may be compromised')
    const [probeId, monitorId] = [report.probeId, report.monitorId].map(id => (isId(id ?? '') ? id : null))
    // that it was refused does not depend on whether this is written down
    await recordForeignReport(db, { ...report, probeId: probeId ?? null, monitorId: monitorId ?? null }).catch(error =>
      log.warn({ err: error, region }, 'a foreign report could not be written down'),
    )
  }
}

function createCounter(metrics: Metrics) {
  const counter = metrics.counter(
    'picket_foreign_reports_total',
    'Refused: a probe reported for a region or a monitor that is not its own',
    ['region', 'what'],
  )
  const kinds: readonly ForeignReportKind[] = FOREIGN_REPORT_KINDS
  // an alert rule sees growth only of a series that is there before
  for (const region of REGIONS) for (const what of kinds) counter.inc({ region, what }, 0)
  return counter
}
