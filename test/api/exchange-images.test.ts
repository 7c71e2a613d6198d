import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { createAuthority } from '../support/certificates.ts'
import { apply, exchangeApi, exported, plan } from '../support/exchange.ts'
import { PIXEL } from '../support/records.ts'
import { createResourceApi } from '../support/resource-api.ts'

const authority = createAuthority(t)
const api = await createResourceApi(t, exchangeApi, { egressAllow: ['127.0.0.0/8'], egressTrust: [authority.ca] })

t.test('images of pages are fetched once a file, and not again for what is there', async t => {
  let asked = 0
  const server = createServer(authority.issue('127.0.0.1', -1, 1), (_request, response) => {
    asked++
    response.end(PIXEL)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close().closeAllConnections())
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`

  const account = await api.account()
  const page = (slug: string) => ({ name: 'Acme', slug, logo_url: `${url}logo`, favicon_url: `${url}icon` })
  const file = { version: 1, status_pages: [page('images-one'), page('images-two')] }
  const made = await apply(account, file)
  t.equal(made.status, 200, made.body.error?.message)
  t.equal(asked, 2)
  const shown = { logo_url: `${url}logo`, favicon_url: `${url}icon` }
  t.match((await exported(account)).status_pages, [shown, shown])
  t.match((await plan(account, file)).body.data, { create: 0, update: 0 })
  const { logo_url, favicon_url, ...bare } = page('images-one')
  t.match((await plan(account, { version: 1, status_pages: [bare] })).body.data, { update: 0 }, 'unnamed images stay')
  t.equal(asked, 2)
})
