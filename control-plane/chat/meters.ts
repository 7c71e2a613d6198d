import type { Metrics } from '../../shared/metrics.ts'

export type ChatMeters = ReturnType<typeof makeMeters>

const METERS = new WeakMap<Metrics, ChatMeters>()

/** One set a process, whoever asks. */
export function chatMeters(metrics: Metrics): ChatMeters {
  const made = METERS.get(metrics) ?? makeMeters(metrics)
  METERS.set(metrics, made)
  return made
}

function makeMeters(metrics: Metrics) {
  return {
    calls: metrics.counter('picket_chat_calls_total', 'Calls of the chat provider, but for messages', [
      'method',
      'outcome',
    ]),
    requests: metrics.counter(
      'picket_chat_requests_total',
      'Commands and clicks of people in a chat, and notices of its provider',
      ['kind', 'outcome'],
    ),
  }
}
