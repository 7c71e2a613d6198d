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

export function parseImports({ path, code }: SourceFile): Import[] {
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

/** A function that has a body of several lines. `lines`: from the first line of its head to its last line. */
type FunctionSpan = { name: string; line: number; lines: number }

const CONTROL = /^\s*(?:\} )?(?:if|else|for|while|switch|catch|try|finally|do)\b/
/** The end of a head: of an arrow, a declaration, a method, or parameters or a result type on several lines. */
const HEAD_ENDS = [
  /=>(?:.*[({[])?$/,
  /\bfunction\b.*\)(?:: .+)? \{$/,
  /^\s*[\w$*# ]+(?:<.*>)?\(.*\)(?:: .+)? \{$/,
  /^\s*(?:\)|[}\]].*\))(?:: .+)? \{$/,
  /^\s*[}\]]>+ \{$/,
]

/** The functions of a formatted file, outer ones first. One ends at the line that closes it at the indentation of its head. */
export function functionsIn({ code }: Pick<SourceFile, 'code'>): FunctionSpan[] {
  const lines = code.split('\n')
  return lines.flatMap((text, index) => {
    if (!HEAD_ENDS.some(pattern => pattern.test(text)) || CONTROL.test(text) || opensTemplate(text)) return []
    const start = findHeadStart(lines, index)
    const head = lines[start]!
    if (CONTROL.test(head)) return []
    return { name: nameIn(head), line: start + 1, lines: findEnd(lines, index) - start + 1 }
  })
}

const opensTemplate = (line: string) => line.split('`').length % 2 === 0
const startsWithCloser = (line: string) => /^\s*[)}\]]/.test(line)
/** A branch of a conditional expression closes below its first word. */
const countIndent = (line: string) => /^\s*(?:[?:] )?/.exec(line)![0].length

function findHeadStart(lines: string[], end: number): number {
  const indent = countIndent(lines[end]!)
  let start = end
  while (start > 0 && startsWithCloser(lines[start]!)) {
    do start--
    while (start > 0 && (lines[start]!.trim() === '' || countIndent(lines[start]!) > indent))
  }
  return start
}

function findEnd(lines: string[], headEnd: number): number {
  const indent = countIndent(lines[headEnd]!)
  // an expression on the lines below has no closing line
  const isOpen = lines[headEnd]!.endsWith('=>')
  let end = headEnd + 1
  while (end < lines.length) {
    const line = lines[end]!
    if (
      isOpen
        ? line.trim() !== '' && countIndent(line) <= indent
        : countIndent(line) === indent && startsWithCloser(line)
    )
      break
    end++
  }
  if (isOpen || end === lines.length)
    do end--
    while (lines[end]!.trim() === '')
  return end
}

function nameIn(head: string): string {
  const names = [/\bfunction\*? (\w+)/, /\b(?:const|let) (\w+)/, /^\s*(?:async )?(\w+)[(<:]/]
  return names.map(pattern => pattern.exec(head)?.[1]).find(name => name !== undefined) ?? 'a function'
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
    .replace(/(^|[ \t])\/\/.*$/gm, comment => ' '.repeat(comment.length - comment.trimStart().length))
}
