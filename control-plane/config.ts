import ipaddr from 'ipaddr.js'
import { ConfigError, type Env, file, integer, list, oneOf, optionalText, text } from '../shared/env.ts'
import { limitSettings } from './accounts/limit-settings.ts'
import type { MailRules } from './accounts/mails/limits.ts'
import { mailSettings } from './accounts/mails/settings.ts'
import { type Limits, PLANS, type Plan } from './accounts/plans.ts'
import { REGISTRATIONS, type Registration } from './accounts/registration.ts'
import { type ChatSettings, chatApiUrl, chatSettings } from './chat/settings.ts'
import { BURST } from './deliveries/pace.ts'
import { type WhoisServer, whoisServerOf } from './expiry/whois.ts'
import type { GrpcTls } from './platform/grpc.ts'
import { hostsOfNats, isLoopback } from './platform/loopback.ts'
import type { StreamSettings } from './platform/nats.ts'
import { type NatsOperator, operatorOf } from './platform/nats-operator.ts'
import { type ObjectAddress, parseObjectAddress } from './platform/object-address.ts'
import { parseSmtpUrl } from './platform/smtp-server.ts'
import { type Retention, retentionSettings } from './retention/settings.ts'
import { type CustomDomainSettings, customDomainSettings } from './status-pages/custom-domain/settings.ts'
import { allowedHost } from './web/hosts.ts'

/** Parts of the control plane that run together or apart (decisions 11.5). */
export const ROLES = ['api', 'fleet', 'verdict', 'record', 'deliver', 'schedule'] as const
export type Role = (typeof ROLES)[number]

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

export type Config = {
  databaseUrl: string
  natsUrl: string
  /** null: NATS is not in operator mode, and on this machine (for development) */
  natsOperator: NatsOperator | null
  /** replicas and sizes of NATS' streams */
  streams: StreamSettings
  clickhouseUrl: string
  host: string
  /** 0: any free one, told by the log line "ready" */
  port: number
  /** where the operator's endpoints listen; port 0 as above */
  operatorHost: string
  operatorPort: number
  grpcPort: number
  /** null: probes connect in plain text */
  grpcTls: GrpcTls | null
  /** everyone who reaches the gRPC port may ask what it serves */
  grpcReflection: boolean
  /** to the gRPC port, of one client address at a time */
  grpcConnectionsPerAddress: number
  /** whether the page of the installation (/trust) is public */
  trustPage: boolean
  /** 32 bytes */
  secretKey: Buffer
  /** opens what is still sealed with it, while keys are changed; null: there is none */
  olderSecretKey: Buffer | null
  /** the origin that links lead to, without a slash at the end */
  publicUrl: string
  /** where probes reach NATS, when that is not NATS_URL */
  probeNatsUrl: string
  egressAllow: string[]
  /** the same for webhooks of status pages' visitors, who are not customers */
  visitorEgressAllow: string[]
  /** address:port of parts of this installation that no request of a tenant may reach */
  egressDeny: string[]
  /** DNS servers as address:port; none: those of the system */
  nameservers: string[]
  trustedProxies: string[]
  /** hosts that are answered in addition to those of PUBLIC_URL and CUSTOM_DOMAIN_TARGET */
  allowedHosts: string[]
  roles: Role[]
  defaultPlan: Plan
  /** who may have an account made */
  registration: Registration
  limits: Limits
  /** to whom mails may go, and how many in a day */
  mailRules: MailRules
  /** so many requests of one event to one host leave at once */
  webhookBurst: number
  rateLimitPerMinute: number
  /** of all keys of a project together */
  rateLimitPerProject: number
  /** pings a ping URL */
  pingsPerMinute: number
  /** how often the feed of a vendor is read */
  vendorIntervalSeconds: number
  /** `POST /monitors/test`, a project */
  testsPerMinute: number
  /** after how many days rows are deleted */
  retention: Retention
  /** where screenshots are kept */
  screenshotStore: ObjectAddress
  /** for an S3 store; empty: none */
  s3AccessKeyId: string
  s3SecretAccessKey: string
  /** the mail server; null: channels of type email send nothing */
  smtpUrl: string | null
  /** `Name <address>` or an address alone */
  mailFrom: string
  /** brings webhooks that ask for a relay, without a slash at the end; null: the built-in relay does */
  relayUrl: string | null
  logLevel: string
  customDomains: CustomDomainSettings
  /** the app in teams' chats; null: none is set up */
  chat: ChatSettings | null
  /** where the methods of the chat's provider are called */
  chatApiUrl: string
  /** asked about every domain; null: the bootstrap says whom to ask */
  rdapBaseUrl: string | null
  rdapBootstrapUrl: string
  whoisServer: WhoisServer
}

/** Throws a ConfigError that names the variable, what it holds and what it should hold. */
export function readConfig(env: Env): Config {
  const port = integer(env, 'PORT', 8080, 0, 65_535)
  const natsUrl = text(env, 'NATS_URL')
  const registration = oneOf(env, 'REGISTRATION', REGISTRATIONS, 'open')
  const operatorPort = integer(env, 'OPERATOR_PORT', 8081, 0, 65_535)
  if (operatorPort !== 0 && operatorPort === port) {
    throw new ConfigError(`PORT and OPERATOR_PORT are both ${port}; give each a port of its own`)
  }
  const keyLimit = integer(env, 'RATE_LIMIT_PER_MINUTE', 600, 1, 1_000_000)
  return {
    databaseUrl: url(env, 'DATABASE_URL', ['postgres:', 'postgresql:']),
    natsUrl,
    natsOperator: operatorFor(env, [natsUrl, optionalText(env, 'PROBE_NATS_URL') ?? natsUrl]),
    streams: streams(env),
    clickhouseUrl: url(env, 'CLICKHOUSE_URL', ['http:', 'https:']),
    host: text(env, 'HOST', '127.0.0.1'),
    port,
    operatorHost: text(env, 'OPERATOR_HOST', '127.0.0.1'),
    operatorPort,
    grpcPort: integer(env, 'GRPC_PORT', 50_051, 0, 65_535),
    grpcTls: grpcTls(env),
    grpcReflection: oneOf(env, 'GRPC_REFLECTION', ['on', 'off'], 'off') === 'on',
    grpcConnectionsPerAddress: integer(env, 'GRPC_CONNECTIONS_PER_ADDRESS', 250, 1, 1_000_000),
    trustPage: oneOf(env, 'TRUST_PAGE', ['on', 'off'], 'off') === 'on',
    secretKey: secretKey(env),
    olderSecretKey: olderSecretKey(env),
    publicUrl: publicUrl(env),
    probeNatsUrl: optionalText(env, 'PROBE_NATS_URL') ?? natsUrl,
    egressAllow: list(env, 'EGRESS_ALLOW'),
    visitorEgressAllow: list(env, 'VISITOR_EGRESS_ALLOW'),
    egressDeny: list(env, 'EGRESS_DENY'),
    nameservers: list(env, 'NAMESERVERS').map(nameserver),
    allowedHosts: list(env, 'ALLOWED_HOSTS').map(allowedHost),
    trustedProxies: list(env, 'TRUSTED_PROXIES').map(range),
    roles: roles(env),
    defaultPlan: defaultPlan(env),
    registration,
    limits: limitSettings(env),
    webhookBurst: integer(env, 'WEBHOOK_BURST', BURST, BURST, 1_000_000),
    mailRules: mailSettings(env, registration),
    rateLimitPerMinute: keyLimit,
    // five keys at their limit, whatever that is
    rateLimitPerProject: integer(env, 'RATE_LIMIT_PER_PROJECT', keyLimit * 5, 1, 10_000_000),
    vendorIntervalSeconds: integer(env, 'VENDOR_INTERVAL_SECONDS', 60, 1, 86_400),
    pingsPerMinute: integer(env, 'PINGS_PER_MINUTE', 1_200, 1, 1_000_000),
    testsPerMinute: integer(env, 'TESTS_PER_MINUTE', 30, 1, 1_000_000),
    retention: retentionSettings(env),
    screenshotStore: screenshotStore(env),
    s3AccessKeyId: optionalText(env, 'S3_ACCESS_KEY_ID') ?? '',
    s3SecretAccessKey: optionalText(env, 'S3_SECRET_ACCESS_KEY') ?? '',
    smtpUrl: smtpUrl(env),
    mailFrom: mailFrom(env),
    relayUrl: optionalText(env, 'RELAY_URL') && url(env, 'RELAY_URL', ['http:', 'https:']).replace(/\/+$/, ''),
    logLevel: oneOf(env, 'LOG_LEVEL', LOG_LEVELS, 'info'),
    customDomains: customDomainSettings(env, publicUrl(env)),
    chat: chatSettings(env),
    chatApiUrl: chatApiUrl(env),
    rdapBaseUrl: optionalText(env, 'RDAP_BASE_URL') && url(env, 'RDAP_BASE_URL', ['http:', 'https:']),
    rdapBootstrapUrl: rdapBootstrapUrl(env),
    whoisServer: whoisServer(env),
  }
}

/** What links begin with (PUBLIC_URL), without a slash at the end. */
export function publicUrl(env: Env): string {
  const fallback = `http://localhost:${integer(env, 'PORT', 8080, 0, 65_535)}`
  return url(env, 'PUBLIC_URL', ['http:', 'https:'], fallback).replace(/\/+$/, '')
}

/** What a new account gets. */
export const defaultPlan = (env: Env): Plan => oneOf(env, 'DEFAULT_PLAN', PLANS, 'free')

/** The list of registries' RDAP services (RDAP_BOOTSTRAP_URL). */
export const rdapBootstrapUrl = (env: Env): string =>
  url(env, 'RDAP_BOOTSTRAP_URL', ['http:', 'https:'], 'https://data.iana.org/rdap/dns.json')

function whoisServer(env: Env): WhoisServer {
  const value = text(env, 'WHOIS_SERVER', 'whois.iana.org')
  const server = whoisServerOf(value)
  if (server) return server
  throw new ConfigError(`WHOIS_SERVER is "${value}"; write host or host:port`)
}

/** The value may hold a password, so the sentence does not repeat it. */
export function url(env: Env, name: string, protocols: string[], fallback?: string): string {
  const value = text(env, name, fallback)
  const isGood = URL.canParse(value) && protocols.includes(new URL(value).protocol)
  if (!isGood) throw new ConfigError(`${name} has to be a URL that begins with ${protocols.join('// or ')}//`)
  return value
}

/** Files, read once: a process is started anew for another certificate. */
function grpcTls(env: Env): GrpcTls | null {
  const [cert, key, clientCa] = ['GRPC_TLS_CERT', 'GRPC_TLS_KEY', 'GRPC_TLS_CLIENT_CA'].map(name => file(env, name))
  if (cert && key) return { cert, key, clientCa: clientCa ?? null }
  if (cert || key || clientCa) throw new ConfigError('GRPC_TLS_CERT and GRPC_TLS_KEY have to be set together')
  return null
}

/** Without an operator NATS lets everyone do everything, so then it may be on this machine only. */
function operatorFor(env: Env, natsUrls: string[]): NatsOperator | null {
  const operator = natsOperator(env)
  const far = natsUrls.flatMap(hostsOfNats).find(host => !isLoopback(host))
  if (operator !== null || far === undefined) return operator
  throw new ConfigError(
    `NATS is at ${far}, and NATS_OPERATOR_SEED is not set: everyone who reaches it could read and forge results; make one with: npm run admin -- nats seed`,
  )
}

/** NATS_OPERATOR_SEED, null when it is not set. The sentence does not repeat what it holds. */
export function natsOperator(env: Env): NatsOperator | null {
  const seed = optionalText(env, 'NATS_OPERATOR_SEED')
  const operator = seed === null ? null : operatorOf(seed)
  if (seed === null || operator !== null) return operator
  throw new ConfigError('NATS_OPERATOR_SEED has to be a seed of an operator; make one with: npm run admin -- nats seed')
}

function streams(env: Env): StreamSettings {
  const replicas = Number(oneOf(env, 'NATS_REPLICAS', ['1', '3', '5'], '1'))
  const bytes = (name: string) => integer(env, name, 0, 1_048_576, Number.MAX_SAFE_INTEGER) || null
  return { replicas, maxBytes: { RESULTS: bytes('RESULTS_MAX_BYTES'), LATE: bytes('LATE_MAX_BYTES') } }
}

/** The installation's key (SECRET_KEY), 32 bytes. */
export const secretKey = (env: Env): Buffer => keyOf('SECRET_KEY', text(env, 'SECRET_KEY'))

/** The key before, or the next one, while they are changed (SECRET_KEY_OLD); null when it is not set. */
export function olderSecretKey(env: Env): Buffer | null {
  const value = optionalText(env, 'SECRET_KEY_OLD')
  return value === null ? null : keyOf('SECRET_KEY_OLD', value)
}

function keyOf(name: string, value: string): Buffer {
  const key = Buffer.from(value, 'base64')
  if (key.length === 32 && /^[A-Za-z0-9+/]{43}=$/.test(value)) return key
  throw new ConfigError(`${name} has to be 32 bytes in base64; make one with: openssl rand -base64 32`)
}

function screenshotStore(env: Env): ObjectAddress {
  const address = parseObjectAddress(text(env, 'SCREENSHOT_STORE', 'nats'))
  if (address === null) {
    throw new ConfigError('SCREENSHOT_STORE has to be nats or s3://bucket?endpoint=https://host&region=name')
  }
  if (address.kind === 's3') {
    text(env, 'S3_ACCESS_KEY_ID')
    text(env, 'S3_SECRET_ACCESS_KEY')
  }
  return address
}

function smtpUrl(env: Env): string | null {
  const value = optionalText(env, 'SMTP_URL')
  if (value === null || parseSmtpUrl(value)) return value
  throw new ConfigError('SMTP_URL has to be like smtp://user:password@host:587 or smtps://host')
}

function mailFrom(env: Env): string {
  const value = text(env, 'MAIL_FROM', `Picket <picket@${new URL(publicUrl(env)).hostname}>`)
  if (/^([^<>\r\n]*<[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/.test(value)) return value
  throw new ConfigError(`MAIL_FROM is "${value}"; write an address or Picket <picket@example.com>`)
}

function roles(env: Env): Role[] {
  const wanted = list(env, 'ROLES')
  const unknown = wanted.find(role => !(ROLES as readonly string[]).includes(role))
  if (unknown) throw new ConfigError(`ROLES has "${unknown}"; it has to be some of ${ROLES.join(', ')}`)
  return wanted.length === 0 ? [...ROLES] : ROLES.filter(role => wanted.includes(role))
}

function nameserver(address: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([^:]+))(?::\d{1,5})?$/.exec(address) ?? []
  if (ipaddr.isValid(bracketed ?? plain ?? '')) return address
  throw new ConfigError(`NAMESERVERS has "${address}"; write addresses like 192.0.2.53 or 192.0.2.53:5353`)
}

function range(cidr: string): string {
  if (ipaddr.isValid(cidr) || ipaddr.isValidCIDR(cidr)) return cidr
  throw new ConfigError(`TRUSTED_PROXIES has "${cidr}"; write addresses or ranges like 10.0.0.0/8 or fd00::/8`)
}
