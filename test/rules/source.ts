import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export type SourceFile = { path: string; text: string /** comments blanked out, lines kept */; code: string }
export type Import = {
  file: string
  line: number
  /** as written, or for a relative one the path from the top level */
  target: string
  isRelative: boolean
  isType: boolean
  names: string[]
}

/** Our own TypeScript below the given top-level folders, generated code left out. Paths are relative to the top level. */
export function sources(...folders: string[]): SourceFile[] {
  return folders
    .flatMap(folder => filesBelow(folder))
    .filter(path => /\.tsx?$/.test(path) && !/^(proto|deploy\/client)\/gen\//.test(path))
    .map(path => {
      const text = readFileSync(join(ROOT, path), 'utf8')
      return { path, text, code: blankComments(text) }
    })
}

export function filesBelow(folder: string): string[] {
  try {
    return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath ?? entry.path, entry.name).slice(ROOT.length))
      .sort()
  } catch {
    return []
  }
}

const IMPORT =
  /^[ \t]*(?:import|export)\s+(type\s+)?([^'"();]*?)\s*from\s*['"]([^'"]+)['"]|^[ \t]*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm

export function importsOf({ path, code }: SourceFile): Import[] {
  return [...code.matchAll(IMPORT)].map(match => {
    const specifier = match[3] ?? match[4] ?? match[5] ?? ''
    const isRelative = specifier.startsWith('.')
    const names = [...(match[2] ?? '').matchAll(/(type\s+)?([\w$*]+)(?:\s+as\s+\w+)?/g)]
    return {
      file: path,
      line: lineAt(code, match.index),
      target: isRelative ? normalize(join(dirname(path), specifier)) : specifier,
      isRelative,
      isType: match[1] !== undefined || (names.length > 0 && names.every(name => name[1] !== undefined)),
      names: names.filter(name => !name[1]).map(name => name[2] ?? ''),
    }
  })
}

/** Every match of `pattern` (global), as "file:line text". */
export function places(file: SourceFile, pattern: RegExp, text = file.code): string[] {
  return [...text.matchAll(pattern)].map(match => at(file.path, lineAt(text, match.index), match[0].trim()))
}

export const at = (file: string, line: number, what: string) => `${file}:${line} ${what}`

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}

function blankComments(text: string): string {
  return text
    .replace(/^([ \t]*)\/\*[\s\S]*?\*\//gm, comment => comment.replace(/[^\n]/g, ' '))
    .replace(/(^|\s)\/\/.*$/gm, comment => ' '.repeat(comment.length - comment.trimStart().length))
}
