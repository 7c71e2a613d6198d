const UNITS = [
  { name: 'day', seconds: 86_400 },
  { name: 'hour', seconds: 3_600 },
  { name: 'minute', seconds: 60 },
  { name: 'second', seconds: 1 },
]

/** Formats a duration in its two largest units: "4 minutes 12 seconds", "3 days 1 hour", "0 seconds". */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  const first = UNITS.findIndex(unit => seconds >= unit.seconds)
  if (first === -1) return '0 seconds'
  let rest = seconds
  const parts: string[] = []
  for (const unit of UNITS.slice(first, first + 2)) {
    const count = Math.floor(rest / unit.seconds)
    rest -= count * unit.seconds
    if (count > 0) parts.push(`${count} ${unit.name}${count === 1 ? '' : 's'}`)
  }
  return parts.join(' ')
}
