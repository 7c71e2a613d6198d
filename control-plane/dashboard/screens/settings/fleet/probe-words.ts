/** What a probe reports, in words. Pure. */
import { formatCount, formatMs, formatNumber } from '../../../core/format.ts'
import type { OperationResponse } from '../../../core/operations.ts'

export type Probe = OperationResponse<'listProbes'>['data'][number]

/** `live`, or why the probe gets no work. */
export function describeProbe({ live, connected_since: connectedSince, draining, revoked }: Probe): string {
  if (revoked) return 'revoked'
  if (draining !== null) return `drained: ${draining}`
  if (live) return 'live'
  return connectedSince === null ? 'not connected' : 'connected, without work'
}

/** What is wrong with a probe. Empty for one that works well. */
export function listProbeProblems({
  connectivity_ok: isOnline,
  clock_offset_ms: offsetMs,
  loop_lag_ms: lagMs,
  spool,
  load,
}: Probe): string[] {
  return [
    ...(isOnline === false ? ['its connectivity test fails'] : []),
    ...(offsetMs !== null && Math.abs(offsetMs) >= 1_000
      ? [`its clock is ${formatMs(Math.abs(offsetMs))} ${offsetMs > 0 ? 'ahead' : 'behind'}`]
      : []),
    ...(lagMs !== null && lagMs >= 200 ? [`it is overloaded: ${formatMs(lagMs)} late`] : []),
    ...((load.waiting ?? 0) > 0 ? [`${load.waiting} checks wait for others`] : []),
    ...((spool.dropped ?? 0) > 0 ? [`${spool.dropped} results were lost`] : []),
  ]
}

/** `12 of 1,000`: the checks in flight. */
export const formatLoad = ({ running, limit }: Probe['load']): string =>
  running === null ? '' : limit === null ? String(running) : `${running} of ${formatNumber(limit)}`

const KB = 1_024

/** `3 results, 12 kB` that wait on the disk of the probe; `empty`, or nothing when it is not known. */
export function formatSpool({ results, bytes }: Probe['spool']): string {
  if (results === null) return ''
  if (results === 0) return 'empty'
  const size =
    bytes === null ? '' : bytes < KB * KB ? `, ${Math.ceil(bytes / KB)} kB` : `, ${Math.ceil(bytes / KB / KB)} MB`
  return `${formatCount(results, 'result')}${size}`
}
