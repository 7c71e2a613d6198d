import { createHash, randomBytes } from 'node:crypto'
import { REGIONS } from '../../../../shared/checks/check.ts'
import { createLogin } from '../../../../shared/nats/login.ts'
import { createNkey, decodeSeed, deriveNkey, type Nkey } from '../../../../shared/nats/nkeys.ts'
import { buildInboxPrefix, PROBE_SUBJECTS, probeSubjects } from '../../../../shared/nats/subjects.ts'

/**
 * NATS in operator mode (docs/design/storage.md#operator-mode): every key is derived from the operator's seed, every
 * permission is a signed text.
 *
 * The probes of each region are a separate account, which imports only the subjects on which they publish. Permissions in
 * one common account would not suffice: JetStream sends its acks to any reply subject that a publisher names, so a probe
 * that may publish one subject could purge a stream, or write into another region, by means of an ack.
 */
export type NatsOperator = {
  /** the control plane's account: it owns the streams and has all permissions */
  main: Nkey
  /** the system account, through which accounts are sent to the servers */
  system: Nkey
  /** by region */
  probes: ReadonlyMap<string, Nkey>
  key: Nkey
  raw: Buffer
}

/** A new seed for NATS_OPERATOR_SEED. */
export const generateOperatorSeed = (): string => createNkey('operator', randomBytes(32)).seed

/** Null when the text is not a seed of an operator. */
export function parseOperatorSeed(seed: string): NatsOperator | null {
  const raw = decodeSeed('operator', seed)
  if (raw === null) return null
  const account = (purpose: string) => deriveNkey(raw, 'account', purpose)
  return {
    raw,
    key: createNkey('operator', raw),
    main: account('main'),
    system: account('system'),
    probes: new Map(REGIONS.map(region => [region, account(`probes ${region}`)])),
  }
}

/** The user of one probe. It is the same in every process, so that any of them can revoke it. */
const deriveProbeUser = ({ raw }: NatsOperator, probeId: string): Nkey => deriveNkey(raw, 'user', `probe ${probeId}`)

const UNLIMITED = { data: -1, payload: -1, subs: -1 }
const ACCOUNT_LIMITS = { ...UNLIMITED, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 }
const JETSTREAM_LIMITS = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1, max_ack_pending: -1 }
/** `revocations` name a user and until when its credentials are void. A revoked probe never returns with the same id. */
const FAR_FUTURE_S = 4_102_444_800

/** The signed texts about the accounts for the servers. `revoked`: ids of revoked probes, by region. */
export function buildAccountJwts(
  operator: NatsOperator,
  nowS: number,
  revoked: ReadonlyMap<string, readonly string[]> = new Map(),
): { publicKey: string; jwt: string }[] {
  const { key, main, system } = operator
  const account = ({ publicKey }: Nkey, name: string, nats: object) => ({
    publicKey,
    jwt: signJwt(key, nowS, { sub: publicKey, name, nats: { ...nats, type: 'account', version: 2 } }),
  })
  const exports = PROBE_SUBJECTS.map(subject => ({ name: subject, subject, type: 'service' }))
  return [
    account(system, 'picket-system', { limits: ACCOUNT_LIMITS }),
    account(main, 'picket', { limits: { ...ACCOUNT_LIMITS, ...JETSTREAM_LIMITS }, exports }),
    ...[...operator.probes].map(([region, own]) =>
      account(own, `picket-probes-${region}`, {
        limits: ACCOUNT_LIMITS,
        imports: probeSubjects(region).map(subject => ({
          name: subject,
          subject,
          account: main.publicKey,
          type: 'service',
        })),
        revocations: Object.fromEntries(
          (revoked.get(region) ?? []).map(id => [deriveProbeUser(operator, id).publicKey, FAR_FUTURE_S]),
        ),
      }),
    ),
  ]
}

/** A credential that lets a probe publish on its region's subjects and receive the acks. Returns the text of a creds file. */
export function buildProbeCredentials(
  operator: NatsOperator,
  { probeId, region }: { probeId: string; region: string },
  { nowS, endsS }: { nowS: number; endsS: number },
): string {
  const account = operator.probes.get(region)
  if (!account) throw new Error(`the region "${region}" has no account`)
  const user = deriveProbeUser(operator, probeId)
  const nats = {
    ...UNLIMITED,
    // the inbox of the acks is one subscription
    subs: 10,
    pub: { allow: probeSubjects(region) },
    sub: { allow: [`${buildInboxPrefix(probeId)}.>`] },
    type: 'user',
    version: 2,
  }
  const jwt = signJwt(account, nowS, { sub: user.publicKey, name: probeId, exp: endsS, nats })
  return formatCreds(jwt, user)
}

/** The login of a new user with all permissions in its account. The key never leaves this process. */
export function createOwnLogin(account: Nkey, name: string, nowS: number): ReturnType<typeof createLogin> {
  const user = createNkey('user', randomBytes(32))
  const nats = { ...UNLIMITED, type: 'user', version: 2 }
  return createLogin(signJwt(account, nowS, { sub: user.publicKey, name, nats }), user)
}

/**
 * The part of a NATS server's configuration that describes the operator and its accounts. It contains no secrets.
 * `directory` is where the server stores later versions of the accounts. The text never changes, so a restart of the
 * server does not undo them.
 */
export function buildServerConfiguration(operator: NatsOperator, directory: string): string {
  const claims = { sub: operator.key.publicKey, name: 'picket', nats: { type: 'operator', version: 2 } }
  const system = operator.system.publicKey
  const preload = buildAccountJwts(operator, FIXED_ISSUED_AT_S).map(({ publicKey, jwt }) => `  ${publicKey}: ${jwt}`)
  return `operator: ${signJwt(operator.key, FIXED_ISSUED_AT_S, { ...claims, nats: { ...claims.nats, system_account: system } })}
system_account: ${system}
resolver: { type: full, dir: ${JSON.stringify(directory)}, allow_delete: false, interval: "2m" }
resolver_preload: {
${preload.join('\n')}
}
`
}

/** A server keeps the newer of two texts about an account: any text sent while it runs is newer than this. */
const FIXED_ISSUED_AT_S = 1_577_836_800

type Claims = { sub: string; name: string; exp?: number; nats: object }

function signJwt(issuer: Nkey, nowS: number, claims: Claims): string {
  const body = { ...claims, iss: issuer.publicKey, iat: nowS, aud: 'NATS' }
  const jti = createHash('sha256').update(JSON.stringify(body)).digest('base64url')
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part({ ...body, jti })}`
  return `${text}.${issuer.sign(Buffer.from(text)).toString('base64url')}`
}

const formatCreds = (jwt: string, user: Nkey): string => `-----BEGIN NATS USER JWT-----
${jwt}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
${user.seed}
------END USER NKEY SEED------
`
