const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Escapes a text for HTML, between tags or inside a quoted attribute. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, sign => ENTITIES[sign] ?? '')

/** Escapes a text for XML, and removes the characters that XML forbids. */
export const escapeXml = (text: string): string => escapeHtml(text.replace(FORBIDDEN, ''))

// control characters other than tab and line breaks, lone surrogates, and noncharacters
const FORBIDDEN = /(?![\t\n\r])\p{Cc}|[\ufffe\uffff]|\p{Surrogate}/gu
