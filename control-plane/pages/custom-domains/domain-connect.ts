import { getHostInZone } from './hostname.ts'
import type { ConnectSettings } from './types.ts'

/** The template of Picket as it is published for DNS providers (`deploy/domain-connect/`). */
export type ConnectTemplate = { providerId: string; serviceId: string }

/** A customer uses the URL immediately or requests a new one. */
export const LAUNCH_TIMEOUT_MS = 3_600_000

/** A host with an optional port and path, as providers publish it. */
const HOST_AND_PATH = /^[a-z0-9.-]+(:\d{1,5})?(\/[a-z0-9._~/-]*)?$/i

/**
 * The address of a provider's settings. `text`: the TXT record at `_domainconnect.{zone}`. Null when it is not an
 * address.
 */
export function buildSettingsUrl(text: string, zone: string): string | null {
  const place = text.trim()
  const url = `https://${trimSlashes(place)}/v2/${zone}/settings`
  return HOST_AND_PATH.test(place) && isPlainHttps(url) ? url : null
}

/** Parses a provider's settings. Null when a required value is missing or is not https. */
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

/** Responds with 2xx when the provider has the template, else 404 (Domain Connect, Query Supported Template). */
export const buildSupportUrl = ({ urlApi }: ConnectSettings, template: ConnectTemplate) =>
  `${urlApi}${buildTemplatePath(template)}`

type ApplyParameters = {
  zone: string
  domain: string
  target: string
  challenge: string
}

/**
 * The query string that is signed: encoded, in the order in which it is sent
 * (docs/design/subscribers.md#domain-connect).
 */
export function buildApplyQuery({ zone, domain, target, challenge }: ApplyParameters): string {
  const host = getHostInZone(zone, domain)
  const parameters = { challenge, domain: zone, ...(host !== '' && { host }), target }
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${encode(value)}`)
    .join('&')
}

/**
 * The address that the customer opens. `signature` is that of `query`; `keyHost` is the name of the TXT record with the
 * public key.
 */
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

/** RFC 3986: a provider that encodes the values again gets the same text. */
const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

const isPlainHttps = (url: string) => {
  if (!URL.canParse(url)) return false
  const { protocol, username, password, search, hash } = new URL(url)
  return protocol === 'https:' && username === '' && password === '' && search === '' && hash === ''
}

const trimSlashes = (url: string) => url.replace(/\/+$/, '')
/** Text of a third party, shown to customers. */
const toSingleLine = (text: string) => text.replace(/\p{C}/gu, ' ').slice(0, 100)
