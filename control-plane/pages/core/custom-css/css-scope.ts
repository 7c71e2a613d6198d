import type { CssNode, Rule, Selector, StyleSheet } from 'css-tree'
import { List } from 'css-tree/utils'
import walk from 'css-tree/walker'

/** The class of the element that contains the whole page. */
const ROOT = 'page'
const ROOT_TAGS = ['html', 'body']

/** Places the selectors of all outermost rules below the page's root; `html`, `body` and `:root` become that root. */
export function scopeSelectors(sheet: StyleSheet): void {
  let depth = 0
  walk(sheet, {
    enter(this: { atrule: { name: string } | null }, node: CssNode) {
      if (node.type !== 'Rule') return
      const isKeyframe = this.atrule !== null && /keyframes$/i.test(this.atrule.name)
      if (depth++ === 0 && !isKeyframe) scopeRule(node)
    },
    leave(node: CssNode) {
      if (node.type === 'Rule') depth--
    },
  })
}

function scopeRule({ prelude }: Rule): void {
  if (prelude.type !== 'SelectorList') return
  prelude.children.forEach(selector => {
    if (selector.type === 'Selector') scopeSelector(selector)
  })
}

/**
 * `html > body.dark .x` becomes `.page.dark .x`, `.x` becomes `.page .x`. A sibling of the root matches nothing in the
 * page.
 */
function scopeSelector(selector: Selector): void {
  const compounds = splitCompounds(selector)
  const first = compounds.findIndex(compound => !compound.some(isRoot))
  const roots = first < 0 ? compounds : compounds.slice(0, first)
  const rest = first < 0 ? [] : compounds.slice(first).flat()
  const isSibling = rest[0]?.type === 'Combinator' && ['+', '~'].includes(rest[0].name)
  const kept = isSibling ? compounds.flat() : rest
  const conditions = isSibling ? [] : roots.flat().filter(node => !isRoot(node) && node.type !== 'Combinator')
  const root: CssNode[] = [{ type: 'ClassSelector', name: ROOT }, ...conditions]
  if (kept[0] && kept[0].type !== 'Combinator') root.push({ type: 'Combinator', name: ' ' })
  selector.children = new List<CssNode>().fromArray([...root, ...kept])
}

/** A selector cut before each combinator: `a > b.c` as `a`, `> b.c`. */
function splitCompounds(selector: Selector): CssNode[][] {
  const compounds: CssNode[][] = [[]]
  selector.children.forEach(node => {
    if (node.type === 'Combinator') compounds.push([])
    compounds.at(-1)?.push(node)
  })
  return compounds
}

const isRoot = (node: CssNode) =>
  (node.type === 'TypeSelector' && ROOT_TAGS.includes(node.name.toLowerCase())) ||
  (node.type === 'PseudoClassSelector' && node.name.toLowerCase() === 'root') ||
  (node.type === 'ClassSelector' && node.name === ROOT)
