import {
  type Atrule,
  type CssNode,
  generate,
  ident,
  parse,
  type StyleSheet,
  tokenize,
  tokenTypes,
  walk,
} from 'css-tree'
import { scopeSelectors } from './css-scope.ts'

const AT_RULES = ['media', 'supports', 'container', 'keyframes', '-webkit-keyframes']
const MAX_NESTING = 32

/** Functions through which a browser loads something or runs something. */
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

export type SanitizedCss = { css: string } | { problem: string }
type RejectedNode = { node: CssNode; says: string }

/**
 * A customer's CSS as it may stand in the page (decisions 7.3): parsed, every selector below the page's root, written
 * anew. It loads nothing, from nowhere: no `@import`, no `@font-face`, no `url()` in any spelling. What is
 * not understood is refused, not repaired, since a browser may repair it in another way.
 * `problem` completes "custom_css …" and says where: "may not use @import (line 3)".
 */
export function sanitizeCss(source: string): SanitizedCss {
  if (measureNesting(source) > MAX_NESTING) return { problem: `nests more than ${MAX_NESTING} levels deep` }
  const sheet = parseSheet(source)
  if ('problem' in sheet) return sheet
  const refused = findFirstRejected(sheet)
  if (refused) return { problem: `${refused.says} (line ${refused.node.loc?.start.line ?? 1})` }
  dropComments(sheet)
  scopeSelectors(sheet)
  return { css: generate(sheet).replaceAll('</', '<\\/') }
}

function parseSheet(source: string): StyleSheet | { problem: string } {
  const errors: string[] = []
  const sheet = parse(source, {
    positions: true,
    parseCustomProperty: true,
    onParseError: ({ message, line, column }) =>
      errors.push(`is not valid CSS: ${message} (line ${line}, column ${column})`),
  })
  return errors[0] === undefined ? (sheet as StyleSheet) : { problem: errors[0] }
}

function findFirstRejected(sheet: StyleSheet): RejectedNode | null {
  const found: RejectedNode[] = []
  let rules = 0
  walk(sheet, {
    enter(node: CssNode) {
      if (node.type === 'Rule') rules++
      const says = findProblem(node, rules > 1)
      if (says !== null) found.push({ node, says })
    },
    leave(node: CssNode) {
      if (node.type === 'Rule') rules--
    },
  })
  return found[0] ?? null
}

/** Why a node may not stand in a page; null where it may. `isNested`: in a rule inside a rule. */
function findProblem(node: CssNode, isNested: boolean): string | null {
  switch (node.type) {
    case 'Atrule':
      return findAtRuleProblem(node)
    case 'Url':
      return 'may not load anything: url() is refused'
    case 'Function':
      return LOADING_FUNCTIONS.has(normalizeName(node.name))
        ? `may not load or run anything: ${normalizeName(node.name)}() is refused`
        : null
    case 'Declaration':
      return findDeclarationProblem(normalizeName(node.property), generate(node.value))
    case 'PseudoClassSelector':
      return hasNesting(node) ? 'may not use & inside a pseudo-class' : null
    case 'NestingSelector':
      return isNested ? null : 'may use & only inside a rule'
    case 'Raw':
      return node.value.trim() === '' ? null : `holds what is not understood: ${node.value.trim().slice(0, 40)}`
    default:
      return null
  }
}

function findAtRuleProblem({ name }: Atrule): string | null {
  return AT_RULES.includes(normalizeName(name))
    ? null
    : `may not use @${normalizeName(name)}, only @media, @supports, @container and @keyframes`
}

function findDeclarationProblem(property: string, value: string): string | null {
  if (RUNNING_PROPERTIES.has(property)) return `may not use ${property}`
  const isFixed = property === 'position' && normalizeName(value).includes('fixed')
  return isFixed ? 'may not use position: fixed, which would cover the page; absolute and sticky are fine' : null
}

/** Every spelling of a name as one: escapes decoded, in small letters. */
const normalizeName = (name: string) => ident.decode(name).toLowerCase()

function hasNesting(node: CssNode): boolean {
  let has = false
  walk(node, inner => {
    has ||= inner.type === 'NestingSelector'
  })
  return has
}

/** Brackets open at once, at the deepest place. */
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
