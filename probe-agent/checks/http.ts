import { STATUS_CODES } from 'node:http'
import { needsBody } from '../../shared/assertions/evaluate.ts'
import { BODY_LIMIT_BYTES, type Check, type CheckSpec } from '../../shared/check.ts'
import {
  type Egress,
  type HttpAnswer,
  type Prepared,
  prepareRequest,
  type Signal,
  send,
} from '../../shared/egress/index.ts'
import { type CheckError, FailureSource } from '../../shared/result.ts'
import { authHeader } from './auth.ts'

/** What stays the same from one check of a monitor to the next. */
type Plan = { prepared: Prepared; keepBody: boolean; hasStatusAssertion: boolean }

/** A changed monitor comes as a new spec, so a plan is as old as its spec. */
const plans = new WeakMap<CheckSpec, Plan>()

/** Asks for the URL and is content with 200 to 399, unless assertions on the status say otherwise (decisions 3.4). */
export const checkHttp: Check = (spec, signal, egress) => fetchAnswer(spec, signal, egress, false)

/** The check of `http`, also the first half of `keyword`, which always wants the body. */
export async function fetchAnswer(
  spec: CheckSpec,
  signal: Signal,
  egress: Egress,
  wantsBody: boolean,
): Promise<HttpAnswer> {
  const plan = planOf(spec)
  const keepBody = wantsBody || plan.keepBody
  const options = { signal, maxBodyBytes: BODY_LIMIT_BYTES, followRedirects: true, keepBody }
  const answer = await send(plan.prepared, options, egress)
  if (answer.error === null && !plan.hasStatusAssertion) answer.error = statusError(answer.statusCode ?? 0)
  return answer
}

function planOf(spec: CheckSpec): Plan {
  const known = plans.get(spec)
  if (known) return known
  const auth = authHeader(spec.auth)
  const plan = {
    prepared: prepareRequest({
      url: spec.url,
      method: spec.method,
      headers: auth ? withHeader(spec.headers, auth) : spec.headers,
      body: spec.body ?? null,
      credentialHeaders: auth ? [auth[0]] : [],
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
  const message = `the target answered ${answered}; 200 to 399 was expected`
  return { source: FailureSource.TARGET, code: 'unexpected_status', message }
}
