import type { Metrics } from '../../../shared/process/metrics.ts'

type ChatMetrics = ReturnType<typeof createChatMetrics>

const METRICS_BY_REGISTRY = new WeakMap<Metrics, ChatMetrics>()

/** Returns the metrics of a registry, created once. */
export function getChatMetrics(metrics: Metrics): ChatMetrics {
  const chatMetrics = METRICS_BY_REGISTRY.get(metrics) ?? createChatMetrics(metrics)
  METRICS_BY_REGISTRY.set(metrics, chatMetrics)
  return chatMetrics
}

function createChatMetrics(metrics: Metrics) {
  return {
    calls: metrics.counter('picket_chat_calls_total', 'Calls of the chat provider, except messages', [
      'method',
      'outcome',
    ]),
    requests: metrics.counter(
      'picket_chat_requests_total',
      'Commands and clicks in a chat, and events of its provider',
      ['kind', 'outcome'],
    ),
  }
}
