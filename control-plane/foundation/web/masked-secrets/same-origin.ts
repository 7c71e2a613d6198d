/**
 * True when what goes to `to` reaches whom `from` reached: the same scheme, host and port, or the same host over TLS
 * from now on. Of what is no URL only the same text is the same; no address at all is like no other.
 */
export function isSameOrigin(from: string | null, to: string): boolean {
  if (from === null) return false
  if (!URL.canParse(from) || !URL.canParse(to)) return from === to
  const [before, after] = [new URL(from), new URL(to)]
  const isUpgrade =
    before.protocol === 'http:' && after.protocol === 'https:' && before.port === '' && after.port === ''
  return before.host === after.host && (before.protocol === after.protocol || isUpgrade)
}
