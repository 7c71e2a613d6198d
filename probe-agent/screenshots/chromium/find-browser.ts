import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { ConfigError } from '../../../shared/process/env.ts'

/** Where the browser is: an executable, or the npm package that unpacks one. */
export type BrowserLocation = { path: string } | { package: typeof PACKAGE }

const PACKAGE = '@sparticuz/chromium'
const USUAL_PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
/** Takes rights away from what it starts; part of every Linux with util-linux. */
export const SETPRIV = '/usr/bin/setpriv'

/**
 * The browser of this machine, null when there is none or none may run here: then the probe does not announce
 * `screenshot`. `given` is CHROMIUM_PATH: an executable, or `off`.
 */
export function findBrowser(given: string | null): BrowserLocation | null {
  if (given === 'off') return null
  if (given !== null && !existsSync(given)) throw new ConfigError(`CHROMIUM_PATH "${given}" is not there`)
  if (!existsSync(SETPRIV)) return null
  if (given !== null) return { path: given }
  const path = USUAL_PLACES.find(existsSync)
  if (path) return { path }
  try {
    createRequire(import.meta.url).resolve(PACKAGE)
    return { package: PACKAGE }
  } catch {
    return null
  }
}
