import { type ComponentChild, render } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/**
 * Content with styles of its own, which neither change the page nor are changed by it: in a shadow tree. Browsers only; the
 * server renders an empty element. `sheets`: CSS; `:root` refers to the element.
 */
export function Isolated({
  sheets,
  children,
  label,
}: {
  sheets: readonly string[]
  children: ComponentChild
  label: string
}) {
  const element = useRef<HTMLDivElement>(null)
  const css = sheets.join('\n').replaceAll(':root', ':host')
  useEffect(() => {
    const root = element.current!.shadowRoot ?? element.current!.attachShadow({ mode: 'open' })
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(css)
    root.adoptedStyleSheets = [sheet]
  }, [css])
  useEffect(() => render(children, element.current!.shadowRoot!))
  // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls
  return <div class="isolated" role="group" aria-label={label} ref={element} />
}

const SCHEME = /\(\s*prefers-color-scheme\s*:\s*(light|dark)\s*\)/gi

/** The CSS for one colour scheme, whatever the browser prefers. */
export const chooseScheme = (css: string, scheme: 'light' | 'dark'): string =>
  css
    .replace(SCHEME, (_, wanted: string) => (wanted.toLowerCase() === scheme ? '(min-width:0)' : '(max-width:0)'))
    .replaceAll(/color-scheme: ?light dark/g, `color-scheme:${scheme}`)
