import { openEmptyPage, shareBrowser } from './browser.ts'
import type { Teardown } from './teardown.ts'

/** A document as a browser parses it. */
type ParsedHtml = {
  /** `a[href][class]`: each kind of element with the names of its attributes */
  elements: string[]
  /** the addresses in its attributes, as written */
  links: string[]
  /** texts of its scripts and styles */
  code: string[]
  /** the visible text */
  text: string
  /** texts with direction marks that are not isolated from the text next to them */
  turned: string[]
}

export type HtmlParser = { parse(html: string): Promise<ParsedHtml> }

const LINKS = [
  'href',
  'src',
  'srcset',
  'srcdoc',
  'action',
  'formaction',
  'data',
  'poster',
  'background',
  'ping',
  'xlink:href',
]

/** The HTML parser of a browser. Nothing in the documents runs or is loaded. */
export async function openHtmlParser(t: Teardown): Promise<HtmlParser> {
  const page = await openEmptyPage(t, await shareBrowser())
  return {
    // as text: this program runs in the page
    parse: html =>
      page.evaluate(`(() => {
        const found = new DOMParser().parseFromString(${JSON.stringify(html)}, 'text/html')
        const all = []
        const walk = root => {
          for (const one of root.querySelectorAll('*')) {
            all.push(one)
            if (one.content instanceof DocumentFragment) walk(one.content)
          }
        }
        walk(found)
        const named = one => [...one.attributes].map(({ name }) => '[' + name + ']').sort().join('')
        const isCode = one => ['script', 'style'].includes(one.localName)
        const code = all.filter(isCode).map(one => one.textContent)
        const links = all.flatMap(one => ${JSON.stringify(LINKS)}.map(name => one.getAttribute(name)).filter(Boolean))
        const refreshes = all.filter(one => one.localName === 'meta' && one.httpEquiv).map(one => one.content)
        const said = all.flatMap(one => [...one.attributes].map(({ value }) => value))
        const texts = all.filter(one => !isCode(one)).flatMap(one => [...one.childNodes])
        const isSetApart = ({ parentElement: { localName, dir, childNodes } }) =>
          localName === 'bdi' || dir === 'auto' || childNodes.length === 1
        const isTurned = one => one.nodeType === 3 && /[\\u202a-\\u202e\\u2066-\\u2069]/.test(one.data)
        return {
          turned: texts.filter(one => isTurned(one) && !isSetApart(one)).map(one => one.data),
          elements: [...new Set(all.map(one => one.localName + named(one)))],
          links: [...new Set([...links, ...refreshes])],
          code: [...new Set(code)],
          text: [found.documentElement.textContent, ...said].join('\\n'),
        }
      })()`),
  }
}
