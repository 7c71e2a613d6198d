import { type ComponentChild, render } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

export type ColorScheme = 'light' | 'dark'

/**
 * Content with styles of its own, which neither change the page nor are changed by it: in a shadow tree. Browsers only; the
 * server renders an empty element. `sheets`: CSS; `:root` refers to the element. `scheme`: whatever the browser prefers.
 */
export function Isolated({
  sheets,
  scheme,
  children,
  label,
}: {
  sheets: readonly string[]
  scheme: ColorScheme
  children: ComponentChild
  label: string
}) {
  const element = useRef<HTMLDivElement>(null)
  const css = [...sheets, `:root{color-scheme:${scheme}}`].join('\n').replaceAll(':root', ':host')
  // before the next frame, which would show the content with the previous styles
  useLayoutEffect(() => {
    const root = element.current!.shadowRoot ?? element.current!.attachShadow({ mode: 'open' })
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(css)
    chooseScheme(sheet.cssRules, scheme)
    root.adoptedStyleSheets = [sheet]
  }, [css])
  useLayoutEffect(() => render(children, element.current!.shadowRoot!))
  // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls
  return <div class="isolated" role="group" aria-label={label} ref={element} />
}

const SCHEME = /\(\s*prefers-color-scheme\s*:\s*(light|dark)\s*\)/gi

/** Decides the queries for the colour scheme, which otherwise follow the system of the person. */
export function chooseScheme(rules: CSSRuleList, scheme: ColorScheme): void {
  for (const rule of Array.from(rules)) {
    if ('media' in rule) {
      const { media } = rule as CSSMediaRule
      const decided = media.mediaText.replace(SCHEME, (_, wanted: string) =>
        wanted.toLowerCase() === scheme ? '(min-width: 0px)' : '(max-width: 0px)',
      )
      if (decided !== media.mediaText) media.mediaText = decided
    }
    if ('cssRules' in rule) chooseScheme((rule as CSSGroupingRule).cssRules, scheme)
  }
}
