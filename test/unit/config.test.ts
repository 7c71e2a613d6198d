import t from 'tap'
import { readConfig } from '../../control-plane/config.ts'
import { ConfigError } from '../../shared/process/env.ts'

const NEEDED = {
  DATABASE_URL: 'postgres://picket:hunter2@db/picket',
  NATS_URL: 'nats://127.0.0.1:4222',
  CLICKHOUSE_URL: 'http://clickhouse:8123/picket',
  SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
}

t.test('Three addresses and a secret key are sufficient', async t => {
  t.match(readConfig(NEEDED), {
    port: 8080,
    operatorHost: '127.0.0.1',
    operatorPort: 8081,
    grpcPort: 50_051,
    host: '127.0.0.1',
    publicUrl: 'http://localhost:8080',
    probeNatsUrl: 'nats://127.0.0.1:4222',
    roles: ['api', 'fleet', 'verdict', 'record', 'deliver', 'schedule'],
    defaultPlan: 'free',
    registration: 'open',
    rateLimitPerMinute: 600,
    smtpUrl: null,
    mailFrom: 'Picket <picket@localhost>',
    relayUrl: null,
    retention: {
      deliveries: 30,
      events: 90,
      explanations: 400,
      transitions: 800,
      incidents: 800,
      deleted: 30,
      probes: 180,
    },
    logLevel: 'info',
  })
})

t.test('A wrong value is reported in one sentence with the name of the variable', async t => {
  const rows: [Record<string, string>, RegExp][] = [
    [{ DATABASE_URL: '' }, /^DATABASE_URL is not set$/],
    [{ DATABASE_URL: 'mysql://u:hunter2@db' }, /^DATABASE_URL must be a URL that begins with postgres:/],
    [{ CLICKHOUSE_URL: 'clickhouse' }, /^CLICKHOUSE_URL must be a URL that begins with http:/],
    [{ PUBLIC_URL: 'ftp://x' }, /^PUBLIC_URL must be a URL/],
    ...['x/picket', 'x/?a=/', 'x?', 'x/#/', 'me:hunter2@x'].map((rest): [Record<string, string>, RegExp] => [
      { PUBLIC_URL: `https://${rest}` },
      /^PUBLIC_URL must be like https:\/\/picket.example.com, without a user, path, query or fragment$/,
    ]),
    ...['192.0.2.53:0', '192.0.2.53:65536', '[2001:db8::53]:99999'].map((one): [Record<string, string>, RegExp] => [
      { NAMESERVERS: `192.0.2.1,${one}` },
      /^NAMESERVERS contains "[^,]+:(0|65536|99999)"; .* with a port from 1 to 65535$/,
    ]),
    [{ NATS_REPLICAS: '2' }, /^NATS_REPLICAS is "2"; it must be one of 1, 3, 5$/],
    [{ RESULTS_MAX_BYTES: '16GB' }, /^RESULTS_MAX_BYTES is "16GB"; it must be a whole number from 1048576/],
    [{ PORT: '80a' }, /^PORT is "80a"/],
    [{ GRPC_PORT: '70000' }, /^GRPC_PORT is "70000"/],
    [{ SECRET_KEY: 'short' }, /^SECRET_KEY must be 32 bytes in base64/],
    [{ SECRET_KEY: '' }, /^SECRET_KEY is not set/],
    [{ NATS_OPERATOR_SEED: 'hunter2' }, /^NATS_OPERATOR_SEED must be a seed of an operator; create one with/],
    [{ GRPC_TLS_CERT: '/nowhere' }, /^GRPC_TLS_CERT is "\/nowhere", which is not readable: ENOENT/],
    [{ GRPC_TLS_CERT: 'package.json' }, /^GRPC_TLS_CERT and GRPC_TLS_KEY must be set together/],
    [{ GRPC_TLS_CLIENT_CA: 'package.json' }, /^GRPC_TLS_CERT and GRPC_TLS_KEY must be set together/],
    [{ ROLES: 'api,mailer' }, /^ROLES contains "mailer"/],
    [{ DEFAULT_PLAN: 'gold' }, /^DEFAULT_PLAN is "gold"/],
    [{ REGISTRATION: 'off' }, /^REGISTRATION is "off"; it must be one of open, invited, closed$/],
    [{ TRUSTED_PROXIES: '10.0.0.0/33' }, /^TRUSTED_PROXIES contains "10.0.0.0\/33"/],
    [{ RELAY_URL: 'relay.example.com' }, /^RELAY_URL must be a URL that begins with http/],
    [{ SMTP_URL: 'http://mail.example.com' }, /^SMTP_URL must be like smtp:\/\/user:password@host:587/],
    [{ SMTP_URL: 'smtp://u:hunter2@mail.example.com?tls=none' }, /^SMTP_URL must be like/],
    [{ MAIL_FROM: 'Picket' }, /^MAIL_FROM is "Picket"/],
    [{ MAIL_FROM: 'a@b.example\r\nBcc: c@d.example' }, /^MAIL_FROM is /],
    [{ RATE_LIMIT_PER_MINUTE: '0' }, /^RATE_LIMIT_PER_MINUTE is "0"/],
    [{ RETENTION_TRANSITIONS_DAYS: '30' }, /^RETENTION_TRANSITIONS_DAYS is "30"/],
    [{ RETENTION_DELETED_DAYS: '0' }, /^RETENTION_DELETED_DAYS is "0"/],
    [{ SCREENSHOT_STORE: 's3://' }, /^SCREENSHOT_STORE must be nats or s3:\/\/bucket/],
    [{ SCREENSHOT_STORE: 's3://shots' }, /^S3_ACCESS_KEY_ID is not set/],
    [{ LOG_LEVEL: 'loud' }, /^LOG_LEVEL is "loud"/],
    [{ EMAIL_CONFIRMATION: 'off' }, /^EMAIL_CONFIRMATION=off needs REGISTRATION=invited or REGISTRATION=closed$/],
    [{ MAILS_PER_ORGANIZATION: '10/20' }, /^MAILS_PER_ORGANIZATION is "10\/20"; must be one whole number, or three/],
    [{ MAILS_PER_ORGANIZATION: 'none' }, /^MAILS_PER_ORGANIZATION is "none"/],
  ]
  for (const [change, sentence] of rows) {
    try {
      readConfig({ ...NEEDED, ...change })
      t.fail(`${JSON.stringify(change)} was taken`)
    } catch (error) {
      t.ok(error instanceof ConfigError)
      t.match((error as Error).message, sentence)
      t.notMatch((error as Error).message, 'hunter2')
    }
  }
})

t.test('Roles keep their order, and links have no double slash', async t => {
  const config = readConfig({ ...NEEDED, ROLES: 'fleet, api', PUBLIC_URL: 'https://picket.example/' })
  t.same(config.roles, ['api', 'fleet'])
  t.equal(config.publicUrl, 'https://picket.example')
  t.equal(readConfig({ ...NEEDED, PUBLIC_URL: 'http://[::1]:8080' }).publicUrl, 'http://[::1]:8080')
})

t.test('DNS servers may have any port', async t => {
  const value = '192.0.2.53, 192.0.2.53:1, 192.0.2.53:65535, [2001:db8::53]:5353, [2001:db8::53]'
  t.same(readConfig({ ...NEEDED, NAMESERVERS: value }).nameservers, value.split(', '))
})

t.test('Addresses need no confirmation when registration is not open or mail is only shown', async t => {
  const confirms = (change: Record<string, string>) =>
    readConfig({ ...NEEDED, ...change }).mailRules.requiresConfirmation
  t.equal(confirms({}), true)
  t.equal(confirms({ REGISTRATION: 'closed' }), true)
  t.equal(confirms({ REGISTRATION: 'closed', EMAIL_CONFIRMATION: 'off' }), false)
  t.equal(confirms({ REGISTRATION: 'invited', EMAIL_CONFIRMATION: 'off' }), false)
  t.equal(confirms({ SMTP_IS_LOCAL: 'yes' }), false)
})

t.test('A limit is one number for all plans, or one for each plan', async t => {
  const limits = (value: string) =>
    readConfig({ ...NEEDED, MAILS_PER_ORGANIZATION: value }).mailRules.limits.alert.organization
  t.same(limits('5'), { free: 5, pro: 5, business: 5 })
  t.same(limits('1/2/3'), { free: 1, pro: 2, business: 3 })
})
