/**
 * Whether a name is in the IANA time zone database. Offsets such as +02:00 are refused: they have no daylight saving
 * time.
 */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
