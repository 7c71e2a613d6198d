import type { CheckLiteral } from '../types.ts'

/**
 * Why a text cannot be the address that a channel posts to, or null. http(s) only, no credentials in it, and a literal
 * address has to be one that may be reached (decisions 11.3); names are checked when they are connected to.
 */
export function findUrlProblem(text: string, checkLiteral: CheckLiteral, name = 'url'): string | null {
  // a URL parser drops line breaks and blanks at the ends, so they have to be looked for first
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  if (/[\x00-\x20\x7f]/.test(text)) {
    return `${name} must not contain blanks, line breaks or control characters`
  }
  // a URL parser also reads `https:/host` and `https:\\host`, which nobody means
  if (!/^https?:\/\/[^/\\]/i.test(text) || !URL.canParse(text)) {
    return `${name} has to be an http or https URL`
  }
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') {
    return `${name} must not contain credentials${name === 'url' ? '; put them into headers' : ''}`
  }
  const refusal = checkLiteral(url.hostname)
  return refusal === null ? null : `blocked_target: ${refusal}`
}
