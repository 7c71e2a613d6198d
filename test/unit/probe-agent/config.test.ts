import t from 'tap'
import { readConfig } from '../../../probe-agent/config.ts'

const ENOUGH = { FLEET_URL: 'picket.example.com:9090', PROBE_TOKEN: 'prb_abc' }

t.test('A probe needs an address and a token; other settings have defaults', async t => {
  t.match(readConfig(ENOUGH), {
    fleetUrl: 'picket.example.com:9090',
    fleetTls: null,
    token: 'prb_abc',
    maxConcurrentChecks: 1000,
    spoolMaxBytes: 1024 ** 3,
    lateAfterMs: 30_000,
    egressAllow: [],
    selfTestTargets: [{ host: 'picket.example.com', port: 9090 }],
    metricsAddress: null,
  })
})

t.test('An invalid setting is reported in one sentence with the name of the variable', async t => {
  const rows: [Record<string, string>, RegExp][] = [
    [{ FLEET_URL: '' }, /^FLEET_URL is not set$/],
    [{ FLEET_URL: 'https://picket.example.com' }, /^FLEET_URL is "https.*host:port/],
    [{ FLEET_URL: 'host:70000' }, /^FLEET_URL is/],
    [{ PROBE_TOKEN: 'secret' }, /^PROBE_TOKEN must be an enrolment token, which begins with prb_$/],
    [{ MAX_CONCURRENT_CHECKS: '0' }, /^MAX_CONCURRENT_CHECKS is "0"/],
    [{ SELF_TEST_TARGETS: '9.9.9.9' }, /^SELF_TEST_TARGETS is "9.9.9.9"/],
    [{ METRICS_ADDRESS: '9464' }, /^METRICS_ADDRESS is "9464"; it must be host:port/],
    [{ LOG_LEVEL: 'loud' }, /^LOG_LEVEL is "loud"/],
    [{ FLEET_TLS: 'yes' }, /^FLEET_TLS is "yes"/],
    [{ FLEET_TLS_CA: '/nowhere' }, /^FLEET_TLS_CA is "\/nowhere", which is not readable: ENOENT$/],
    [{ FLEET_TLS_CERT: 'package.json' }, /^FLEET_TLS_CERT and FLEET_TLS_KEY must be set together$/],
  ]
  for (const [env, message] of rows) t.throws(() => readConfig({ ...ENOUGH, ...env }), { message })
})

t.test('An IPv6 address is written in brackets', async t => {
  const targets = { SELF_TEST_TARGETS: '[2620:fe::fe]:53, 9.9.9.9:53' }
  const config = readConfig({ ...ENOUGH, ...targets, FLEET_URL: '[::1]:9090', METRICS_ADDRESS: '[::]:9464' })
  t.equal(config.fleetUrl, '[::1]:9090')
  t.same(config.metricsAddress, { host: '::', port: 9464 })
  t.same(config.selfTestTargets, [
    { host: '2620:fe::fe', port: 53 },
    { host: '9.9.9.9', port: 53 },
  ])
})
