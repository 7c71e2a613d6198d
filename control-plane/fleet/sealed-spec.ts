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

const boundTo = (runId: string) => `run:${runId}:spec`
