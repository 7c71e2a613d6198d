import type { DeadlineSignal } from '../../../../shared/egress/index.ts'
import type { Egress } from '../../../../shared/egress/types.ts'
import { DecryptionError } from '../../../foundation/platform/crypto/decryption-error.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { OwnFaultDetector } from '../../../foundation/platform/network/own-faults.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { monotonicMs, now } from '../../../foundation/platform/time/clock.ts'
import { listChildKeys } from '../children/child-store.ts'
import { decryptSource, type SourceSecrets } from '../configuration/encryption.ts'
import type { RawDocument } from '../document/document.ts'
import { comparesWithNow } from '../evaluation/difference-rule.ts'
import { evaluateRawDocument } from '../evaluation/examine-reader.ts'
import type { ClaimedSource } from './claim-store.ts'
import { type FetchResult, judgeFailure, type SourceFetch } from './fetch-result.ts'
import { requestDocument } from './http-reader.ts'
import { buildRequestHeaders } from './request-headers.ts'

type FetchTools = { db: Db; egress: Egress; secrets: SecretCipher; ownFaults: OwnFaultDetector }

/** A fetch that takes this much longer than its timeout was extended, because this process was blocked meanwhile. */
const MAX_EXTENSION_MS = 1_000
const BLOCKED: FetchResult = {
  failure: {
    code: 'blocked',
    message: 'Picket was blocked during the fetch, so the age of values is not known',
    isOurFault: true,
  },
}

/**
 * Fetches a claimed source, requests the URLs in its document, and evaluates it. Rejects with a DecryptionError when its secrets
 * cannot be read; never because of what it answers.
 */
export async function fetchSource(
  { db, egress, secrets, ownFaults }: FetchTools,
  source: ClaimedSource,
  signal: DeadlineSignal,
): Promise<SourceFetch> {
  const [startedAt, startedMs] = [now(), monotonicMs()]
  const headers = buildRequestHeaders(source, readSecrets(source, secrets))
  const answer = await requestDocument(egress, source, headers, {
    signal,
    ownFaults,
    intervalMs: source.fetchIntervalS * 1_000,
  })
  const responseTimeMs = monotonicMs() - startedMs
  const result =
    'failure' in answer ? answer : await evaluateAnswer({ db, egress }, source, answer, responseTimeMs, signal)
  return { source, result, startedAt, endedAt: now(), responseTimeMs }
}

/** Text that is encrypted badly, or is not what was encrypted, gives other errors than a wrong key. */
function readSecrets(source: ClaimedSource, secrets: SecretCipher): SourceSecrets {
  try {
    return decryptSource(source, secrets)
  } catch (cause) {
    throw new DecryptionError('the headers or credentials of a data source cannot be decrypted', { cause })
  }
}

async function evaluateAnswer(
  { db, egress }: Pick<FetchTools, 'db' | 'egress'>,
  source: ClaimedSource,
  answer: RawDocument,
  responseTimeMs: number,
  signal: DeadlineSignal,
): Promise<FetchResult> {
  // when the response arrived is not known, and the blocked time would count as age
  if (responseTimeMs > source.timeoutMs + MAX_EXTENSION_MS && source.fields.some(comparesWithNow)) return BLOCKED
  const readKnown = () => listChildKeys(db, source.id)
  const examined = await evaluateRawDocument(egress, source, answer, 'source', { readKnown, signal })
  if ('failure' in examined) return { failure: judgeFailure(source, examined.failure) }
  const { children, keys } = examined.evaluation
  return { children, keys }
}
