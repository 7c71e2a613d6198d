import { type ComponentChildren, Fragment, h } from 'preact'
import { renderToString } from 'preact-render-to-string'

/** Renders elements as HTML. Texts and attributes are escaped. */
export const renderHtml = (content: ComponentChildren): string => renderToString(h(Fragment, null, content))
