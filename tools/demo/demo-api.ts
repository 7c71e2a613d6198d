import { StartError } from '../start/settings.ts'

export type DemoTransition = { id: string; from: string | null; to: string; at: string; summary?: string }

export type DemoApi = {
  /** removes the monitors and channels of an earlier demo */
  removeAll(): Promise<void>
  createMonitor(monitor: Record<string, unknown>): Promise<string>
  createWebhook(name: string, url: string): Promise<{ id: string; signingSecret: string }>
  createRule(rule: Record<string, unknown>): Promise<void>
  /** newest first */
  transitions(monitorId: string): Promise<DemoTransition[]>
}

/** The API calls of the demo. Throws errors with the API's message. */
export function createDemoApi(origin: string, apiKey: string): DemoApi {
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${origin}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      body: body ? JSON.stringify(body) : undefined,
    })
    // biome-ignore lint/suspicious/noExplicitAny: the record depends on the endpoint
    const answer = (await response.json()) as { data?: any; error?: { message: string } }
    if (!response.ok)
      throw new StartError(`The demo cannot start. ${method} ${path}: ${answer.error?.message ?? response.status}`)
    return answer.data
  }
  return {
    async removeAll() {
      for (const path of ['/monitors', '/alerts/channels']) {
        for (const { id } of await call('GET', path)) await call('DELETE', `${path}/${id}`)
      }
    },
    createMonitor: async monitor => (await call('POST', '/monitors', monitor)).id,
    async createWebhook(name, url) {
      const channel = await call('POST', '/alerts/channels', { name, type: 'webhook', config: { url } })
      return { id: channel.id, signingSecret: channel.signing_secret }
    },
    createRule: rule => call('POST', '/alerts/rules', rule),
    transitions: monitorId => call('GET', `/monitors/${monitorId}/transitions`),
  }
}
