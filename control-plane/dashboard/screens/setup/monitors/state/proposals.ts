import { type MonitorType, REGIONS, type Region } from '../../../../../../shared/checks/check.ts'
import { EMPTY_FORM, type MonitorForm, sendsRequests } from './monitor-form.ts'

/** What the form proposes, so that most monitors need only an address. Pure. */

/** `https://www.shop.example.com/health/` → `shop.example.com/health` */
export function proposeName({ type, url }: Pick<MonitorForm, 'type' | 'url'>): string {
  if (type === 'heartbeat') return ''
  const address = url
    .trim()
    .replace(/^[a-z]+:\/\//i, '')
    .replace(/[?#].*$/, '')
    .replace(/^www\./i, '')
    .replace(/\/+$/, '')
  return address.slice(0, 100)
}

/** Three regions of different continents, as far as they have a probe. `live` null: it is not known which do. */
export function proposeRegions(live: readonly Region[] | null): Region[] {
  const wanted: Region[] = ['us-east', 'eu-west', 'ap-southeast']
  if (live === null || live.length === 0) return wanted
  const first = wanted.filter(region => live.includes(region))
  const others = live.filter(region => !wanted.includes(region))
  const chosen = [...first, ...others].slice(0, 3)
  return REGIONS.filter(region => chosen.includes(region))
}

/** An address without a scheme is completed when its type needs one: `shop.example.com` → `https://shop.example.com` */
export function completeAddress(type: MonitorType, url: string): string {
  const text = url.trim()
  return text === '' || !sendsRequests(type) || text.includes('://') ? text : `https://${text}`
}

const SCHEMES: Partial<Record<string, MonitorType>> = {
  http: 'http',
  https: 'http',
  tcp: 'tcp',
  ping: 'ping',
  dns: 'dns',
}

/** The type that an address suggests: by its scheme; `host:port` is tcp; everything else is http. */
export function proposeType(url: string): MonitorType {
  const text = url.trim()
  const scheme = /^([a-z]+):\/\//i.exec(text)?.[1]?.toLowerCase()
  if (scheme !== undefined) return SCHEMES[scheme] ?? 'http'
  return /^[^/:\s]+:\d{1,5}$/.test(text) ? 'tcp' : 'http'
}

/** The form for `/monitors/new?url=…&type=…`. */
export function toProposedForm(search: URLSearchParams, types: readonly MonitorType[]): MonitorForm {
  const url = search.get('url') ?? ''
  const type = types.find(one => one === search.get('type')) ?? (url === '' ? EMPTY_FORM.type : proposeType(url))
  return { ...EMPTY_FORM, type, url: completeAddress(type, url) }
}

/** The lines of a pasted text that contain an address, each once. */
export function parseAddressLines(text: string): string[] {
  const lines = text.split(/\r?\n/).map(line => line.trim())
  return [...new Set(lines.filter(line => line !== ''))]
}

/** The form with its proposals in place of what was not chosen. */
export const applyProposals = (form: MonitorForm, live: readonly Region[] | null) => ({
  ...form,
  name: form.name ?? proposeName(form),
  regions: form.regions ?? proposeRegions(live),
})
export type FormInput = ReturnType<typeof applyProposals>
