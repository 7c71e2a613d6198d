import ipaddr from 'ipaddr.js'
import {
  ConfigError,
  type Env,
  readEnum,
  readFileVariable,
  readInteger,
  readList,
  readOptionalText,
  readText,
  readUrl,
} from '../shared/process/env.ts'
import type { MailRules } from './accounts/email/daily-limits/limits.ts'
import { readMailSettings } from './accounts/email/daily-limits/settings.ts'
import { readLimitSettings } from './accounts/plans/limit-settings.ts'
import { type InstallationLimits, PLANS, type PlanName } from './accounts/plans/plans.ts'
import { REGISTRATION_MODES, type RegistrationMode } from './accounts/registration/registration-mode.ts'
import { DEFAULT_BURST } from './alerting/deliveries/limits/pace.ts'
import { parseSmtpUrl } from './foundation/platform/mail/smtp-url.ts'
import { type NatsSettings, readNatsSettings } from './foundation/platform/nats/settings.ts'
import type { GrpcTls } from './foundation/platform/network/grpc-server.ts'
import { parseAllowedHost } from './foundation/web/server/accepted-hosts.ts'
import { type ChatSettings, readChatApiUrl, readChatSettings } from './integrations/chat/settings.ts'
import {
  type ProbeInstallationSettings,
  parseProbeInstallationSettings,
} from './monitoring/fleet/probes/installation/settings.ts'
import { readScreenshotSettings, type ScreenshotSettings } from './monitoring/screenshots/settings.ts'
import { type RetentionSettings, readRetentionSettings } from './operations/retention/settings.ts'
import { type CustomDomainSettings, parseCustomDomainSettings } from './pages/custom-domains/settings.ts'
import { parseWhoisServer, type WhoisServer } from './verdict/expiry/domains/whois.ts'

/** Roles that run in one process or in several (docs/design/loops.md#roles). */
export const PROCESS_ROLES = ['api', 'fleet', 'verdict', 'record', 'deliver', 'schedule'] as const
export type ProcessRole = (typeof PROCESS_ROLES)[number]

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

export type Config = NatsSettings & {
  databaseUrl: string
  clickhouseUrl: string
  host: string
  /** 0: any free port; the log line "ready" contains it */
  port: number
  /** address of the operator port; port 0 as above */
  operatorHost: string
  operatorPort: number
  grpcPort: number
  /** null: probes connect in plain text */
  grpcTls: GrpcTls | null
  /** any client of the gRPC port may list its services */
  grpcReflection: boolean
  /** concurrent connections to the gRPC port from one client address */
  grpcConnectionsPerAddress: number
  /** whether the page of the installation (/trust) is public */
  trustPage: boolean
  buildId: string | null
  secretKey: Buffer
  /** the previous key, which still decrypts during a key rotation; null: not set */
  olderSecretKey: Buffer | null
  /** the base URL of links, without a trailing slash */
  publicUrl: string
  probeInstallation: ProbeInstallationSettings
  egressAllow: string[]
  /** the same for webhooks of visitors of status pages */
  visitorEgressAllow: string[]
  /** address:port of components of this installation that no request of a tenant may reach */
  egressDeny: string[]
  /** DNS servers as address:port; empty: those of the system */
  nameservers: string[]
  trustedProxies: string[]
  /** accepted hosts in addition to those of PUBLIC_URL and CUSTOM_DOMAIN_TARGET */
  allowedHosts: string[]
  roles: ProcessRole[]
  defaultPlan: PlanName
  /** who may create accounts */
  registration: RegistrationMode
  limits: InstallationLimits
  /** recipients and daily limits of mails */
  mailRules: MailRules
  /** requests of one event to one host that are sent without delay */
  webhookBurst: number
  rateLimitPerMinute: number
  /** of all keys of a project together */
  rateLimitPerProject: number
  /** pings for each ping URL */
  pingsPerMinute: number
  /** how often the feed of a vendor is read */
  vendorIntervalSeconds: number
  /** `POST /monitors/test`, for each project */
  testsPerMinute: number
  /** the number of days after which rows are deleted */
  retention: RetentionSettings
  screenshots: ScreenshotSettings
  /** the mail server; null: channels of type email send nothing */
  smtpUrl: string | null
  /** `Name <address>` or an address alone */
  mailFrom: string
  /** an external relay for webhooks with relay, without a trailing slash; null: the built-in relay */
  relayUrl: string | null
  logLevel: string
  customDomains: CustomDomainSettings
  /** the chat app; null: not configured */
  chat: ChatSettings | null
  /** the API of the chat provider */
  chatApiUrl: string
  /** the RDAP server for all domains; null: the bootstrap file names the servers */
  rdapBaseUrl: string | null
  rdapBootstrapUrl: string
  whoisServer: WhoisServer
}

/** Throws a ConfigError that names the variable, its value and the accepted values. */
export function readConfig(env: Env): Config {
  const port = readInteger(env, 'PORT', 8080, 0, 65_535)
  const registration = readEnum(env, 'REGISTRATION', REGISTRATION_MODES, 'open')
  const operatorPort = readInteger(env, 'OPERATOR_PORT', 8081, 0, 65_535)
  if (operatorPort !== 0 && operatorPort === port) {
    throw new ConfigError(`PORT and OPERATOR_PORT are both ${port}; they must differ`)
  }
  const publicUrl = readPublicUrl(env)
  const [grpcPort, grpcTls] = [readInteger(env, 'GRPC_PORT', 50_051, 0, 65_535), readGrpcTls(env)]
  const keyLimit = readInteger(env, 'RATE_LIMIT_PER_MINUTE', 600, 1, 1_000_000)
  return {
    databaseUrl: readUrl(env, 'DATABASE_URL', ['postgres:', 'postgresql:']),
    ...readNatsSettings(env),
    clickhouseUrl: readUrl(env, 'CLICKHOUSE_URL', ['http:', 'https:']),
    host: readText(env, 'HOST', '127.0.0.1'),
    operatorHost: readText(env, 'OPERATOR_HOST', '127.0.0.1'),
    ...{ port, operatorPort },
    ...{ grpcPort, grpcTls },
    grpcReflection: readEnum(env, 'GRPC_REFLECTION', ['on', 'off'], 'off') === 'on',
    grpcConnectionsPerAddress: readInteger(env, 'GRPC_CONNECTIONS_PER_ADDRESS', 250, 1, 1_000_000),
    buildId: readOptionalText(env, 'BUILD_ID'),
    trustPage: readEnum(env, 'TRUST_PAGE', ['on', 'off'], 'off') === 'on',
    ...{ secretKey: readSecretKey(env), olderSecretKey: readOlderSecretKey(env) },
    publicUrl,
    probeInstallation: parseProbeInstallationSettings(env, { publicUrl, grpcPort, hasTls: grpcTls !== null }),
    egressAllow: readList(env, 'EGRESS_ALLOW'),
    visitorEgressAllow: readList(env, 'VISITOR_EGRESS_ALLOW'),
    egressDeny: readList(env, 'EGRESS_DENY'),
    nameservers: readList(env, 'NAMESERVERS').map(parseNameserver),
    allowedHosts: readList(env, 'ALLOWED_HOSTS').map(parseAllowedHost),
    trustedProxies: readList(env, 'TRUSTED_PROXIES').map(parseRange),
    roles: readRoles(env),
    defaultPlan: readDefaultPlan(env),
    registration,
    limits: readLimitSettings(env),
    webhookBurst: readInteger(env, 'WEBHOOK_BURST', DEFAULT_BURST, DEFAULT_BURST, 1_000_000),
    mailRules: readMailSettings(env, registration),
    rateLimitPerMinute: keyLimit,
    // as much as five keys at their limit
    rateLimitPerProject: readInteger(env, 'RATE_LIMIT_PER_PROJECT', keyLimit * 5, 1, 10_000_000),
    vendorIntervalSeconds: readInteger(env, 'VENDOR_INTERVAL_SECONDS', 60, 1, 86_400),
    pingsPerMinute: readInteger(env, 'PINGS_PER_MINUTE', 1_200, 1, 1_000_000),
    testsPerMinute: readInteger(env, 'TESTS_PER_MINUTE', 30, 1, 1_000_000),
    retention: readRetentionSettings(env),
    screenshots: readScreenshotSettings(env),
    ...{ smtpUrl: readSmtpUrl(env), mailFrom: readMailFrom(env) },
    relayUrl: readOptionalText(env, 'RELAY_URL') && readUrl(env, 'RELAY_URL', ['http:', 'https:']).replace(/\/+$/, ''),
    logLevel: readEnum(env, 'LOG_LEVEL', LOG_LEVELS, 'info'),
    customDomains: parseCustomDomainSettings(env, publicUrl),
    ...{ chat: readChatSettings(env), chatApiUrl: readChatApiUrl(env) },
    rdapBaseUrl: readOptionalText(env, 'RDAP_BASE_URL') && readUrl(env, 'RDAP_BASE_URL', ['http:', 'https:']),
    rdapBootstrapUrl: readRdapBootstrapUrl(env),
    whoisServer: readWhoisServer(env),
  }
}

/** The base URL of links (PUBLIC_URL), without a trailing slash. It has no path, because all routes are at the root. */
export function readPublicUrl(env: Env): string {
  const fallback = `http://localhost:${readInteger(env, 'PORT', 8080, 0, 65_535)}`
  const publicUrl = readUrl(env, 'PUBLIC_URL', ['http:', 'https:'], fallback).replace(/\/+$/, '')
  const { href, origin } = new URL(publicUrl)
  if (href === `${origin}/`) return publicUrl
  // its value may contain a password
  throw new ConfigError('PUBLIC_URL must be like https://picket.example.com, without a user, path, query or fragment')
}

/** The plan of a new account. */
export const readDefaultPlan = (env: Env): PlanName => readEnum(env, 'DEFAULT_PLAN', PLANS, 'free')

/** The URL of the list of RDAP services (RDAP_BOOTSTRAP_URL). */
export const readRdapBootstrapUrl = (env: Env): string =>
  readUrl(env, 'RDAP_BOOTSTRAP_URL', ['http:', 'https:'], 'https://data.iana.org/rdap/dns.json')

function readWhoisServer(env: Env): WhoisServer {
  const value = readText(env, 'WHOIS_SERVER', 'whois.iana.org')
  const server = parseWhoisServer(value)
  if (server) return server
  throw new ConfigError(`WHOIS_SERVER is "${value}"; it must be host or host:port`)
}

/** Reads the files once: a new certificate needs a restart of the process. */
function readGrpcTls(env: Env): GrpcTls | null {
  const [cert, key, clientCa] = ['GRPC_TLS_CERT', 'GRPC_TLS_KEY', 'GRPC_TLS_CLIENT_CA'].map(name =>
    readFileVariable(env, name),
  )
  if (cert && key) return { cert, key, clientCa: clientCa ?? null }
  if (cert || key || clientCa) throw new ConfigError('GRPC_TLS_CERT and GRPC_TLS_KEY must be set together')
  return null
}

/** The key of the installation (SECRET_KEY), 32 bytes. */
export const readSecretKey = (env: Env): Buffer => parseKey('SECRET_KEY', readText(env, 'SECRET_KEY'))

/** The previous key during a key rotation (SECRET_KEY_OLD); null when it is not set. */
export function readOlderSecretKey(env: Env): Buffer | null {
  const value = readOptionalText(env, 'SECRET_KEY_OLD')
  return value === null ? null : parseKey('SECRET_KEY_OLD', value)
}

function parseKey(name: string, value: string): Buffer {
  const key = Buffer.from(value, 'base64')
  if (key.length === 32 && /^[A-Za-z0-9+/]{43}=$/.test(value)) return key
  throw new ConfigError(`${name} must be 32 bytes in base64; create one with: openssl rand -base64 32`)
}

function readSmtpUrl(env: Env): string | null {
  const value = readOptionalText(env, 'SMTP_URL')
  if (value === null || parseSmtpUrl(value)) return value
  throw new ConfigError('SMTP_URL must be like smtp://user:password@host:587 or smtps://host')
}

function readMailFrom(env: Env): string {
  const value = readText(env, 'MAIL_FROM', `Picket <picket@${new URL(readPublicUrl(env)).hostname}>`)
  if (/^([^<>\r\n]*<[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/.test(value)) return value
  throw new ConfigError(`MAIL_FROM is "${value}"; it must be an address or like Picket <picket@example.com>`)
}

function readRoles(env: Env): ProcessRole[] {
  const wanted = readList(env, 'ROLES')
  const unknown = wanted.find(role => !(PROCESS_ROLES as readonly string[]).includes(role))
  if (unknown) throw new ConfigError(`ROLES contains "${unknown}"; accepted are ${PROCESS_ROLES.join(', ')}`)
  return wanted.length === 0 ? [...PROCESS_ROLES] : PROCESS_ROLES.filter(role => wanted.includes(role))
}

function parseNameserver(address: string): string {
  const [, bracketed, plain, port = '53'] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(address) ?? []
  const isPort = Number(port) >= 1 && Number(port) <= 65_535
  if (isPort && ipaddr.isValid(bracketed ?? plain ?? '')) return address
  throw new ConfigError(
    `NAMESERVERS contains "${address}"; use addresses like 192.0.2.53 or 192.0.2.53:5353, with a port from 1 to 65535`,
  )
}

function parseRange(cidr: string): string {
  if (ipaddr.isValid(cidr) || ipaddr.isValidCIDR(cidr)) return cidr
  throw new ConfigError(`TRUSTED_PROXIES contains "${cidr}"; use addresses or ranges like 10.0.0.0/8 or fd00::/8`)
}
