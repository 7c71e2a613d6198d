import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'

/** `/…/.tap/tests-x1/test/api/keys.test.js:12:3`, as stacks name places in bundles; the folder may be left out. */
const PLACE = /(?:file:\/\/)?((?:\/[^\s:()]*)?\.tap\/tests-[^\s:()]+\.js):(\d+):(\d+)/g

/**
 * Says of each place in a bundle where in the sources it is. The processes of tests do not know their source maps: to read
 * them costs each a quarter of its time, and only a test that fails asks for places.
 */
export function createSourceMapper(root: string): (line: string) => string {
  const maps = new Map<string, SourceMap | null>()
  const mapOf = (bundle: string) => {
    const known = maps.get(bundle)
    if (known !== undefined) return known
    const map = readMap(bundle)
    maps.set(bundle, map)
    return map
  }
  return line =>
    line.replace(PLACE, (written, path: string, lineNumber: string, column: string) => {
      const bundle = path.startsWith('/') ? path : `${root}/${path}`
      const entry = mapOf(bundle)?.findEntry(Number(lineNumber) - 1, Number(column) - 1)
      if (!entry || !('originalSource' in entry)) return written
      const source = new URL(entry.originalSource, `file://${bundle}`).pathname
      const shown = source.startsWith(`${root}/`) ? source.slice(root.length + 1) : source
      return `${shown}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
    })
}

function readMap(bundle: string): SourceMap | null {
  if (!existsSync(`${bundle}.map`)) return null
  return new SourceMap(JSON.parse(readFileSync(`${bundle}.map`, 'utf8')))
}
