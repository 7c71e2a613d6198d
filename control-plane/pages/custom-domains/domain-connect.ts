import { getHostInZone } from './hostname.ts'
import type { ConnectSettings } from './types.ts'

/** Ours, as it is published for DNS providers (`deploy/domain-connect/`). */
export type ConnectTemplate = { providerId: string; serviceId: string }

/** A customer uses the address at once or asks for a new one. */
export const LAUNCH_TIMEOUT_MS = 3_600_000

/** A host, perhaps with a port and a path, as providers publish it. */
const HOST_AND_PATH = /^[a-z0-9.-]+(:\d{1,5})?(\/[a-z0-9._~/-]*)?$/i

/** Where a provider tells of itself: `text` is what stands at `_domainconnect.{zone}`. Null when that is no address. */
export function buildSettingsUrl(text: string, zone: string): string | null {
  const place = text.trim()
  const url = `https://${trimSlashes(place)}/v2/${zone}/settings`
  return HOST_AND_PATH.test(place) && isPlainHttps(url) ? url : null
}

/** Reads a provider's settings. Null when what it needs is missing or leads elsewhere than to https. */
export function parseConnectSettings(document: unknown): ConnectSettings | null {
  if (typeof document !== 'object' || document === null) return null
  const { providerId, providerName, providerDisplayName, urlSyncUX, urlAPI } = document as Record<string, unknown>
  if (typeof providerId !== 'string' || typeof urlAPI !== 'string' || !isPlainHttps(urlAPI)) return null
  const name = [providerDisplayName, providerName, providerId].find(text => typeof text === 'string' && text !== '')
  const urlSyncUx = typeof urlSyncUX === 'string' && isPlainHttps(urlSyncUX) ? trimSlashes(urlSyncUX) : null
  return {
    providerId: toSingleLine(providerId),
    providerName: toSingleLine(name as string),
    urlSyncUx,
    urlApi: trimSlashes(urlAPI),
  }
}

/** Answers 2xx where the provider knows the template, 404 where not (Domain Connect, Query Supported Template). */
export const buildSupportUrl = ({ urlApi }: ConnectSettings, template: ConnectTemplate) =>
  `${urlApi}${buildTemplatePath(template)}`

export type ApplyParameters = {
  zone: string
  domain: string
  target: string
  challenge: string
}

/** The query string that is signed: encoded, in the order in which it is sent (Domain Connect, Digitally Sign Requests). */
export function buildApplyQuery({ zone, domain, target, challenge }: ApplyParameters): string {
  const host = getHostInZone(zone, domain)
  const parameters = { challenge, domain: zone, ...(host !== '' && { host }), target }
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${encode(value)}`)
    .join('&')
}

/** The address that the customer is sent to; `signature` is that of `query`, `keyHost` where its public key stands. */
export function buildLaunchUrl(
  urlSyncUx: string,
  template: ConnectTemplate,
  query: string,
  { signature, keyHost }: { signature: string; keyHost: string },
): string {
  return `${urlSyncUx}${buildTemplatePath(template)}/apply?${query}&sig=${encode(signature)}&key=${encode(keyHost)}`
}

const buildTemplatePath = ({ providerId, serviceId }: ConnectTemplate) =>
  `/v2/domainTemplates/providers/${encode(providerId)}/services/${encode(serviceId)}`

/** RFC 3986: what a provider that encodes anew would write too. */
const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

const isPlainHttps = (url: string) => {
  if (!URL.canParse(url)) return false
  const { protocol, username, password, search, hash } = new URL(url)
  return protocol === 'https:' && username === '' && password === '' && search === '' && hash === ''
}

const trimSlashes = (url: string) => url.replace(/\/+$/, '')
/** Somebody else's text, shown to customers. */
const toSingleLine = (text: string) => text.replace(/\p{C}/gu, ' ').slice(0, 100)
