import { type Static, Type } from 'typebox'
import {
  findHeaderProblems,
  HeaderMapSchema,
  maskHeaders,
  unmaskHeaders,
} from '../../../foundation/web/masked-secrets/header-map.ts'
import { maskUrl, unmaskUrl } from '../config/masked-url.ts'
import { maskSecrets, unmaskSecrets } from '../config/secret-fields.ts'
import { findUrlProblem } from '../config/url-validation.ts'
import { defineKind } from '../types.ts'

const Config = Type.Object({
  url: Type.String({ maxLength: 2_048 }),
  headers: Type.Optional(HeaderMapSchema),
  relay_source_id: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,128}$' })),
})

/** Headers that Picket sets. A configuration cannot contain them. */
const RESERVED = /^(x-service-.*|webhook-.*|content-.*|host)$/i

const maskWebhook = (config: Static<typeof Config>) => ({
  ...maskSecrets(config),
  ...(config.headers && { headers: maskHeaders(config.headers) }),
})

/** Posts the envelope as JSON. The delivery adds the signatures (docs/design/events.md#signatures). */
export const webhook = defineKind({
  schema: Config,
  isSigned: true,
  findProblems(config, checkLiteral) {
    const urlProblem = findUrlProblem(config.url, checkLiteral)
    const headers = config.headers ?? {}
    return [
      ...(urlProblem === null ? [] : [{ path: 'config.url', message: urlProblem }]),
      ...findHeaderProblems(headers, 'config.headers'),
      ...Object.keys(headers)
        .filter(name => RESERVED.test(name))
        .map(name => ({ path: `config.headers.${name}`, message: `the header ${name} is reserved; Picket sets it` })),
    ]
  },
  getAddress: config => config.url,
  getRelayId: config => config.relay_source_id ?? null,
  mask: maskWebhook,
  maskForReadOnly: config => ({ ...maskWebhook(config), url: maskUrl(config.url) }),
  unmask(sent, stored) {
    const { headers: sentHeaders, ...rest } = sent
    const free = unmaskSecrets(rest, stored ?? {}, 'config')
    const { url, problems: urlProblems } = unmaskUrl(sent.url, stored?.url ?? null, 'url')
    const known = { config: { ...free.config, url }, problems: [...free.problems, ...urlProblems] }
    if (!sentHeaders) return known
    const { headers, problems } = unmaskHeaders(sentHeaders, stored?.headers ?? null, 'config.headers')
    return { config: { ...known.config, headers }, problems: [...known.problems, ...problems] }
  },
  render(envelope, config) {
    const configured = Object.entries(config.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])
    return {
      via: 'http',
      method: 'POST',
      url: config.url,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Picket-Webhook/1',
        ...Object.fromEntries(configured),
      },
      body: Buffer.from(JSON.stringify(envelope)),
      ...(config.relay_source_id !== undefined && { relaySourceId: config.relay_source_id }),
    }
  },
  // webhooks receive each change separately
  renderDigest: null,
})
