const HOUR_MS = 3_600_000

/** Formats how long ago a time was, in hours and days: sessions record their last use once an hour. */
export function formatTimeAgo(at: Date, now: Date): string {
  const hours = Math.floor((now.getTime() - at.getTime()) / HOUR_MS)
  if (hours < 1) return 'less than an hour ago'
  if (hours < 24) return hours === 1 ? 'an hour ago' : `${hours} hours ago`
  const days = Math.floor(hours / 24)
  return days === 1 ? 'a day ago' : `${days} days ago`
}
