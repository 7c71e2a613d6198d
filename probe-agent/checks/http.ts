import { STATUS_CODES } from 'node:http'
import { needsBody } from '../../shared/assertions/evaluate.ts'
import { type CheckFunction, type CheckSpec, MAX_BODY_BYTES } from '../../shared/checks/check.ts'
import { type CheckError, FailureSource } from '../../shared/checks/result.ts'
import {
  type DeadlineSignal,
  type HttpResponse,
  type PreparedRequest,
  prepareRequest,
  sendPrepared,
} from '../../shared/egress/index.ts'
import type { Egress } from '../../shared/egress/types.ts'
import { isSensitiveName } from '../../shared/secret-names.ts'
import { buildAuthHeader } from './auth.ts'

/** The part of a check that is computed once for each spec. */
type Plan = { prepared: PreparedRequest; keepBody: boolean; hasStatusAssertion: boolean }

/** A changed monitor arrives as a new spec object, so entries never become stale. */
const plans = new WeakMap<CheckSpec, Plan>()

/** Requests the URL. Succeeds with status 200 to 399, unless `status_code` assertions replace that rule. */
export const checkHttp: CheckFunction = (spec, signal, egress) => fetchObservation(spec, signal, egress, false)

/** The `http` check, also used by `keyword`, which always needs the body. */
export async function fetchObservation(
  spec: CheckSpec,
  signal: DeadlineSignal,
  egress: Egress,
  wantsBody: boolean,
): Promise<HttpResponse> {
  const plan = buildPlan(spec)
  const keepBody = wantsBody || plan.keepBody
  const options = { signal, maxBodyBytes: MAX_BODY_BYTES, followRedirects: true, keepBody, acceptMalformed: true }
  const answer = await sendPrepared(plan.prepared, options, egress)
  if (answer.error === null && !plan.hasStatusAssertion) answer.error = statusError(answer.statusCode ?? 0)
  return answer
}

function buildPlan(spec: CheckSpec): Plan {
  const known = plans.get(spec)
  if (known) return known
  const auth = buildAuthHeader(spec.auth)
  const plan = {
    prepared: prepareRequest({
      url: spec.url,
      method: spec.method,
      headers: auth ? withHeader(spec.headers, auth) : spec.headers,
      body: spec.body ?? null,
      credentialHeaders: [...(auth ? [auth[0]] : []), ...Object.keys(spec.headers).filter(isSensitiveName)],
    }),
    keepBody: needsBody(spec.assertions),
    hasStatusAssertion: spec.assertions.some(({ type }) => type === 'status_code'),
  }
  plans.set(spec, plan)
  return plan
}

function withHeader(headers: Record<string, string>, [name, value]: [string, string]): Record<string, string> {
  const others = Object.entries(headers).filter(([other]) => other.toLowerCase() !== name.toLowerCase())
  return { ...Object.fromEntries(others), [name]: value }
}

function statusError(statusCode: number): CheckError | null {
  if (statusCode >= 200 && statusCode <= 399) return null
  const answered = `${statusCode} ${STATUS_CODES[statusCode] ?? ''}`.trim()
  const message = `the target answered ${answered}; expected 200 to 399`
  return { source: FailureSource.TARGET, code: 'unexpected_status', message }
}
