/** The runs of a job, from its pings. Pure. */
import type { Check } from '../../types.ts'

/** A log line that a job sent during a run. */
type RunLog = { at: string; text: string | null }

/** A run of a job: `running` has no end yet; `overdue` is one that did not report in time; `log` are lines after its end. */
export type JobRun = {
  id: string
  outcome: 'success' | 'fail' | 'overdue' | 'running' | 'log'
  /** of its end; of its start while it runs; of the newest line of a log */
  at: string
  /** null without a start */
  durationMs: number | null
  exitCode: number | null
  /** what the job sent at the end; null without one */
  log: string | null
  lines: RunLog[]
}

/** The runs in a page of checks, newest first. `checks`: of a heartbeat monitor, newest first. */
export function buildRuns(checks: readonly Check[]): JobRun[] {
  const runs: JobRun[] = []
  let started: Check | null = null
  let lines: RunLog[] = []
  for (const check of [...checks].reverse()) {
    const { heartbeat, response_time_ms: ms, scheduled_at: at } = check
    if (!heartbeat) continue
    if (heartbeat.kind === 'log') lines.push({ at, text: heartbeat.body })
    else if (heartbeat.kind === 'start') started = check
    else {
      const durationMs = ms === null || ms === 0 ? null : ms
      const { kind: outcome, exit_code: exitCode, body: log } = heartbeat
      runs.push({ id: check.id, outcome, at, durationMs, exitCode, log, lines })
      started = null
      lines = []
    }
  }
  const open = { durationMs: null, exitCode: null, log: null, lines }
  const newestLine = lines.at(-1)
  if (started) runs.push({ ...open, id: `${started.id}-running`, outcome: 'running', at: started.scheduled_at })
  // a job that reports no start may have ended
  else if (newestLine) runs.push({ ...open, id: `${newestLine.at}-log`, outcome: 'log', at: newestLine.at })
  return runs.reverse()
}
