import type { Metrics } from '../../../shared/process/metrics.ts'

export type ChatMetrics = ReturnType<typeof createChatMetrics>

const METRICS_BY_REGISTRY = new WeakMap<Metrics, ChatMetrics>()

/** One set a process, whoever asks. */
export function getChatMetrics(metrics: Metrics): ChatMetrics {
  const made = METRICS_BY_REGISTRY.get(metrics) ?? createChatMetrics(metrics)
  METRICS_BY_REGISTRY.set(metrics, made)
  return made
}

function createChatMetrics(metrics: Metrics) {
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
