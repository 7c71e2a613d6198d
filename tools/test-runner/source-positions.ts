import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'

/** A position in a bundle, as in stacks: `/…/.tap/tests-x1/test/api/keys.test.js:12:3`; the folder is optional. */
const POSITION = /(?:file:\/\/)?((?:\/[^\s:()]*)?\.tap\/tests-[^\s:()]+\.js):(\d+):(\d+)/g

/**
 * Replaces positions in bundles by positions in the sources. Test processes do not load their source maps, because that
 * takes a quarter of their time and only failing tests need them.
 */
export function createSourceMapper(root: string): (line: string) => string {
  const maps = new Map<string, SourceMap | null>()
  const getSourceMap = (bundle: string) => {
    const known = maps.get(bundle)
    if (known !== undefined) return known
    const map = readMap(bundle)
    maps.set(bundle, map)
    return map
  }
  return line =>
    line.replace(POSITION, (written, path: string, lineNumber: string, column: string) => {
      const bundle = path.startsWith('/') ? path : `${root}/${path}`
      const entry = getSourceMap(bundle)?.findEntry(Number(lineNumber) - 1, Number(column) - 1)
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
