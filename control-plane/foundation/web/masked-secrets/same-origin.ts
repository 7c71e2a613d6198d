/**
 * True when `to` has the same scheme, host and port as `from`, or is the same host with https instead of http. Texts that
 * are not URLs must be equal; null is never the same origin.
 */
export function isSameOrigin(from: string | null, to: string): boolean {
  if (from === null) return false
  if (!URL.canParse(from) || !URL.canParse(to)) return from === to
  const [before, after] = [new URL(from), new URL(to)]
  const isUpgrade =
    before.protocol === 'http:' && after.protocol === 'https:' && before.port === '' && after.port === ''
  return before.host === after.host && (before.protocol === after.protocol || isUpgrade)
}
