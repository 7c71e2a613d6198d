import { CheckSpec } from '../../../../proto/gen/probe/v1/fleet.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'

/**
 * Encrypts a check that is sent between two processes of the control plane over core NATS. It may contain credentials. It is
 * bound to its run, so that a client that may publish on the subject cannot make probes check another target.
 */
export function encryptSpec(spec: CheckSpec, runId: string, secrets: SecretCipher): string {
  const plain = Buffer.from(CheckSpec.encode(spec).finish()).toString('base64')
  return secrets.encrypt(plain, buildBinding(runId)).toString('base64')
}

/** Throws when the check was encrypted with another key or for another run. */
export function decryptSpec(encrypted: string, runId: string, secrets: SecretCipher): CheckSpec {
  return CheckSpec.decode(Buffer.from(secrets.decrypt(Buffer.from(encrypted, 'base64'), buildBinding(runId)), 'base64'))
}

/** The size of a hint without the check: the other fields, nonce and tag. */
const ENVELOPE_BYTES = 1_024

/** Returns a sentence when a check does not fit into one NATS message, else null. */
export function findSizeProblem(spec: CheckSpec, maxPayloadBytes: number): string | null {
  // base64 within base64
  const maxBytes = Math.floor(((maxPayloadBytes - ENVELOPE_BYTES) * 9) / 16)
  if (CheckSpec.encode(spec).finish().length <= maxBytes) return null
  return `body and headers are too large for a test; together they must be smaller than about ${Math.floor(maxBytes / 1_000)} kB`
}

const buildBinding = (runId: string) => `run:${runId}:spec`
