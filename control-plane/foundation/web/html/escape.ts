const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Escapes a text for HTML, between tags or inside a quoted attribute. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, sign => ENTITIES[sign] ?? '')

/** Escapes a text for XML, and removes the characters that XML forbids. */
export const escapeXml = (text: string): string => escapeHtml(removeInvalidXml(text))

/** Removes the characters that XML forbids, even as references. */
export const removeInvalidXml = (text: string): string => text.replace(FORBIDDEN, '')

// control characters other than tab and line breaks, lone surrogates, and noncharacters
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control characters
const FORBIDDEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]|\p{Surrogate}/gu
