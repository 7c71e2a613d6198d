import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getAsset } from 'node:sea'

/**
 * Takes the place of `createRequire` of `node:module` in the single executable, where no package lies on disk: koffi,
 * through which a probe pings, is carried along; the browser's npm package is not.
 */
export function createRequire(): { (name: string): unknown; resolve: (name: string) => string } {
  return Object.assign((name: string) => (name === 'koffi' ? loadKoffi() : notHere(name)), { resolve: notHere })
}

/** A library can be loaded from a file only. Throws where none may be written or run (then the system's ping does it). */
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
