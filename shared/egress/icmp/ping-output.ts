import type { PingStats } from '../../checks/result.ts'

const COUNTS = /(\d+) packets transmitted, (\d+) received/
const TIMES = /= ([\d.]+)\/([\d.]+)\/([\d.]+)\/[\d.]+ ms/

/** Parses the summary of the system's `ping` (iputils); null when it is missing. */
export function parsePingOutput(output: string): PingStats | null {
  const counts = COUNTS.exec(output)
  if (!counts) return null
  const [, sent, received] = counts.map(Number)
  const [, min = 0, avg = 0, max = 0] = (TIMES.exec(output) ?? []).map(ms => Math.round(Number(ms) * 1000))
  return { sent: sent!, received: received!, rttMinUs: min, rttAvgUs: avg, rttMaxUs: max }
}
