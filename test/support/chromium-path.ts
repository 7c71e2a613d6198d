import { findBrowser } from '../../probe-agent/screenshots/chromium/find-browser.ts'

/** The browser of this machine, which probes use too. `npm test` installs it. */
export function chromiumPath(): string {
  const found = findBrowser(null)
  if (found && 'path' in found) return found.path
  throw new Error('chromium is missing: run "sudo apt-get install chromium-headless-shell" once')
}
