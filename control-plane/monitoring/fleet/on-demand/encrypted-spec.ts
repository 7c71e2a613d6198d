import { CheckSpec } from '../../../../proto/gen/probe/v1/fleet.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'

/**
 * A check on its way between two processes of the control plane, over core NATS: sealed, because it may hold
 * credentials, and bound to its run, so that nobody who may publish there makes probes check what they like.
 */
export function encryptSpec(spec: CheckSpec, runId: string, secrets: SecretCipher): string {
  const plain = Buffer.from(CheckSpec.encode(spec).finish()).toString('base64')
  return secrets.encrypt(plain, buildBinding(runId)).toString('base64')
}

/** Throws when it was sealed with another key or for another run. */
export function decryptSpec(sealed: string, runId: string, secrets: SecretCipher): CheckSpec {
  return CheckSpec.decode(Buffer.from(secrets.decrypt(Buffer.from(sealed, 'base64'), buildBinding(runId)), 'base64'))
}

/** What stands in a hint beside the check: the hint itself, nonce and tag. */
const ENVELOPE_BYTES = 1_024

/** Why a check does not fit into one message of NATS, as a sentence; null when it does. */
export function findSizeProblem(spec: CheckSpec, maxPayloadBytes: number): string | null {
  // base64 within base64
  const mostBytes = Math.floor(((maxPayloadBytes - ENVELOPE_BYTES) * 9) / 16)
  if (CheckSpec.encode(spec).finish().length <= mostBytes) return null
  return `body and headers are too large to be tested; together they may have about ${Math.floor(mostBytes / 1_000)} kB`
}

const buildBinding = (runId: string) => `run:${runId}:spec`
