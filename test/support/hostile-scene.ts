import { v7 as uuidv7 } from 'uuid'
import { TEMPLATE_NAMES } from '../../control-plane/pages/core/types.ts'
import type { ApiServer } from './api-server.ts'

type Api = Pick<ApiServer, 'call'>

/** A page with one text in all fields that accept it, and an open incident. */
export type HostilePage = { slug: string; componentId: string; monitorId: string; incidentId: string; taken: string[] }

const HARMLESS = 'Plain words'

/** Sends a body with a text in the named fields, and again with harmless text in fields that refuse it. */
async function offer(
  api: Api,
  key: string,
  [method, path]: readonly [string, string],
  body: Record<string, unknown>,
  fields: readonly string[],
  text: string,
): Promise<{ data: { id: string }; taken: string[] }> {
  const send = (taken: readonly string[]) => {
    const texts = fields.map(field => [field, taken.includes(field) ? text : HARMLESS])
    return api.call(method, path, { key, body: { ...body, ...Object.fromEntries(texts) } })
  }
  const first = await send(fields)
  if (first.status < 300) return { data: first.body.data, taken: fields.map(field => `${path} ${field}`) }
  const refused: string[] = first.body.error.details.map((detail: { path: string }) => detail.path)
  const taken = fields.filter(field => !refused.includes(field))
  const second = await send(taken)
  if (second.status >= 300) throw new Error(`${method} ${path} answered ${JSON.stringify(second.body)}`)
  return { data: second.body.data, taken: taken.map(field => `${path} ${field}`) }
}

let scenes = 0

/** Puts `text` into each public field that accepts it. */
export async function createHostilePage(api: Api, key: string, text: string): Promise<HostilePage> {
  const taken: string[] = []
  const make = async (path: string, body: object, fields: string[], method = 'POST') => {
    const made = await offer(api, key, [method, path], body as Record<string, unknown>, fields, text)
    taken.push(...made.taken)
    return made.data.id
  }
  const slug = uuidv7()
  const template = TEMPLATE_NAMES[scenes++ % TEMPLATE_NAMES.length]!
  const monitor = { type: 'http', url: 'https://shop.example.com/', regions: ['us-east'] }
  const monitorId = await make('/monitors', monitor, ['name'])
  const pageId = await make('/status-pages', { slug, template }, ['name'])
  const page = `/status-pages/${pageId}`
  await make(page, { is_published: true }, ['seo_title', 'seo_description'], 'PUT')
  const groupId = await make(`${page}/groups`, {}, ['name', 'description'])
  const inGroup = { monitor_id: monitorId, group_id: groupId }
  const componentId = await make(`${page}/components`, inGroup, ['name', 'description'])
  await make(`${page}/components`, {}, ['name', 'description'])
  const [hour, now] = [3_600_000, Date.now()]
  const span = { starts_at: new Date(now - hour).toISOString(), ends_at: new Date(now + hour).toISOString() }
  await make('/maintenance-windows', { ...span, monitor_ids: [monitorId] }, ['title', 'description'])
  const incident = { severity: 'major', monitor_ids: [monitorId] }
  const past = await make('/incidents', incident, ['title', 'message'])
  await make(`/incidents/${past}/updates`, { status: 'resolved' }, ['message'])
  const incidentId = await make('/incidents', incident, ['title', 'message'])
  await make(`/incidents/${incidentId}/updates`, { status: 'identified' }, ['message'])
  return { slug, componentId, monitorId, incidentId, taken }
}
