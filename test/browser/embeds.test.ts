import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { WIDGET } from '../../control-plane/pages/templates/assets.ts'
import { startApi } from '../support/api-server.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import type { Teardown } from '../support/teardown.ts'
import { openBrowser } from './open-browser.ts'

/** A third-party site with a strict policy and `html` in its page. */
async function startSite(t: Teardown, html: () => string, policy: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy })
    response.end(`<!doctype html><title>Shop</title><link rel="icon" href="data:,"><h1>Shop</h1>${html()}`)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise<void>(resolve => server.close(() => resolve())))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

t.test('The snippets of GET /project work on another site and contact no other host', async t => {
  const server = await startApi(t, { PUBLIC_URL: 'https://status.invalid' })
  const { data: page } = (await server.call('POST', '/status-pages', { body: { name: 'Acme', slug: 'acme' } })).body
  await server.call('POST', `/status-pages/${page.id}/components`, { body: { name: 'Shop', status: 'outage' } })
  await server.call('PUT', `/status-pages/${page.id}`, { body: { is_published: true } })
  const { embeds } = (await server.call('GET', '/project')).body.data
  const paste = (snippet: string) => snippet.replaceAll('https://status.invalid', server.origin)
  const snippets = [
    paste(embeds.snippets.widget_html),
    paste(embeds.snippets.badge_html),
    '<div id="here"></div>',
    paste(embeds.snippets.widget_html).replace(
      ' async',
      ' data-position="inline" data-target="#here" data-label="Acme" async',
    ),
    `<iframe src="${server.origin}/status/acme/embed" title="Status"></iframe>`,
  ]
  const { origin } = server
  const policy = `default-src 'none'; script-src ${origin}; connect-src ${origin}; img-src ${origin} data:; frame-src ${origin}; style-src 'none'`
  const site = await startSite(t, () => snippets.join('\n'), policy)

  const { newContext } = await openBrowser(t)
  const context = await newContext()
  const tab = await context.newPage()
  const complaints: string[] = []
  const asked = new Set<string>()
  tab.on('console', message => complaints.push(message.text()))
  tab.on('pageerror', error => complaints.push(error.message))
  tab.on('request', request => asked.add(new URL(request.url()).origin))
  await tab.goto(site)

  const pills = tab.locator('a', { hasText: 'All systems are down' })
  await pills.nth(1).waitFor()
  t.match(await tab.locator('#here a').textContent(), 'Acme: All systems are down')
  t.equal(await tab.locator('#here a').evaluate(pill => getComputedStyle(pill).position), 'static')
  const floating = tab.locator('body > div:not(#here) a')
  t.equal(await floating.evaluate(pill => getComputedStyle(pill).position), 'fixed')
  t.equal(await floating.getAttribute('href'), `${origin}/status/acme`)
  t.match(await tab.frameLocator('iframe').locator('.now').textContent(), 'All systems are down')
  t.equal(
    await tab.locator('img').evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalHeight)),
    20,
  )
  t.same(
    [...asked].filter(other => other !== origin && other !== new URL(site).origin),
    [],
  )
  t.same(await context.cookies(), [])
  t.same(complaints, [])

  for (const path of ['', '/embed', '/embed?theme=dark', '/subscribe']) {
    await tab.goto(`${origin}/status/acme${path}`)
    t.same(await findAccessibilityProblems(tab), [], `axe finds nothing on the page${path}`)
  }
  t.same(complaints, [])
})

t.test('The widget shows no old status, is grey while the status is unknown, and hides when all is well', async t => {
  let status: object = {}
  const server = createServer(({ url }, response) => {
    const [type, body] =
      url === '/widget.js'
        ? ['text/javascript', WIDGET]
        : url === '/api/v2/status.json'
          ? ['application/json', JSON.stringify({ status })]
          : ['text/html', `<!doctype html><title>Shop</title><link rel="icon" href="data:,"><body>${tag}</body>`]
    response.writeHead(200, { 'content-type': type }).end(body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise<void>(resolve => server.close(() => resolve())))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let tag = ''
  const { newContext } = await openBrowser(t)
  const tab = await (await newContext()).newPage()

  /** The colour of the pill; null without one. */
  const show = async (answer: object, options: string, isShown: boolean) => {
    status = { description: 'So it is', ...answer }
    tag = `<script src="/widget.js" ${options}></script>`
    const answered = tab.waitForResponse('**/status.json')
    await tab.goto(`${origin}/`)
    await (await answered).finished()
    // the widget has handled the answer when a later one was handled
    await tab.evaluate(`fetch('/api/v2/status.json').then(answer => answer.json())`)
    const dot = tab.locator('body > div i')
    if (isShown) await dot.waitFor()
    return (await dot.isVisible()) ? await dot.evaluate(one => getComputedStyle(one).backgroundColor) : null
  }
  const [GREEN, GREY, HIDE] = ['rgb(23, 178, 106)', 'rgb(152, 162, 179)', 'data-hide-when-operational']
  const fresh = { picket_stale_since: null }
  const ago = (ms: number) => new Date(Date.now() - ms).toISOString()
  const rows: [string, object, string, string | null][] = [
    ['operational', { indicator: 'none', picket_status: 'operational', ...fresh }, '', GREEN],
    ['operational, hidden', { indicator: 'none', picket_status: 'operational', ...fresh }, HIDE, null],
    ['unknown', { indicator: 'none', picket_status: 'unknown', ...fresh }, HIDE, GREY],
    ['of a previous version', { indicator: 'none' }, '', GREEN],
    ['of a previous version, hidden', { indicator: 'none' }, HIDE, null],
    ['old', { indicator: 'none', picket_status: 'operational', picket_stale_since: ago(7_200_000) }, '', null],
    [
      'old for less than a minute',
      { indicator: 'none', picket_status: 'operational', picket_stale_since: ago(-600_000) },
      '',
      GREEN,
    ],
  ]
  for (const [name, answer, options, colour] of rows)
    t.equal(await show(answer, options, colour !== null), colour, name)
})
