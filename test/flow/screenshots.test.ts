import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createSigner } from '../../control-plane/foundation/platform/crypto/signer.ts'
import { signScreenshotLink } from '../../control-plane/monitoring/screenshots/signed-link.ts'
import { openPictures } from '../support/browser.ts'
import { chromiumPath } from '../support/chromium-path.ts'
import { startPicket } from '../support/picket.ts'
import { startTarget, type Target } from '../support/target.ts'
import { waitFor } from '../support/wait.ts'

// takes about 40 s

const key = randomBytes(32)
/** A machine that runs other tests at the same time leaves little capacity to a browser. */
const UNHURRIED = { SCREENSHOT_TIMEOUT_SECONDS: '120', SCREENSHOT_NO_SANDBOX: '1' }
const [picket, pictures] = await Promise.all([
  startPicket(t, { regions: ['eu-west'], env: { SECRET_KEY: key.toString('base64') } }),
  openPictures(t),
])
await picket.addProbe('us-east', { CHROMIUM_PATH: chromiumPath(), ...UNHURRIED, SCREENSHOT_COMPARE_SECONDS: '4' })
const { api, origin } = picket
t.jobs = 2

const page = (colour: string, status = 200) =>
  ({
    kind: 'answer',
    status,
    headers: { 'content-type': 'text/html' },
    body: `<body style="background:${colour}"><h1>Shop</h1>`,
  }) as const

const isBrowser = ({ requests }: Target) =>
  requests.filter(({ headers }) => /Chrome/.test(headers['user-agent'] ?? '')).length

t.test(
  'A failed check has a screenshot with a signed link, also when the probe has no browser',
  { buffered: true },
  async t => {
    const target = await startTarget(t)
    const shop = { type: 'http', url: target.url, retry_count: 0, regions: ['us-east', 'eu-west'] }
    const [{ id }, { id: unseen }] = await Promise.all(
      [
        { ...shop, name: 'Shop' },
        { ...shop, name: 'Unseen', screenshot_on_failure: false },
      ].map(async monitor => (await api.post('/monitors', monitor)).body.data),
    )
    await waitFor(async () => (await api.get(`/monitors/${id}`)).body.data.status === 'up', { label: 'up' })
    target.behave(page('#c00000', 503))
    await Promise.all([api.post(`/monitors/${id}/check`), api.post(`/monitors/${unseen}/check`)])

    type Check = { region: string; status: string; screenshot_url: string | null }
    const shots = await waitFor(
      async () => {
        const checks: Check[] = (await api.get(`/monitors/${id}/checks`)).body.data
        const shown = checks.filter(({ screenshot_url }) => screenshot_url !== null)
        return shown.length === 2 ? shown : null
      },
      // a comparison and both screenshots, one after another, each within its limit
      { label: 'a screenshot of each region', timeoutMs: 600_000 },
    )
    t.same(shots.map(({ region, status }) => [region, status]).sort(), [
      ['eu-west', 'down'],
      ['us-east', 'down'],
    ])
    for (const { screenshot_url: url } of shots) {
      const answer = await fetch(url!.replace(/^https?:\/\/[^/]+/, origin))
      t.equal(answer.status, 200)
      t.match(Object.fromEntries(answer.headers), {
        'content-type': 'image/jpeg',
        'x-content-type-options': 'nosniff',
        'cache-control': /^private, max-age=3\d\d\d, immutable$/,
        'content-security-policy': /sandbox/,
      })
      const { rgb, size } = await pictures.look(Buffer.from(await answer.arrayBuffer()), 'image/jpeg', 1270, 790)
      t.same(size, [1280, 800])
      t.ok(rgb[0]! > 180 && rgb[1]! < 20 && rgb[2]! < 20, `the page is red, like the target’s: ${rgb}`)
    }

    // one for each outage, not for each attempt
    const asked = isBrowser(target)
    await api.post(`/monitors/${id}/check`)
    const list = (await api.get(`/monitors/${id}/screenshots`)).body
    t.match(list.data, [
      { monitor_id: id, kind: 'failure', taken_in: 'us-east' },
      { monitor_id: id, kind: 'failure', taken_in: 'us-east' },
    ])
    t.equal(list.meta.total, 2)
    t.equal(isBrowser(target), asked)
    t.same((await api.get(`/monitors/${unseen}/screenshots`)).body.data, [])

    const { id: shot } = list.data[0]
    const sign = createSigner(key, 'screenshot links')
    const buildLink = (expires: number) =>
      `${origin}/screenshots/${shot}?expires=${expires}&signature=${signScreenshotLink({ id: shot }, expires, sign)}`
    const soon = Math.floor(Date.now() / 1000) + 60
    const good = buildLink(soon)
    const rows: [string, string, number][] = [
      ['a valid link', good, 200],
      ['an expired link', buildLink(soon - 120), 403],
      ['a link with a later expiry', good.replace(/expires=\d+/, `expires=${soon + 1}`), 404],
      ['a link to another screenshot', good.replace(shot, list.data[1].id), 404],
      ['a link without a signature', good.replace(/&.*/, ''), 404],
      ['a link without parameters', good.replace(/\?.*/, ''), 404],
      ['an invalid id', good.replace(shot, 'x'), 404],
    ]
    for (const [name, url, status] of rows) t.equal((await fetch(url)).status, status, name)
  },
)

t.test(
  'A page that looks different is degraded until it looks as before or is accepted as the baseline',
  { buffered: true },
  async t => {
    const target = await startTarget(t)
    target.behave(page('#ffffff'))
    const { id } = (
      await api.post('/monitors', {
        ...{ name: 'Shop', type: 'http', url: target.url, retry_count: 0, regions: ['us-east'] },
        ...{ screenshot_compare: true, screenshot_threshold: 0.2 },
      })
    ).body.data

    type Shot = { kind: string; difference: number | null }
    const shots = async (): Promise<Shot[]> => (await api.get(`/monitors/${id}/screenshots`)).body.data
    const check = async () => (await api.post(`/monitors/${id}/check`)).body.data.results[0]
    await waitFor(async () => (await shots()).some(({ kind }) => kind === 'baseline'))
    const until = (status: string) =>
      waitFor(async () => (await check()).status === status, { everyMs: 500, label: status })

    target.behave(page('#202020'))
    await until('degraded')
    const result = await check()
    t.match(result.failed_assertions, [{ type: 'screenshot', operator: 'less_than', value: '0.2', actual: /^0\.9|^1/ }])
    t.equal(result.error, null)
    await waitFor(async () => (await api.get(`/monitors/${id}`)).body.data.status === 'degraded')
    t.ok((await shots()).some(({ kind, difference }) => kind === 'comparison' && (difference ?? 0) > 0.9))

    target.behave(page('#ffffff'))
    await until('up')
    target.behave(page('#202020'))
    await until('degraded')
    t.same((await api.post(`/monitors/${id}/screenshots/baseline`)).body, { data: { regions: ['us-east'] } })
    await until('up')
    await waitFor(async () => (await api.get(`/monitors/${id}`)).body.data.status === 'up')
  },
)
