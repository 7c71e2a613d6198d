import type { CheckSpec } from '../../shared/checks/check.ts'

/** A check as the control plane assigns it, with default values. */
export function createCheckSpec(parts: Partial<CheckSpec> & { url: string }): CheckSpec {
  const defaults = { type: 'http', method: 'GET', headers: {}, timeoutMs: 5000, assertions: [] }
  const screenshots = { screenshotOnFailure: false, screenshotCompare: false, screenshotThreshold: 0.05 }
  return { ...defaults, keywordType: 'contains', sslCheck: false, ...screenshots, ...parts }
}
