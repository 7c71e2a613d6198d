import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getAsset } from 'node:sea'

/**
 * Replaces `createRequire` of `node:module` in the single executable, which has no packages on disk: koffi, which probes use
 * for ICMP sockets, is embedded; the npm package of the browser is not.
 */
export function createRequire(): { (name: string): unknown; resolve: (name: string) => string } {
  return Object.assign((name: string) => (name === 'koffi' ? loadKoffi() : notHere(name)), { resolve: notHere })
}

/** Writes the library to a file and loads it. Throws when that is not permitted; then the system's ping is used. */
function loadKoffi(): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'picket-probe-'))
  try {
    const file = join(folder, 'koffi.node')
    writeFileSync(file, new Uint8Array(getAsset('koffi.node')))
    const module = { exports: {} }
    process.dlopen(module, file)
    return module.exports
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function notHere(name: string): never {
  throw new Error(`${name} is not in the single executable`)
}
