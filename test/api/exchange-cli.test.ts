import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { shareApi } from '../support/api-server.ts'
import { runCli } from '../support/cli.ts'

const FIXTURES = join(import.meta.dirname, '../fixtures/exchange')
const api = await shareApi()
const { key } = await api.tenant()
const folder = mkdtempSync(join(tmpdir(), 'picket-cli-'))

const picket = (args: string[], env: Record<string, string> = {}, input = '') =>
  runCli(args, { PICKET_URL: api.origin, PICKET_API_KEY: key, ...env }, { input })

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const shop = file(
  'shop.yaml',
  `version: 1
alert_channels:
  - name: Ops
    type: webhook
    config: { url: "https://hooks.example.com/\${TEAM}" }
monitors:
  - name: Shop
    type: http
    url: https://shop.example.com/
    rules:
      - channel: Ops
`,
)

t.test('picket --help lists all commands, and an unknown command is refused', async t => {
  t.match(await picket(['--help'], { PICKET_API_KEY: '' }), { code: 0, out: /picket plan <file>/ })
  t.match(await picket([]), { code: 1, out: /picket plan <file>/ })
  t.match(await picket(['destroy']), { code: 1, err: /^Unknown command "destroy"/ })
  t.match(await picket(['plan']), { code: 1, err: /needs one file/ })
  t.match(await picket(['plan', shop, '--force']), { code: 1, err: /'--force'/ })
  t.match(await picket(['export', '--prune']), { code: 1, err: /does not accept --prune/ })
})

t.test('plan shows changes and exits with 2, apply makes them, and then plan exits with 0', async t => {
  const planned = await picket(['plan', shop, '--env'], { TEAM: 'ops' })
  t.equal(planned.code, 2, planned.err)
  t.match(planned.out, /^\+ monitor Shop$/m)
  t.match(planned.out, /^ {4}url: https:\/\/shop\.example\.com\/$/m)
  t.match(planned.out, /^\+ alert rule Shop → Ops$/m)
  t.match(planned.out, /^3 to create, 0 to change, 0 to delete/m)
  t.notOk(planned.out.includes('\u001b'), 'no colours without a terminal')

  t.match(await picket(['apply', shop, '--env'], { TEAM: 'ops' }), { code: 1, err: /--yes/ })
  const applied = await picket(['apply', shop, '--env', '--yes'], { TEAM: 'ops' })
  t.match(applied, { code: 0, out: /Done: 3 created/ })
  t.match(await picket(['plan', shop, '--env'], { TEAM: 'ops' }), { code: 0, out: /3 unchanged/ })
  t.match(await picket(['apply', shop, '--env'], { TEAM: 'ops' }), { code: 0 }, 'no confirmation without changes')

  const changed = readFileSync(shop, 'utf8').replace(/\$\{TEAM\}/, 'night')
  const again = await picket(['plan', '-', '--prune'], {}, changed)
  t.match(again, { code: 2, out: /^~ alert channel Ops$/m })
})

t.test('--env inserts texts unchanged, and without it a variable gets a note', async t => {
  const SECRET = `"'\\t #: {[&*!|>%@\`\n\${TEAM} é`
  const text = `version: 1
alert_channels:
  - name: Odd # not \${THIS}
    type: webhook
    config: { url: https://hooks.example.com/odd, headers: { X-Api-Key: "\${KEY}", X-Note: "a \${KEY}" } }
monitors:
  - { name: Odd, type: http, url: https://odd.example.com/, method: POST, rules: [], body: "<\${SECRET}>" }
`
  const path = file('odd.yaml', text)
  const env = { SECRET, KEY: '0123' }
  t.match(await picket(['apply', path, '--env', '--yes'], env), { code: 0 })
  t.match(await picket(['plan', path, '--env'], env), { code: 0 }, 'the stored text is the inserted text')
  const { monitors } = JSON.parse((await picket(['export', '--format', 'json'])).out)
  t.equal(monitors.find(({ name }: { name: string }) => name === 'Odd').body, `<${SECRET}>`)
  t.match(await picket(['plan', path]), {
    code: 2,
    err: /^Warning: the file contains \$\{THIS\}, \$\{KEY\}, \$\{SECRET\}, which is only replaced with --env/,
  })
})

t.test('export prints a file without changes for plan, as YAML and as JSON', async t => {
  for (const format of ['yaml', 'json']) {
    const exported = await picket(['export', '--format', format])
    t.equal(exported.code, 0)
    t.match(exported.out, format === 'yaml' ? /^version: 1$/m : /^\{\n {2}"version": 1,/)
    t.match(await picket(['plan', file(`all.${format}`, exported.out)]), { code: 0 })
  }
})

t.test('Files of other products are converted with --from, with warnings', async t => {
  const kuma = await picket(['plan', join(FIXTURES, 'uptime-kuma-backup.json'), '--from', 'uptime-kuma'])
  t.match(kuma, { code: 2, out: /^! monitorList\[9\]: Firewall: upside down mode/m })
  const gatus = await picket(['plan', join(FIXTURES, 'gatus-example.yaml'), '--from', 'gatus'])
  t.match(gatus, { code: 2, out: /^\+ monitor front-end$/m })
})

t.test('Every error is one message and exit code 1', async t => {
  const broken = file('broken.yaml', 'version: 1\nmonitors:\n  - name: x\n    type: carrier-pigeon\n    colour: red\n')
  const rows: [string[], Record<string, string>, RegExp][] = [
    [['plan', shop], { PICKET_API_KEY: '' }, /^Set PICKET_API_KEY/],
    [['plan', shop], { PICKET_API_KEY: 'svc_wrong' }, /^PICKET_API_KEY is not a valid API key of this server/],
    [['plan', shop], { PICKET_URL: 'picket' }, /^PICKET_URL is not a URL such as/],
    [['plan', shop], { PICKET_URL: 'http://127.0.0.1:9' }, /does not respond \(.*\)\. Check PICKET_URL/],
    [['plan', shop], { PICKET_URL: `${api.origin}/healthz` }, /Check PICKET_URL|not found/],
    [['plan', join(folder, 'none.yaml')], {}, /the file does not exist/],
    [['plan', shop, '--env'], {}, /environment variable TEAM, which is not set/],
    [['plan', file('big.yaml', `version: 1\n#${'x'.repeat(5 << 20)}`)], {}, /is larger than 1 MiB. Split it/],
    [['plan', file('bad.env.yaml', 'a: [x\nb: "'), '--env'], {}, /bad.env.yaml is not valid YAML in line 2/],
    [['plan', file('shy.yaml', 'a: *\u009b2J')], {}, /unidentified alias "\?2J"/],
    [['plan', join(FIXTURES, 'uptime-kuma-backup.json')], {}, /looks like a file of uptime-kuma: set from=uptime-kuma/],
    [['plan', join(FIXTURES, 'gatus-example.yaml')], {}, /looks like a file of gatus: set from=gatus/],
    [['plan', shop, '--from', 'nagios'], {}, /from must be one of picket, uptime-kuma, gatus/],
    [
      ['plan', broken],
      {},
      /Refused \(400\), nothing was changed:\n {2}monitors\[0\]\.colour is not.* \(x\)\n[\s\S]* {2}monitors\[0\]\.type must be one of/,
    ],
    [['plan', file('bad.yaml', 'a: [')], {}, /not valid YAML in line 1/],
  ]
  for (const [args, env, sentence] of rows) {
    const { code, out, err } = await picket(args, env)
    t.match(err, sentence)
    t.same([code, out], [1, ''], `${sentence}`)
    t.notMatch(err, /\n +at /, 'no stack')
  }
  t.match(
    await picket(['export'], { PICKET_URL: `${api.origin}/api/v1/` }),
    { code: 0 },
    'the full base address is accepted as well',
  )
})
