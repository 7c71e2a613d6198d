import Bowser from 'bowser'

/** It repeats what it does not know; only these words are its own. */
const KNOWN = new Set([...Object.values(Bowser.BROWSER_MAP), ...Object.values(Bowser.OS_MAP), 'iPhone', 'iPad'])
const known = (name?: string) => (name !== undefined && KNOWN.has(name) ? name : undefined)

/** By what somebody knows one of their browsers: `Firefox on Linux`. Never words of the header's; null: neither is known. */
export function parseBrowserName(userAgent = ''): string | null {
  if (userAgent === '') return null
  const { browser, os, platform } = Bowser.parse(userAgent.slice(0, 500))
  const [name, system] = [known(browser.name), known(os.name === 'iOS' ? platform.model : os.name)]
  if (system === undefined) return name ?? null
  return `${name ?? 'A browser'} on ${system}`
}
