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
const DEEPEST = 32

/** Functions through which a browser loads something or runs something. */
const LOADING = new Set([
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
const RUNNING = new Set(['behavior', '-ms-behavior', '-moz-binding'])

export type SafeCss = { css: string } | { problem: string }
type Found = { node: CssNode; says: string }

/**
 * A customer's CSS as it may stand in the page (decisions 7.3): parsed, every selector below the page's root, written
 * anew. It loads nothing, from nowhere: no `@import`, no `@font-face`, no `url()` in any spelling. What is
 * not understood is refused, not repaired, since a browser may repair it in another way.
 * `problem` completes "custom_css …" and says where: "may not use @import (line 3)".
 */
export function makeSafe(source: string): SafeCss {
  if (depthOf(source) > DEEPEST) return { problem: `nests more than ${DEEPEST} levels deep` }
  const sheet = parsed(source)
  if ('problem' in sheet) return sheet
  const refused = firstRefused(sheet)
  if (refused) return { problem: `${refused.says} (line ${refused.node.loc?.start.line ?? 1})` }
  dropComments(sheet)
  scopeSelectors(sheet)
  return { css: generate(sheet).replaceAll('</', '<\\/') }
}

function parsed(source: string): StyleSheet | { problem: string } {
  const errors: string[] = []
  const sheet = parse(source, {
    positions: true,
    parseCustomProperty: true,
    onParseError: ({ message, line, column }) =>
      errors.push(`is not valid CSS: ${message} (line ${line}, column ${column})`),
  })
  return errors[0] === undefined ? (sheet as StyleSheet) : { problem: errors[0] }
}

function firstRefused(sheet: StyleSheet): Found | null {
  const found: Found[] = []
  let rules = 0
  walk(sheet, {
    enter(node: CssNode) {
      if (node.type === 'Rule') rules++
      const says = refusalOf(node, rules > 1)
      if (says !== null) found.push({ node, says })
    },
    leave(node: CssNode) {
      if (node.type === 'Rule') rules--
    },
  })
  return found[0] ?? null
}

/** Why a node may not stand in a page; null where it may. `isNested`: in a rule inside a rule. */
function refusalOf(node: CssNode, isNested: boolean): string | null {
  switch (node.type) {
    case 'Atrule':
      return atRuleRefusal(node)
    case 'Url':
      return 'may not load anything: url() is refused'
    case 'Function':
      return LOADING.has(plain(node.name)) ? `may not load or run anything: ${plain(node.name)}() is refused` : null
    case 'Declaration':
      return declarationRefusal(plain(node.property), generate(node.value))
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

function atRuleRefusal({ name }: Atrule): string | null {
  return AT_RULES.includes(plain(name))
    ? null
    : `may not use @${plain(name)}, only @media, @supports, @container and @keyframes`
}

function declarationRefusal(property: string, value: string): string | null {
  if (RUNNING.has(property)) return `may not use ${property}`
  const isFixed = property === 'position' && plain(value).includes('fixed')
  return isFixed ? 'may not use position: fixed, which would cover the page; absolute and sticky are fine' : null
}

/** Every spelling of a name as one: escapes decoded, in small letters. */
const plain = (name: string) => ident.decode(name).toLowerCase()

function hasNesting(node: CssNode): boolean {
  let has = false
  walk(node, inner => {
    has ||= inner.type === 'NestingSelector'
  })
  return has
}

/** Brackets open at once, at the deepest place. */
function depthOf(source: string): number {
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
