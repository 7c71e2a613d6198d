import t from 'tap'
import { apply, exchangeApi, exported, plan } from '../support/exchange.ts'
import { createResourceApi } from '../support/resource-api.ts'

const api = await createResourceApi(t, exchangeApi, { egressAllow: ['127.0.0.0/8'] })

t.test('An import accepts addresses of images that do not respond, and the next plan has no changes', async t => {
  const url = 'https://127.0.0.1:1/'
  const account = await api.account()
  const page = (slug: string) => ({ name: 'Acme', slug, logo_url: `${url}logo`, favicon_url: `${url}icon` })
  const file = { version: 1, status_pages: [page('images-one'), page('images-two')] }
  const made = await apply(account, file)
  t.equal(made.status, 200, made.body.error?.message)
  const shown = { logo_url: `${url}logo`, favicon_url: `${url}icon` }
  t.match((await exported(account)).status_pages, [shown, shown])
  t.match((await plan(account, file)).body.data, { create: 0, update: 0 })
  const { logo_url, favicon_url, ...bare } = page('images-one')
  t.match(
    (await plan(account, { version: 1, status_pages: [bare] })).body.data,
    { update: 0 },
    'omitted images are kept',
  )
})

t.test('An image address that is not https is refused with its path', async t => {
  const account = await api.account()
  const file = {
    version: 1,
    status_pages: [{ name: 'Acme', slug: 'images-three', logo_url: 'http://example.com/a.png' }],
  }
  const { status, body } = await apply(account, file)
  t.match({ status, body }, { status: 400, body: { error: { message: /logo_url must be an https URL/ } } })
  t.match(body.error.details[0].path, /^status_pages\[0\]/)
})
