import { type Db, execute } from '../../../foundation/platform/postgres/client.ts'

/** The kinds of reports that only probes of a monitor's regions may send. */
export const FOREIGN_REPORT_KINDS = ['result', 'comparison', 'screenshot'] as const
export type ForeignReportKind = (typeof FOREIGN_REPORT_KINDS)[number]

/** `probeId`, `monitorId`: as the newest message names them; null when it names none. */
export type ForeignReport = {
  region: string
  what: ForeignReportKind
  amount: number
  probeId: string | null
  monitorId: string | null
}

/** Adds to the count that the operator is shown. After a day without a report a new count begins. */
export async function recordForeignReport(db: Db, report: ForeignReport): Promise<void> {
  await execute(
    db,
    `INSERT INTO foreign_reports AS f (region, what, amount, probe_id, monitor_id, first_at, last_at)
     VALUES (:region, :what, :amount, :probeId, :monitorId, clock_timestamp(), clock_timestamp())
     ON CONFLICT (region, what) DO UPDATE SET
       amount = CASE WHEN f.last_at > clock_timestamp() - interval '1 day' THEN f.amount ELSE 0 END + EXCLUDED.amount,
       first_at = CASE WHEN f.last_at > clock_timestamp() - interval '1 day' THEN f.first_at ELSE EXCLUDED.first_at END,
       probe_id = EXCLUDED.probe_id, monitor_id = EXCLUDED.monitor_id, last_at = EXCLUDED.last_at`,
    report,
  )
}
