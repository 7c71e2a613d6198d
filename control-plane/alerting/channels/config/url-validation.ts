import { hasControlCharacter } from '../../../../shared/control-characters.ts'
import type { CheckLiteral } from '../types.ts'

/**
 * Returns why a text cannot be the address of a channel, or null. Only http(s) without credentials is accepted. A literal address
 * must be allowed by the egress guard (docs/design/egress.md); names are checked when the connection is made.
 */
export function findUrlProblem(text: string, checkLiteral: CheckLiteral, name = 'url'): string | null {
  // a URL parser removes line breaks and surrounding white space, so they are checked first
  if (text.includes(' ') || hasControlCharacter(text)) {
    return `${name} must not contain white space or control characters`
  }
  // a URL parser also accepts `https:/host` and `https:\\host`
  if (!/^https?:\/\/[^/\\]/i.test(text) || !URL.canParse(text)) {
    return `${name} must be an http or https URL`
  }
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') {
    return `${name} must not contain credentials${name === 'url' ? '; use headers instead' : ''}`
  }
  const refusal = checkLiteral(url.hostname)
  return refusal === null ? null : `blocked_target: ${refusal}`
}
