import type { Atrule, CssNode, Raw, StyleSheet, Value } from 'css-tree'
import generate from 'css-tree/generator'
import parse from 'css-tree/parser'
import { tokenize, tokenTypes } from 'css-tree/tokenizer'
import { ident } from 'css-tree/utils'
import walk from 'css-tree/walker'
import { scopeSelectors } from './css-scope.ts'

const AT_RULES = ['media', 'supports', 'container', 'keyframes', '-webkit-keyframes']
const MAX_NESTING = 32

/** Functions with which a browser loads or runs something. */
const LOADING_FUNCTIONS = new Set([
  'url',
  'src',
  'image',
  'image-set',
  '-webkit-image-set',
  'cross-fade',
  '-webkit-cross-fade',
  'element',
  '-moz-element',
  'paint',
  'expression',
])
const RUNNING_PROPERTIES = new Set(['behavior', '-ms-behavior', '-moz-binding'])

/** `line`, `column`: from 1. `message` completes "custom_css …". */
type CssProblem = { line: number; column: number; message: string }
/** `problem`: the first of them, with its line. */
export type SanitizedCss = { css: string } | { problem: string; problems: CssProblem[] }

const MAX_PROBLEMS = 20

/**
 * Makes a customer's CSS safe for the page (docs/design/status-pages.md#custom-css): it is parsed, every selector is
 * placed below the page's root, and it is written again. It loads nothing: no `@import`, no `@font-face`, no `url()` in
 * any spelling. Invalid CSS is refused, not repaired, because a browser may repair it differently. `problem` completes
 * "custom_css …" and contains the line: "must not use @import (line 3)". At most 20 problems are returned, by line.
 */
export function sanitizeCss(source: string): SanitizedCss {
  if (measureNesting(source) > MAX_NESTING) {
    const message = `must not nest more than ${MAX_NESTING} levels deep`
    return { problem: message, problems: [{ line: 1, column: 1, message }] }
  }
  const { sheet, errors } = parseSheet(source)
  const rejected = listRejected(sheet)
  const [error, node] = [errors[0], rejected[0]]
  if (error) {
    const problem = `${error.message} (line ${error.line}, column ${error.column})`
    return { problem, problems: sortProblems(errors, rejected) }
  }
  if (node) return { problem: `${node.message} (line ${node.line})`, problems: sortProblems([], rejected) }
  dropComments(sheet)
  scopeSelectors(sheet)
  return { css: generate(sheet).replaceAll('</', '<\\/') }
}

function parseSheet(source: string): { sheet: StyleSheet; errors: CssProblem[] } {
  const errors: CssProblem[] = []
  const sheet = parse(source, {
    positions: true,
    parseCustomProperty: true,
    onParseError: ({ message, line, column }) => errors.push({ line, column, message: `is not valid CSS: ${message}` }),
  })
  return { sheet: sheet as StyleSheet, errors }
}

function listRejected(sheet: StyleSheet): CssProblem[] {
  const found: CssProblem[] = []
  let rules = 0
  walk(sheet, {
    enter(node: CssNode) {
      if (node.type === 'Rule') rules++
      const message = findProblem(node, rules > 1)
      const { line = 1, column = 1 } = node.loc?.start ?? {}
      if (message !== null) found.push({ line, column, message })
    },
    leave(node: CssNode) {
      if (node.type === 'Rule') rules--
    },
  })
  return found
}

/** The first problem of each line. What does not parse is also a rejected node. */
function sortProblems(errors: readonly CssProblem[], rejected: readonly CssProblem[]): CssProblem[] {
  const byLine = new Map<number, CssProblem>()
  for (const problem of [...errors, ...rejected]) if (!byLine.has(problem.line)) byLine.set(problem.line, problem)
  return [...byLine.values()].sort((a, b) => a.line - b.line).slice(0, MAX_PROBLEMS)
}

/** Why a node is not allowed; null when it is. `isNested`: in a rule inside a rule. */
function findProblem(node: CssNode, isNested: boolean): string | null {
  switch (node.type) {
    case 'Atrule':
      return findAtRuleProblem(node)
    case 'Url':
      return 'must not load anything: url() is not allowed'
    case 'Function':
      return LOADING_FUNCTIONS.has(normalizeName(node.name))
        ? `must not load or run anything: ${normalizeName(node.name)}() is not allowed`
        : null
    case 'Declaration':
      return findDeclarationProblem(normalizeName(node.property), node.value)
    case 'PseudoClassSelector':
      return hasNesting(node) ? 'must not use & inside a pseudo-class' : null
    case 'NestingSelector':
      return isNested ? null : 'must use & only inside a rule'
    case 'Raw':
      return node.value.trim() === '' ? null : `contains invalid CSS: ${node.value.trim().slice(0, 40)}`
    default:
      return null
  }
}

function findAtRuleProblem({ name }: Atrule): string | null {
  return AT_RULES.includes(normalizeName(name))
    ? null
    : `must not use @${normalizeName(name)}; allowed are @media, @supports, @container and @keyframes`
}

function findDeclarationProblem(property: string, value: Value | Raw): string | null {
  if (RUNNING_PROPERTIES.has(property)) return `must not use ${property}`
  if (property !== 'position') return null
  if (normalizeName(generate(value)).includes('fixed')) {
    return 'must not use position: fixed, because it can cover the page; absolute and sticky are allowed'
  }
  const name = findFunction(value)
  return name && `must not use ${name}() in position, because it can become fixed; write the position itself`
}

/** The first function in a value. */
function findFunction(value: Value | Raw): string | null {
  let name: string | null = null
  walk(value, node => {
    if (node.type === 'Function') name ??= normalizeName(node.name)
  })
  return name
}

/** One form for every spelling of a name: escapes decoded, lower case. */
const normalizeName = (name: string) => ident.decode(name).toLowerCase()

function hasNesting(node: CssNode): boolean {
  let has = false
  walk(node, inner => {
    has ||= inner.type === 'NestingSelector'
  })
  return has
}

/** The largest number of brackets that are open together. */
function measureNesting(source: string): number {
  let [depth, deepest] = [0, 0]
  tokenize(source, type => {
    if (OPENING.includes(type)) deepest = Math.max(deepest, ++depth)
    if (CLOSING.includes(type)) depth = Math.max(0, depth - 1)
  })
  return deepest
}

const OPENING = [
  tokenTypes.Function,
  tokenTypes.LeftParenthesis,
  tokenTypes.LeftSquareBracket,
  tokenTypes.LeftCurlyBracket,
]
const CLOSING = [tokenTypes.RightParenthesis, tokenTypes.RightSquareBracket, tokenTypes.RightCurlyBracket]

function dropComments(sheet: StyleSheet): void {
  walk(sheet, (node, item, list) => {
    if (['Comment', 'CDO', 'CDC'].includes(node.type)) list?.remove(item)
  })
}
