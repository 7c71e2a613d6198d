import Bowser from 'bowser'

/** Bowser returns unknown names unchanged; only these words are its own. */
const KNOWN = new Set([...Object.values(Bowser.BROWSER_MAP), ...Object.values(Bowser.OS_MAP), 'iPhone', 'iPad'])
const known = (name?: string) => (name !== undefined && KNOWN.has(name) ? name : undefined)

/** A name for a browser: `Firefox on Linux`. Contains no text of the header. Returns null when browser and system are unknown. */
export function parseBrowserName(userAgent = ''): string | null {
  if (userAgent === '') return null
  const { browser, os, platform } = Bowser.parse(userAgent.slice(0, 500))
  const [name, system] = [known(browser.name), known(os.name === 'iOS' ? platform.model : os.name)]
  if (system === undefined) return name ?? null
  return `${name ?? 'A browser'} on ${system}`
}
