import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { OperationResponse } from '../../../../control-plane/dashboard/core/operations.ts'
import { formatExplanation } from '../../../../control-plane/verdict/core/explanation-text.ts'
import { decide } from '../../../../control-plane/verdict/core/rules/decide.ts'
import { createMonitorState } from '../../../../control-plane/verdict/core/rules/state.ts'
import type { StatusTransition } from '../../../../control-plane/verdict/core/types.ts'
import { Outcome } from '../../../../proto/gen/probe/v1/result.ts'
import { toNetworkFailure } from '../../../../shared/egress/failure.ts'
import { ROOT } from '../../../support/deployment.ts'
import { buildPolicy, buildResult } from './runs.ts'

type TransitionItem = OperationResponse<'listMonitorTransitions'>['data'][number]

const START_MS = Date.UTC(2026, 4, 4, 14, 30)
const MONITOR_ID = '019df365-5800-7a31-9d0e-6b1f7c2e4a55'
const PROBES: Record<string, string> = {
  'us-east': '019df340-c328-7c02-8f6a-2d9b40c1e713',
  'eu-west': '019df340-c710-7b98-b3c5-90f4e82a6d1c',
  'ap-southeast': '019df340-cb5c-7e45-a7d8-14c6b95f3e02',
}
const [RESET, REFUSED] = ['ECONNRESET', 'ECONNREFUSED']

/** When a result was taken, its region, its slot, its attempt, and the error of the network. */
const RESULTS: [second: number, region: string, slot: number, attempt: number, error: string | null, tookMs: number][] =
  [
    [0.21, 'ap-southeast', 0, 1, null, 184.2],
    [1.13, 'eu-west', 1, 1, null, 96.5],
    [7.02, 'us-east', 7, 1, null, 41.8],
    [67.02, 'us-east', 67, 1, REFUSED, 3.1],
    [67.19, 'eu-west', 67.15, 1, RESET, 22.4],
    [67.41, 'ap-southeast', 67.18, 1, null, 190.7],
    [68.03, 'us-east', 67, 2, REFUSED, 2.9],
    [68.22, 'eu-west', 67.15, 2, RESET, 21.7],
    [71.05, 'us-east', 67, 3, REFUSED, 3.4],
    [71.26, 'eu-west', 67.15, 3, RESET, 22.9],
  ]

function findTransition(): StatusTransition {
  const policy = buildPolicy({ regions: Object.keys(PROBES), timeoutMs: 30_000 })
  let state = createMonitorState(MONITOR_ID, 1)
  const transitions = RESULTS.flatMap(([second, region, slot, attempt, code, responseTimeMs]) => {
    const scheduledAtMs = START_MS + slot * 1_000
    const { source, message, ...failure } = toNetworkFailure({ code: code ?? '' })
    const error = code === null ? null : { source, message, code: failure.code }
    const outcome = code === null ? Outcome.UP : Outcome.DOWN
    const about = { region, scheduledAtMs, attempt, outcome, error, responseTimeMs, probeId: PROBES[region]! }
    const decision = decide(state, buildResult(about), policy, START_MS + Math.round(second * 1_000))
    state = decision.state
    return decision.transition ?? []
  })
  return transitions.at(-1)!
}

t.test('The transition in README.md is one that a verdict explains so', async t => {
  const { from, to, atMs, quorum, explanation } = findTransition()
  const storedAt = new Date(atMs + 16).toISOString()
  const expected: TransitionItem = {
    ...{ id: '019df366-74a6-7d60-8a27-f5e03c9b7d18', monitor_id: MONITOR_ID },
    ...{ from, to, at: new Date(atMs).toISOString(), quorum: quorum as TransitionItem['quorum'] },
    ...{ summary: formatExplanation(explanation), explanation, caused_by_monitor_id: null },
    ...{ created_at: storedAt, updated_at: storedAt },
  }
  const [, json = ''] =
    /transitions`:\n\n```json\n([\s\S]*?)\n```/.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? []
  const shown = JSON.parse(json)
  t.same(shown, expected)
  t.same(Object.keys(shown), Object.keys(expected))
})
