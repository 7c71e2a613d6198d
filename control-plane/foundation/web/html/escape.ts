const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** A text as it stands in HTML, between tags or inside a quoted attribute. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, sign => ENTITIES[sign] ?? '')

/** The same in XML, which does not know every character: those that it forbids are left out. */
export const escapeXml = (text: string): string => escapeHtml(text.replace(FORBIDDEN, ''))

// control characters other than tab and line breaks, halves of a surrogate pair, and what is no character
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const FORBIDDEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]|\p{Surrogate}/gu
