import { parseOr } from '../foreign-file.ts'

const UNIT_MS: Record<string, number> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** Parses a duration of Go, such as `1h30m`, in milliseconds; null for other values. */
export function parseDurationMs(value: unknown): number | null {
  if (typeof value !== 'string') return null
  const parts = [...value.trim().matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)]
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== value.trim()) return null
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNIT_MS[unit!]!, 0)
}

/** Returns a duration in milliseconds, or the default, with a warning when the value is set but is not a duration. */
export const toDurationMs = (
  fallbackMs: number,
  [name, value]: [name: string, value: unknown],
  addWarning: (message: string) => void,
): number =>
  parseOr(parseDurationMs, fallbackMs, value, () =>
    addWarning(`its ${name} is not a duration such as 5m; ${fallbackMs / 1_000} s is used`),
  )
