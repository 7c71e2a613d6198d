import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { ConfigError } from '../../../shared/process/env.ts'

/** The location of the browser: an executable, or the npm package that unpacks one. */
export type BrowserLocation = { path: string } | { package: typeof PACKAGE }

const PACKAGE = '@sparticuz/chromium'
/** Debian's packages and their like; first the one without windows, which takes less processor time. */
const DEFAULT_PATHS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]
/** Starts a program with reduced privileges; part of util-linux. */
export const SETPRIV = '/usr/bin/setpriv'

/**
 * The browser of this machine, or null when there is none or setpriv is missing: then the probe does not announce
 * `screenshot`. `given`: CHROMIUM_PATH, an executable or `off`.
 */
export function findBrowser(given: string | null): BrowserLocation | null {
  if (given === 'off') return null
  if (given !== null && !existsSync(given))
    throw new ConfigError(`CHROMIUM_PATH "${given}" does not exist; set it to an executable, or to off`)
  if (!existsSync(SETPRIV)) return null
  if (given !== null) return { path: given }
  const path = DEFAULT_PATHS.find(existsSync)
  if (path) return { path }
  try {
    createRequire(import.meta.url).resolve(PACKAGE)
    return { package: PACKAGE }
  } catch {
    return null
  }
}
