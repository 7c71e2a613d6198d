const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Escapes a text for XML, between tags or inside a quoted attribute, and removes the characters that XML forbids. */
export const escapeXml = (text: string): string =>
  removeInvalidXml(text).replace(/[&<>"']/g, sign => ENTITIES[sign] ?? '')

/** Removes the characters that XML forbids, even as references. */
export const removeInvalidXml = (text: string): string => text.replace(FORBIDDEN, '')

// control characters other than tab and line breaks, lone surrogates, and noncharacters
const FORBIDDEN = /(?![\t\n\r])\p{Cc}|[\ufffe\uffff]|\p{Surrogate}/gu
