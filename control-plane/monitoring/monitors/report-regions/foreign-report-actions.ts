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

/** Counts reports of probes for another region's monitor, and records them for the operator. */
export type ForeignReportRecorder = (report: ForeignReport) => Promise<void>

/** The two recorders of a process use the same counter. */
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
    log.warn(
      report,
      'refused a report of a probe for a region or monitor that it does not check; it may be compromised',
    )
    const [probeId, monitorId] = [report.probeId, report.monitorId].map(id => (isId(id ?? '') ? id : null))
    // the report is refused even when it cannot be recorded
    await recordForeignReport(db, { ...report, probeId: probeId ?? null, monitorId: monitorId ?? null }).catch(error =>
      log.warn({ err: error, region }, 'a refused report could not be recorded'),
    )
  }
}

function createCounter(metrics: Metrics) {
  const counter = metrics.counter(
    'picket_foreign_reports_total',
    'Refused reports of probes for a region or monitor that they do not check',
    ['region', 'what'],
  )
  const kinds: readonly ForeignReportKind[] = FOREIGN_REPORT_KINDS
  // an alert rule detects an increase only when the series exists before it
  for (const region of REGIONS) for (const what of kinds) counter.inc({ region, what }, 0)
  return counter
}
