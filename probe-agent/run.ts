import type { CheckSpec } from '../shared/check.ts'
import type { Egress } from '../shared/egress/index.ts'
import type { FailedAssertion, Observation, Outcome } from '../shared/result.ts'
import type { SelfTest } from './self-test.ts'

export type Ran = { observation: Observation; outcome: Outcome; failedAssertions: FailedAssertion[] }

export type RunOptions = {
  /** without one, failures are reported as they were seen */
  selfTest?: SelfTest
}

/**
 * Runs one check under one deadline (`spec.timeoutMs`) and judges what it saw. Never throws and never rejects: what
 * goes wrong in ourselves is an `internal` failure, outcome UNKNOWN (decisions 4.3).
 */
export async function runCheck(_spec: CheckSpec, _egress: Egress, _options: RunOptions = {}): Promise<Ran> {
  throw new Error('written next')
}
