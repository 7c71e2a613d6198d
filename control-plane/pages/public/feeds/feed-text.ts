import { removeInvalidXml } from '../../../foundation/web/html/escape.ts'

/** Removes the line breaks that feedsmith writes around CDATA, because some readers show them. */
export const joinCdata = (xml: string): string =>
  xml.replace(/>\s+<!\[CDATA\[/g, '><![CDATA[').replace(/\]\]>\s+<\//g, ']]></')

/** A text for feedsmith, which escapes it, but does not remove characters that XML forbids, and omits blank elements. */
export function toFeedText(text: string): string {
  const valid = removeInvalidXml(text)
  return valid.trim() === '' ? 'Untitled' : valid
}
