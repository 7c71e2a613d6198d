let typed: string | null = null

/** Keeps an address that a person typed on the overview, so that the first step tries it at once. */
export function keepTypedAddress(address: string): void {
  typed = address
}

/**
 * Whether a person typed this address in this tab just now. A link to the first step alone starts no check. The answer is
 * true once.
 */
export function takeTypedAddress(address: string): boolean {
  const isTyped = typed !== null && typed === address
  typed = null
  return isTyped
}
