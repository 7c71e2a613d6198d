import { removeInvalidXml } from '../../../foundation/web/html/escape.ts'

/** A text for feedsmith, which escapes it, but does not remove characters that XML forbids, and omits blank elements. */
export function toFeedText(text: string): string {
  const valid = removeInvalidXml(text)
  return valid.trim() === '' ? 'Untitled' : valid
}
