import { CheckSpec } from '../../proto/gen/probe/v1/fleet.ts'
import type { Secrets } from '../platform/secrets.ts'

/**
 * A check on its way between two processes of the control plane, over core NATS: sealed, because it may hold
 * credentials, and bound to its run, so that nobody who may publish there makes probes check what they like.
 */
export function sealSpec(spec: CheckSpec, runId: string, secrets: Secrets): string {
  const plain = Buffer.from(CheckSpec.encode(spec).finish()).toString('base64')
  return secrets.seal(plain, boundTo(runId)).toString('base64')
}

/** Throws when it was sealed with another key or for another run. */
export function openSpec(sealed: string, runId: string, secrets: Secrets): CheckSpec {
  return CheckSpec.decode(Buffer.from(secrets.open(Buffer.from(sealed, 'base64'), boundTo(runId)), 'base64'))
}

/** What stands in a hint beside the check: the hint itself, nonce and tag. */
const BESIDE_BYTES = 1_024

/** Why a check does not fit into one message of NATS, as a sentence; null when it does. */
export function sizeProblem(spec: CheckSpec, maxPayloadBytes: number): string | null {
  // base64 within base64
  const mostBytes = Math.floor(((maxPayloadBytes - BESIDE_BYTES) * 9) / 16)
  if (CheckSpec.encode(spec).finish().length <= mostBytes) return null
  return `body and headers are too large to be tested; together they may have about ${Math.floor(mostBytes / 1_000)} kB`
}

const boundTo = (runId: string) => `run:${runId}:spec`
